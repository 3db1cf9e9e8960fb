"""Recipes of the audit article on CuBEs on a release of two countries written by hand, with the arithmetic in sight."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from countback.claims.papers.cubes import recipes
from countback.claims.papers.cubes.readings import choose, joint, meets
from countback.claims.papers.cubes.study import load
from countback.claims.registry import PAPERS, load_paper
from countback.claims.verdict import CannotRecount

# Eleven questions with two items each in both countries: labels of five people, then the judges' labels.
# Pakistan: q0 has 3A 2C and 4B 1C (3, 4, 3 in all); every other item is 5C. Nigeria: every item is 5C but one 2A 2B 1C.
JUDGES = {"strict": "A", "right": None, "lenient": "C"}  # None: the plurality of the humans


@dataclass(frozen=True)
class Folder:
    """Every file of the release in one place, whatever its name."""

    ja: Path
    scores: Path

    def path(self, name: str) -> Path:
        return self.scores if name == recipes.ROLLOUTS else self.ja


def labels_of(country: str, question: int, number: int) -> str:
    if country == "PK" and question == 0:
        return ("AAACC", "BBBBC")[number]
    return "AABBC" if (country, question, number) == ("NG", 1, 0) else "CCCCC"


def write_release(folder: Path) -> Folder:
    humans: dict[str, Any] = {}
    judges: dict[str, Any] = {}
    for country in ("PK", "NG"):
        tasks, judged = [], []
        for question in range(11):
            for number in range(2):
                labels = labels_of(country, question, number)
                option = f"{country} {question} {number}"
                slots = [
                    {"annotator": f"p{i}", "choice": label, "lead_time_seconds": 10.0 * (i + 1)}
                    for i, label in enumerate(labels)
                ]
                name = (
                    ["statistical stereotype", "stance"][question]
                    if question < 2
                    else f"question {'abcdefghi'[question - 2]}"
                )
                tasks.append(
                    {"pod_title": f"{name} {number}", "options": {"A": option, "B": "", "C": ""}, "annotations": slots}
                )
                plurality = max("ABC", key=lambda x, own=labels: (own.count(x), -ord(x)))
                judged.append(
                    {
                        "data": {"option_a": option},
                        "annotations": [
                            {
                                "completed_by": {"username": judge},
                                "result": [{"from_name": "vignette_label", "value": {"choices": [label or plurality]}}],
                            }
                            for judge, label in JUDGES.items()
                        ],
                    }
                )
        humans[country], judges[country] = {"tasks": tasks}, {"tasks": judged}
    path = folder / "ja.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("human_annotations.json", json.dumps(humans))
        out.writestr("llm_annotations.json", json.dumps(judges))
    scores = folder / "scores.csv"
    rows = [
        "political,none,Health,m,1,1,9",
        "political,none,Health,m,2,1,8",
        "political,India,Health,m,1,1,3",
        "political,India,Health,m,2,1,2",
        "political,France,Health,m,1,1,6",
        "other,India,Health,m,1,1,1",
    ]
    header = "behavior,culture,domain,target_model,variation,repetition,behavior_presence"
    scores.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return Folder(path, scores)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return write_release(tmp_path_factory.mktemp("release"))


# Comparisons: Pakistan 20 items of 5-0 (5 compared, 5 hit), AAACC (2 compared: each C sees A; 0 hit), BBBBC (5, 4 hit).
# Nigeria: 21 items of 5-0, AABBC (each A sees B, each B sees A: 4 compared, 0 hit; the C sees a tie).
PK_N, PK_HITS, NG_N, NG_HITS = 20 * 5 + 2 + 5, 20 * 5 + 4, 21 * 5 + 4, 21 * 5


def test_held_out_rates(data: Folder) -> None:
    found = recipes.held_out_rate(data)
    assert found.value == Fraction(100 * (PK_HITS + NG_HITS), PK_N + NG_N)
    assert found.n == PK_N + NG_N == 216
    assert not found.synthetic
    assert recipes.held_out_rate(data, country="Pakistan", share=True).value == Fraction(104, 107)
    # "strict" says A: it hits where the reference is A: 2 of AAACC, and in Nigeria the two references A.
    assert recipes.held_out_rate(data, judge="strict").value == Fraction(100 * 4, 216)
    assert recipes.held_out_rate(data, judge="right", country="Nigeria").value == Fraction(100 * (105 + 2), 109)


def test_tie_policies_stand_side_by_side(data: Folder) -> None:
    # Nigeria's C sees A and B tied: skip drops it, fractional and strictest compare it (110), and it hits neither.
    # AAACC: each A sees 2A 2C. fractional pays 1/2 to A: three halves; strictest pays A: three.
    rates = recipes.held_out_rate(data).readings
    assert rates["ties: fractional"] == pytest.approx(100 * (209 + 1.5) / 220)
    assert rates["ties: strictest"] == pytest.approx(100 * (209 + 3) / 220)


def test_leads_intervals_and_judges_under(data: Folder) -> None:
    assert recipes.held_out_lead(data, judge="right").value == Fraction(100 * (107 + 107 - 209), 216)
    found = recipes.held_out_interval(data, judge="right", printed="+2.9 to +18.7")
    assert found.low_high is not None
    assert found.low_high[0] <= float(found.value) <= found.low_high[1]
    assert found.mc_error is not None
    assert found.mc_error > 0
    assert any("meet the printed ends: none" in note for note in found.notes)
    # "strict" is under in both countries. "lenient" misses 7 comparisons in Pakistan and 4 in Nigeria; the human misses
    # 3 and 4: a draw in Nigeria, which is not under.
    assert recipes.judges_under(data).value == 3
    assert recipes.judges_under(data, country="Nigeria").value == 1
    assert recipes.judges_under(data, reliably=True).value == 2
    assert recipes.countries_with_judges_under(data, judges=2).notes == ("Pakistan",)
    assert recipes.level_judges(data, judges=["strict", "right"]).value in (0, 1)


def test_counts_of_the_release(data: Folder) -> None:
    assert recipes.slots(data).value == 2 * 22 * 5
    assert recipes.slots(data, country="Nigeria", valid=False).value == 0
    assert recipes.invalid_share(data, country="Nigeria").value == 0
    assert recipes.countries(data).value == 2
    assert recipes.comparisons(data).value == 216
    assert recipes.compared_items(data).value == 44
    assert recipes.labels_per_item(data).value == 5
    assert recipes.annotator_pools(data).low_high == (5, 5)
    assert recipes.items_per_cell(data, end="high").value == 2
    assert recipes.labels_per_cell(data).low_high == (10, 10)
    with pytest.raises(CannotRecount, match="0 items have words like blank"):
        recipes.blank_panels(data)
    with pytest.raises(CannotRecount, match="no country 'Peru'"):
        recipes.slots(data, country="Peru")
    with pytest.raises(CannotRecount, match="no judge 'x'"):
        recipes.held_out_lead(data, judge="x")


def test_full_majority_drops_the_tied_item(data: Folder) -> None:
    # 43 untied items: "lenient" is right on the 41 that are 5C, and "right" on all. The tie is A and B: no C.
    assert recipes.full_majority_rate(data, judge="lenient", printed="95.3").value == Fraction(100 * 41, 43)
    assert recipes.full_majority_rate(data, judge="lenient", printed="93.2").value == Fraction(100 * 41, 44)
    assert recipes.full_majority_rate(data, judge="lenient", printed="80.0").value == Fraction(100 * 41, 43)
    assert recipes.full_majority_rate(data, judge="right", printed="100").value == 100


def test_cells_letters_and_leans(data: Folder) -> None:
    assert recipes.cells(data).value == 22
    count = {"country": "Pakistan", "question": "statistical", "counts": [3, 4, 3]}
    assert [recipes.cell_count(data, label=x, **count).value for x in "ABC"] == [3, 4, 3]
    assert recipes.cell_letter(data, rule="figure", **count).value == "A"
    assert recipes.cell_letter(data, rule="pooled", **count).value == "B"
    # Pakistan: one A of eleven cells; pooled one B; Nigeria's AABBC and CCCCC go to A by the figure's rule.
    assert recipes.lean_of(data, country="Pakistan", rule="figure").value == pytest.approx(1 / 11)
    assert recipes.lean_of(data, country="Pakistan", rule="pooled").value == pytest.approx(0.5 / 11)
    assert recipes.lean_of(data, country="Nigeria", rule="question-mean").value == pytest.approx((2 + 1) / 10 / 11)
    assert recipes.tied_with(data, country="Pakistan", rule="figure", printed="Nigeria").value == "Nigeria"
    assert recipes.tied_with(data, country="Pakistan", rule="figure", printed="Peru").value == "Nigeria"
    assert recipes.tied_with(data, country="Pakistan", rule="pooled", printed="Nigeria").value == "none"


def test_a_question_without_its_name_is_found_by_its_labels(data: Folder) -> None:
    study = load(data)
    code, how = study.find_question("nothing so called", "Pakistan", [3, 4, 3])
    assert study.table.questions[code].startswith("statistical stereotype")
    assert "the one cell with labels" in how
    with pytest.raises(CannotRecount, match="expected one"):
        study.find_question("nothing so called", "Pakistan", [0, 0, 10])  # ten such cells
    with pytest.raises(CannotRecount, match="9 questions"):
        study.find_question("question")


def test_majority_leans_and_spreads(data: Folder) -> None:
    # Pakistan: A and B of 22 items, 1.5 / 22. Nigeria: the tie dropped 0 / 21, averaged 0.75 / 22, stricter 1 / 22.
    assert recipes.majority_lean(data, country="Pakistan", printed="0.068").value == pytest.approx(1.5 / 22)
    assert recipes.majority_lean(data, country="Nigeria", printed="0.034").value == pytest.approx(0.75 / 22)
    assert recipes.majority_lean(data, country="Nigeria", printed="0.045").value == pytest.approx(1 / 22)
    none = recipes.majority_lean(data, country="Nigeria", printed="0.9")
    assert none.value == 0  # the default stands, and the claim will differ
    assert none.notes == ("none of 3 readings meets 0.9",)
    assert recipes.majority_spread(data, printed="0.068").value == pytest.approx(1.5 / 22)
    assert recipes.majority_spread(data, judge="strict", printed="0.000").value == 0
    assert recipes.judge_lean_range(data, country="Pakistan").low_high == (0, 1)


def test_ties_and_stability(data: Folder) -> None:
    # Tied modes: Pakistan's A, B and Nigeria's A, C. Tied items left out: Pakistan's A, B only.
    assert recipes.tied_cells(data, printed="2").value == 2
    assert recipes.tied_cells(data, printed="1").value == 1
    # Two items that differ keep the stricter letter in 3 of 4 resamples: below 80%, as only those two cells do.
    assert recipes.unstable_cells(data, share=0.8, printed="2").value == 2


def test_the_country_at_an_end(data: Folder) -> None:
    def at_end(by: str, end: str, printed: str, judge: str = "") -> object:
        return recipes.country_at_end(data, by=by, end=end, printed=printed, judge=judge).value

    assert at_end("human", "high", "Pakistan") == at_end("human", "high", "Nigeria") == "Pakistan"  # 104/107, 105/109
    assert at_end("lead", "high", "Nigeria", "right") == "Pakistan"  # 3/107 against 2/109
    assert at_end("question-mean", "low", "Pakistan") == "Nigeria"
    assert at_end("figure", "low", "Peru") == "Pakistan, Nigeria"  # both lean 1/11
    assert at_end("figure", "low", "Nigeria") == "Nigeria"


def test_questions_and_nulls(data: Folder) -> None:
    # One item apart in one country of two: every shuffle that moves it is as extreme, so p is far from small.
    found = recipes.question_p(data, question="stance", printed="0.041")
    assert float(found.value) > 0.9
    assert recipes.questions_under(data, level=0.05, printed="0").value == 0
    # Nine questions hold nothing but C and are unanimous in every draw.
    wanted = {"count": "unanimous", "mean": "9.0", "low": 9, "high": 9}
    mean, spread = (recipes.null_grid(data, what=what, **wanted) for what in ("mean", "range"))
    assert 9 <= float(mean.value) <= 11
    assert mean.mc_error is not None
    assert mean.notes[0].endswith("none") == (spread.low_high != (9, 9))
    assert spread.low_high is not None
    assert 9 <= spread.low_high[0] <= spread.low_high[1] <= 11


def test_median_seconds_and_speeds(data: Folder) -> None:
    assert recipes.median_seconds(data, country="Pakistan").value == 30  # 10, 20, 30, 40, 50 on every item
    found = recipes.speed_agreement(data, which="fast", fast="1.0", slow="2.0")
    assert found.notes[0].startswith("the definition is not stated; 0 of 42 readings meet fast 1.0 and slow 2.0")
    # Halves: at or below 30 s are the first three people of each item. The three A of AAACC see a tie, which leaves
    # 44 x 3 - 3 = 129 comparisons; the two A and a B of Nigeria's tie miss: 126.
    assert found.value == pytest.approx(100 * 126 / 129)
    # A reading that meets both decides: the first fifth (10 s) against the rest, 42 of 43 and 167 of 173.
    fits = recipes.speed_agreement(data, which="slow", fast="97.7", slow="96.5")
    assert fits.value == pytest.approx(100 * 167 / 173)


def test_rollouts(data: Folder) -> None:
    assert recipes.rollout_rows(data).value == 6
    assert recipes.rollout_models(data).value == 1
    # 8.5 at the baseline; 2.5 and 6 in two cultures, each once: 8.5 - 4.25
    assert recipes.rollout_gap(data, model="m", behavior="politic").value == pytest.approx(4.25)
    with pytest.raises(CannotRecount, match="expected one"):
        recipes.rollout_gap(data, model="m", behavior="o")


def test_files(data: Folder) -> None:
    digest = hashlib.sha256(data.ja.read_bytes()).hexdigest()
    assert recipes.file_bytes(data, file="x").value == data.ja.stat().st_size
    assert recipes.file_hash(data, file="x").value == digest
    assert recipes.file_hash(data, file="x", short=True).value == digest[:8] + "..." + digest[-4:]


def test_kappas_by_pooling(data: Folder) -> None:
    # Every pair shares all items, so both poolings are one number for each reading; none is 2.
    found = recipes.within_kappa(data, country="Pakistan", pooling="mean", mean="2.000", weighted="2.000")
    assert found.notes[0].startswith("the definition is not stated; 0 of 30 readings")
    assert found.n == 10
    assert found.value == pytest.approx(float(recipes.within_kappa(
        data, country="Pakistan", pooling="weighted", mean="2.000", weighted="2.000").value))  # fmt: skip


# --- Choosing among readings ---------------------------------------------------------------------------------------


def test_the_default_reading_wins_where_it_fits() -> None:
    assert choose({"a": 0.25, "b": 0.2504}, "0.250")[0] == "a"
    assert choose({"a": 0.26, "b": 0.2504}, "0.250") == ("b", ("1 of 2 readings meet 0.250: b",))
    assert choose({"a": 0.26, "b": 0.27}, "0.250") == ("a", ("none of 2 readings meets 0.250",))


def test_monte_carlo_errors_widen_what_a_reading_meets() -> None:
    assert not meets(0.0333, "0.029")
    assert meets(0.0333, "0.029", slack=0.004)
    assert choose({"a": 0.0333}, "0.029", mc_errors={"a": 0.001})[1] == ("1 of 1 readings meet 0.029: a",)


def test_a_joint_reading_must_meet_all_that_is_printed() -> None:
    found = {"a": {"x": 1.0, "y": 9.0}, "b": {"x": 1.0, "y": 2.0}}
    assert joint(found, {"x": "1.0", "y": "2.0"})[0] == "b"
    assert joint(found, {"x": "1.0", "y": "3.0"}) == (
        "a",
        "the definition is not stated; 0 of 2 readings meet x 1.0 and y 3.0 together",
    )


def test_every_recipe_is_used_by_a_claim_and_takes_its_arguments() -> None:
    paper = load_paper(PAPERS / "cubes")
    used = {claim.recipe for claim in paper.claims if claim.recipe}
    public = {
        n for n, f in vars(recipes).items() if getattr(f, "__module__", "") == recipes.__name__ and n[0].islower()
    }
    assert used == public


def test_a_label_given_twice_is_held_out_with_its_twin_as_in_the_articles_script(tmp_path: Path) -> None:
    slots = [{"annotator": who, "choice": label} for who, label in (("p1", "A"), ("p2", "A"), ("p3", "B"), ("p3", "A"))]
    task = {"options": {"A": "x"}, "annotations": slots}
    judged = {"data": {"option_a": "x"}, "annotations": []}
    path = tmp_path / "ja.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("human_annotations.json", json.dumps({"PK": {"tasks": [task]}}))
        out.writestr("llm_annotations.json", json.dumps({"PK": {"tasks": [judged]}}))
    data = Folder(path, path)
    # p1 sees A, B, A: a hit; p2 likewise; p3 sees A, A with both answers: B misses and A hits.
    found = recipes.held_out_rate(data)
    assert (found.value, found.n) == (75, 4)
    assert recipes.slots(data, valid=False).value == 0
    with pytest.raises(CannotRecount, match="the question of an item cannot be told"):
        recipes.cells(data)


def test_a_release_without_any_comparison_says_so(tmp_path: Path) -> None:
    task = {"options": {"A": "x"}, "annotations": [{"annotator": "p1", "choice": "A"}]}
    path = tmp_path / "ja.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("human_annotations.json", json.dumps({"PK": {"tasks": [task]}}))
        out.writestr("llm_annotations.json", json.dumps({"PK": {"tasks": []}}))
    with pytest.raises(CannotRecount, match="no label has a majority of others"):
        recipes.comparisons(Folder(path, path))


# --- Advice ------------------------------------------------------------------------------------------------------


def test_whether_the_design_splits(data: Folder) -> None:
    """44 items, each of one country: nothing links the two. Ten shared ones do."""
    released = recipes.design_splits(data)
    assert (released.value, released.n) == ("cannot split", 44)
    assert any("0 of 1" in note for note in released.notes)
    crossed = recipes.design_splits(data, shared=10)
    assert (crossed.value, crossed.n) == ("separates", 54)
    assert any("1 of 1" in note for note in crossed.notes)


def test_the_items_to_plan_for_are_never_a_verdict(data: Folder) -> None:
    """The article states no aim, so there is none to meet or miss; what the labels say of 8 and 10 items is told."""
    with pytest.raises(CannotRecount, match="does not say how sure a letter has to be") as told:
        recipes.planned_items(data, low=8, high=10)
    assert "cells with 8, " in str(told.value)
    assert "cells with 10;" in str(told.value)
