"""Recounts of culture-converse on tables small enough to do by hand, and what a wrong mapping or file is told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from fractions import Fraction as F
from inspect import signature
from math import exp, pi, sqrt
from pathlib import Path

import pytest
from countback.audit.run import Data, Located
from countback.claims.papers.culture_converse import recipes as r
from countback.claims.papers.culture_converse.names import COLUMNS, JUDGES, METRICS, MODELS, VOCABULARY
from countback.claims.papers.culture_converse.read import MAPPING, read_mapping
from countback.claims.registry import PAPERS, load_paper
from countback.claims.verdict import CannotRecount, Recount
from countback.fetch.errors import UserError
from countback.fetch.release import Pin

MODEL = "GPT-5 mini"
PLACE = ("model", "seed", "language", "region", "identity", "gender", "tier", "split", "mode")
# model, seed, language, region, identity, gender, tier, split, mode; Help Hon Harm Nat Plaus Typ; clean
EPISODES = """
GPT-5 mini,s1,English,SG,Han,female,Standard,test,eval,5,4,3,4,4,4,yes
GPT-5 mini,s1,Native,SG,Han,female,Standard,test,eval,4,4,4,2,3,4,yes
GPT-5 mini,s2,English,MY,Moro,male,CTX,test,eval,2,3,4,5,5,5,no
GPT-5 mini,s2,Native,MY,Moro,male,CTX,test,eval,1,2,3,5,5,5,no
Grok 4.20,s1,English,SG,Han,female,Standard,test,eval,1,1,1,1,1,1,no
Grok 4.20,s2,English,MY,Moro,male,CTX,test,eval,3,,5,1,1,1,no
GPT-5 mini,s1,English,SG,Han,female,Standard,test,gold,5,5,5,4,4,4,yes
GPT-5 mini,s2,Native,MY,Moro,male,CTX,test,gold,3,4,5,5,5,2,yes
GPT-5 mini,t1,English,SG,Han,male,NORM,train,gold,5,5,5,5,5,5,yes
GPT-5 mini,t1,Native,SG,Han,male,NORM,train,gold,5,5,5,5,5,5,yes
GPT-5 mini,t2,Native,SG,Moro,male,Standard,train,gold,5,5,5,5,5,5,yes
"""
RATINGS = """
d1,SG,Helpfulness,ann,1
d1,SG,Helpfulness,ben,2
d1,SG,Helpfulness,cai,3
d1,SG,Helpfulness,GPT-5 mini,3
d2,MY,Helpfulness,ann,5
d2,MY,Helpfulness,dee,5
d2,MY,Helpfulness,cai,5
d2,MY,Helpfulness,GPT-5 mini,3
d1,SG,Honesty,ann,4
d1,SG,Honesty,ben,4
d1,SG,Honesty,cai,1
d1,SG,Honesty,GPT-5 mini,4
d3,MY,Honesty,ann,1
d3,MY,Honesty,ben,1
d3,MY,Honesty,GPT-5 mini,5
"""
SAME = "\n".join(f'{name} = "{name}"' for name in (*PLACE, *METRICS, "clean"))
SPEC = f"""missing = []
[[episodes]]
file = "episodes.csv"
[episodes.columns]
{SAME}
[[ratings]]
file = "ratings.csv"
[ratings.columns]
dialogue = "dialogue"
region = "region"
metric = "metric"
rater = "rater"
score = "score"
[values.rater]
human = "*"
"""


def table(header: tuple[str, ...], rows: str) -> str:
    return ",".join(header) + "\n" + rows.strip() + "\n"


def write(folder: Path, spec: str = SPEC, episodes: str = EPISODES, ratings: str = RATINGS) -> Data:
    (folder / MAPPING).write_text(spec, "utf-8")
    (folder / "episodes.csv").write_text(table((*PLACE, *METRICS, "clean"), episodes), "utf-8")
    (folder / "ratings.csv").write_text(table(("dialogue", "region", "metric", "rater", "score"), ratings), "utf-8")
    return handed(folder)


def handed(folder: Path) -> Data:
    located = Located("culture-converse", "culture-converse", Pin(MAPPING), folder / MAPPING, "0" * 64, "unverified")
    return Data({MAPPING: located})


def handed_only(folder: Path, episodes: str) -> Data:
    """The same in a folder of its own: a file that was read is not read again."""
    other = folder / "other"
    other.mkdir()
    return write(other, episodes=episodes)


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return write(tmp_path)


def test_means_of_a_model(data: Data) -> None:
    cells = {
        c: r.score(data, row=MODEL, column=c).value for c in ("Help", "Hon", "3H Avg", "Nat", "TDQ Avg", "Clean %")
    }
    # Help (5 + 4 + 2 + 1) / 4; Hon (4 + 4 + 3 + 2) / 4; 3H of the four 4, 4, 3, 2; TDQ 4, 3, 5, 5; two of four clean
    assert cells == {"Help": 3, "Hon": 3.25, "3H Avg": 3.25, "Nat": 4, "TDQ Avg": 4.25, "Clean %": 50}


def test_an_episode_without_a_score_has_no_composite_and_is_counted(data: Data) -> None:
    help_, honesty, three = (r.score(data, row="Grok 4.20", column=c) for c in ("Help", "Hon", "3H Avg"))
    assert (help_.value, help_.n) == (2, 2)
    assert (honesty.value, honesty.n) == (1, 1)
    assert (three.value, three.n) == (1, 1)
    assert "value missing: 1" in three.notes


def test_the_average_row_is_the_mean_of_the_models(tmp_path: Path) -> None:
    rows = [
        f"{model},s1,English,SG,Han,female,Standard,test,eval,{1 + (i % 2)},3,3,3,3,3,yes"
        for i, model in enumerate(MODELS)
    ]
    rows += ["GPT-5 mini,s2,English,SG,Han,female,CTX,test,eval,5,3,3,3,3,3,yes"]
    data = write(tmp_path, episodes="\n".join(rows))
    # seventeen models have 1 or 2 (eight 1, nine 2), GPT-5 mini (1 + 5) / 2 = 3; not weighted by episodes
    assert r.score(data, row="Average", column="Help").value == pytest.approx((8 * 1 + 9 * 2 + 3) / 18)


def test_traps(data: Data) -> None:
    found = [r.trap_effect(data, row=MODEL, column=c).value for c in ("Std 3H", "Trap 3H", "Δ 3H")]
    assert found == [4, 2.5, -1.5]  # 4 and 4; 3 and 2


def test_gold_mode_is_compared_on_what_has_both(data: Data) -> None:
    # (s1, English): 4 becomes 5; (s2, Native): 2 becomes 4; two episodes of evaluation have no partner
    combined = {
        c: r.gold_gain(data, row="Combined", column=c) for c in ("Eval 3H", "Gold 3H", "Δ 3H", "Gold TDQ", "Δ Clean")
    }
    assert {c: found.value for c, found in combined.items()} == {
        "Eval 3H": 3, "Gold 3H": 4.5, "Δ 3H": 1.5, "Gold TDQ": 4, "Δ Clean": 50,
    }  # fmt: skip
    assert combined["Δ 3H"].readings == {"matched seeds and languages": 1.5, "all episodes": 1.25}  # 4.5 - 3.25
    assert "2 episodes without a partner in the other mode left out" in combined["Δ 3H"].notes
    assert r.gold_gain(data, row="Native", column="Eval 3H").value == 2


def test_a_point_has_its_interval_and_is_called_synthetic_only_where_the_mapping_says_so(tmp_path: Path) -> None:
    data = write(tmp_path)
    mean, ends = r.score(data, row=MODEL, column="Help"), r.score_interval(data, row=MODEL, column="Help").low_high
    # of the 256 resamples of 1, 2, 4, 5 the sum is 4 once, 5 in 4 and 6 in 6 of them, so 2.5% lie below 6 / 4
    assert mean.interval == ends == (1.5, 4.5)
    assert any(note.startswith("interval: percentile, ") for note in mean.notes)
    assert r.group_range(data, by="gender", printed="0.011").interval is not None
    assert not mean.synthetic
    other = tmp_path / "other"
    other.mkdir()
    assert r.score(write(other, SPEC.replace("missing = []", "synthetic = true")), row=MODEL, column="Help").synthetic


def test_a_seed_of_both_splits_is_two_scenarios(tmp_path: Path) -> None:
    data = write(tmp_path, episodes=EPISODES.replace(",t1,", ",s1,"))
    assert r.composition(data, row="All", column="N").value == 7


def test_groups_are_those_that_are_stated(tmp_path: Path) -> None:
    blank = EPISODES.replace(
        "s1,Native,SG,Han,female,Standard,test,eval,4,4,4", "s1,Native,SG,Han,,Standard,test,eval,1,1,1"
    )
    found = r.group_range(write(tmp_path, episodes=blank), by="gender", printed="0.011")
    assert (found.value, found.n) == (1.5, 3)  # female 4 alone, male 2.5; the episode of nobody's gender has no part
    data = handed_only(tmp_path, EPISODES.replace("MY,Moro,male,CTX", "MY,Moro,female,CTX"))
    with pytest.raises(CannotRecount, match="the column of gender tells 1 group apart; two or more are needed"):
        r.group_range(data, by="gender", printed="0.011")


def test_composition_counts_scenarios_once_and_leaves_gold_mode_on_the_test_split_out(data: Data) -> None:
    def count(row: str, column: str) -> Recount:
        return r.composition(data, row=row, column=column)

    assert count("Test English", "N").value == 2  # s1 and s2, though two models have each
    assert count("Test English", "N").readings == {"distinct seeds and languages": 2, "rows, those of all models": 4}
    assert count("Train Native", "N").value == 2
    assert count("Train Native", "NORM").value == 1
    assert count("All", "N").value == 4 + 3
    assert count("SG", "N").value == 2 + 3
    assert (count("SG", "Standard").value, count("SG", "NORM").value) == (3, 2)
    assert (count("SG", "identities").value, count("All", "identities").value) == (2, 3)  # Han, Moro; and Moro of MY


def test_distribution(data: Data) -> None:
    found = {c: r.distribution(data, row="Helpfulness", column=c).value for c in ("Mean", "Median", "%1", "%4", "%3")}
    assert found == {"Mean": 3, "Median": 3, "%1": 25, "%4": 25, "%3": 0}  # 5, 4, 2, 1
    std = r.distribution(data, row="Helpfulness", column="Std")
    assert std.value == pytest.approx(sqrt(10 / 3))  # 2² + 1² + 1² + 2²
    assert std.readings["of the population"] == pytest.approx(sqrt(10 / 4))
    assert r.distribution(data, row="Cultural typicality", column="Mean").value == F(18, 4)
    assert r.distribution(data, row="Scenario plausibility", column="Median").value == F(9, 2)  # 4, 3, 5, 5


def test_a_distribution_is_of_the_scores_that_there_are(data: Data, tmp_path: Path) -> None:
    assert not any("missing" in note for note in r.distribution(data, row="Helpfulness", column="%5").notes)
    found = r.distribution(
        handed_only(tmp_path, EPISODES.replace("eval,5,4,3", "eval,,4,3")), row="Helpfulness", column="%4"
    )
    assert (found.value, found.n) == (F(100, 3), 3)
    assert "1 scores missing" in found.notes


def test_slices(data: Data) -> None:
    gender = r.group_range(data, by="gender", printed="0.011")
    assert gender.value == 1.5  # female 4, male 2.5
    assert any("lowest male, highest female" in note for note in gender.notes)
    assert r.native_range(data, models=[MODEL]).low_high == (-0.5, -0.5)  # s1: 4 - 4; s2: 2 - 3


def test_one_name_in_two_regions_is_one_identity_or_two(tmp_path: Path) -> None:
    rows = [
        f"GPT-5 mini,s{i},English,{region},{identity},male,CTX,test,eval,{score},{score},{score},3,3,3,yes"
        for i, (region, identity, score) in enumerate([("SG", "Han", 1), ("MY", "Han", 5), ("SG", "Moro", 2)])
    ]
    data = write(tmp_path, episodes="\n".join(rows))
    readings = {"identity": 1.0, "region and identity": 4.0}  # Han (1 + 5) / 2 = 3 against 2; and 1, 5, 2
    found = {printed: r.group_range(data, by="identity", printed=printed) for printed in ("1.000", "4.000", "0.165")}
    assert all(recount.readings == readings for recount in found.values())
    assert [recount.value for recount in found.values()] == [1, 4, 1]  # the one that prints so, else the first
    for recount in found.values():  # Moro, and by region all three, are one episode each
        assert recount.interval is None
        assert recount.notes.count("noise alone gives a range of unknown size: a group has one episode") == 2


def test_the_ends_of_losses_over_models(tmp_path: Path) -> None:
    rows = [
        f"{model},s{tier},English,SG,Han,male,{tier},test,eval,{score},{score},{score},3,3,3,yes"
        for i, model in enumerate(MODELS)
        for tier, score in (("Standard", 4), ("CTX", 1 + i % 3), ("NORM", 3))
    ]
    data = write(tmp_path, episodes="\n".join(rows))
    # six models each have traps of 1, 2 or 3 beside 3, so losses of 4 - 2, 4 - 2.5 and 4 - 3
    assert r.trap_range(data).low_high == (1, 2)
    assert [r.trap_end(data, end=end).value for end in ("low", "high", "mean")] == [1, 2, -1.5]


def test_the_interval_of_a_share_is_that_of_the_binomial(tmp_path: Path) -> None:
    rows = [f"GPT-5.4,s{i},English,SG,Han,male,CTX,test,eval,3,3,3,3,3,3,{('yes', 'no')[i % 2]}" for i in range(100)]
    found = r.score_interval(write(tmp_path, episodes="\n".join(rows)), row="GPT-5.4", column="Clean %")
    assert found.value == 50
    assert found.low_high is not None
    assert found.low_high == pytest.approx((40, 60), abs=1)  # 2.5% and 97.5% points of Binomial(100, 1/2)


def test_the_error_of_the_ends_is_that_of_both_lots_of_draws(tmp_path: Path) -> None:
    rows = [f"GPT-5.4,s{i},English,SG,Han,male,CTX,test,eval,{1 + i % 5},3,3,3,3,3,yes" for i in range(1000)]
    found = r.score_interval(write(tmp_path, episodes="\n".join(rows)), row="GPT-5.4", column="Help")
    error = sqrt(2 / 1000)  # scores 1 to 5 alike often have variance 2
    assert found.low_high == pytest.approx((3 - 1.95996 * error, 3 + 1.95996 * error), abs=0.01)
    density = exp(-(1.95996**2) / 2) / sqrt(2 * pi) / error
    assert found.mc_error == pytest.approx(sqrt(0.025 * 0.975 * (1 / 1000 + 1 / 4000)) / density, rel=0.2)


def test_agreement(data: Data) -> None:
    def cell(row: str, column: str, by: str = "") -> float:
        value = r.agreement(data, row=row, column=column, by=by).value
        assert isinstance(value, float)
        return value

    # pairs of 1, 2, 3: distances 1, 2, 1; of 5, 5, 5: none; of 4, 4, 1: 0, 3, 3
    assert cell("Helpfulness", "HH % ±1", "metric") == pytest.approx(100 * 5 / 6)
    assert cell("Helpfulness", "HH MAE", "metric") == pytest.approx(4 / 6)
    assert cell("Human–human (mean pairwise)", "MAE") == pytest.approx(10 / 9)
    # GPT-5 mini has 3 against 2, 3 against 5, 4 against 3
    assert cell("Helpfulness", "GPT-5 mini % ±1", "metric") == 50
    assert cell("Helpfulness", "GPT-5 mini MAE", "metric") == 1.5
    assert cell("Overall", "Bias", "metric") == 0
    assert cell("SG", "Bias", "region") == 1
    assert cell("MY", "GPT-5 mini MAE", "region") == 2
    assert cell("GPT-5 mini vs human consensus", "% ±1") == pytest.approx(200 / 3)
    assert r.judge(data, row=MODEL, column="MAE").value == pytest.approx(4 / 3)
    whole = r.agreement(data, row="Overall", column="HH MAE")
    assert whole.n == 3
    assert "1 cells left out that have another number of human scores than 3" in whole.notes


def test_missing_and_unplaced_ratings_are_left_out_and_counted(tmp_path: Path) -> None:
    none = r.agreement(write(tmp_path), row="Overall", column="Bias")
    assert not any("scores missing" in note for note in none.notes)
    other = tmp_path / "other"
    other.mkdir()
    # a blank may repeat; d4 lies in no region of the paper, and agrees with GPT-5 mini
    more = "d1,SG,Helpfulness,ann,\nd1,SG,Helpfulness,ann,\nd1,SG,Warmth,ann,3\nd1,SG,Warmth,ann,3\n"
    more += "\n".join(f"d4,XX,Helpfulness,{name},4" for name in ("ann", "ben", "cai", MODEL))
    data = write(other, ratings=RATINGS + more)
    found = r.agreement(data, row="Overall", column="GPT-5 mini MAE")
    assert (found.value, found.n) == (1, 4)  # 1, 2, 1 and 0
    assert "2 scores missing" in found.notes
    assert "2 rows left out whose metric is none of the paper's: Warmth" in found.notes
    for row, n in (("SG", 2), ("MY", 1)):
        assert r.agreement(data, row=row, column="GPT-5 mini MAE", by="region").n == n


def test_the_like_for_like_figures_stand_beside(data: Data) -> None:
    found = r.agreement(data, row="Helpfulness", column="GPT-5 mini MAE", by="metric")
    # against one person: (2 + 1 + 0) / 3 and 2; against the means of two others 2.5, 2, 1.5: (0.5 + 1 + 1.5) / 3 and 2
    assert "like for like: GPT-5 mini | one rater: 1.500; GPT-5 mini | mean of the others: 1.500" in found.notes
    people = r.agreement(data, row="Helpfulness", column="HH MAE", by="metric")
    assert "like for like: human | mean of the others: 0.500" in people.notes  # (1.5 + 0 + 1.5) / 3 and 0


def panel(scores: dict[str, list[int]]) -> str:
    """Two dialogues with people at 3, 3, 3, and each judge's two scores."""
    rows = [f"d{i},SG,Helpfulness,{person},3" for i in (0, 1) for person in ("ann", "ben", "cai")]
    rows += [f"d{i},SG,Helpfulness,{name},{score}" for name, own in scores.items() for i, score in enumerate(own)]
    return "\n".join(rows)


def test_ensembles_are_ranked_and_scored_by_their_mean(tmp_path: Path) -> None:
    scores = {name: [5, 5] for name in JUDGES}
    scores |= {MODEL: [3, 4], "Qwen 3.6 Flash": [2, 2], "Llama 4 Maverick": [4, 3], "Grok 4.20": [1, 2]}
    data = write(tmp_path, ratings=panel(scores))
    # the mean of 3, 2, 4 and of 4, 2, 3 is 3: no error. With Grok in the place of GPT-5 mini it is 7/3 and 7/3, in that
    # of Llama 2 and 8/3, in that of Qwen 8/3 and 3.
    ranks = {"Best 3-judge ensemble": "Qwen 3.6 Flash", "Second-best ensemble": "Grok 4.20"}
    ranks["Third-best ensemble"] = "Qwen 3.6 Flash"
    best, second, third = (f"{rank} (GPT-5 mini + Llama 4 Maverick + {other})" for rank, other in ranks.items())
    cell = {row: r.ensemble(data, row=row, column="MAE") for row in (best, second, third)}
    assert cell[best].value == 0
    assert cell[second].value == pytest.approx((1 / 3 + 0) / 2)
    assert cell[second].readings["the ensemble named, scoring by the median"] == pytest.approx(0)  # 3, 4, 1 and 4, 3, 2
    assert cell[third].readings["the ensemble named"] == 0  # the one named is not the third
    assert "rank of the ensemble named: 1" in cell[third].notes
    assert r.ensemble_at(data, rank=1, named="Llama 4 Maverick + Qwen 3.6 Flash + GPT-5 mini").value == (
        "Llama 4 Maverick + Qwen 3.6 Flash + GPT-5 mini"
    )
    assert r.ensemble_at(data, rank=2, named="Llama 4 Maverick + Qwen 3.6 Flash + GPT-5 mini").value == (
        "GPT-5 mini + Llama 4 Maverick + Grok 4.20"
    )
    lead = {c: r.ensemble_lead(data, row="", column=c).value for c in ("% ±1", "MAE", "Bias")}
    assert lead == {"% ±1": 0, "MAE": -0.5, "Bias": -0.5}  # GPT-5 mini: errors 0 and 1
    assert r.best_judge(data, measure="MAE").value == MODEL  # and Llama: the first of equals


def test_ensembles_and_their_median_are_of_the_cells_that_all_judges_scored(tmp_path: Path) -> None:
    scores = {name: [3, 3] for name in JUDGES}
    more = [f"d2,SG,Helpfulness,{name},3" for name in ("ann", "ben", "cai")]
    more += [f"d2,SG,Helpfulness,{name},5" for name in JUDGES[:3]]  # and no other judge
    found = r.ensemble(
        write(tmp_path, ratings="\n".join([panel(scores), *more])),
        row="Best 3-judge ensemble (GPT-5 mini + Qwen 3.6 Flash + Llama 4 Maverick)",
        column="MAE",
    )
    assert found.n == 2
    assert set(found.readings.values()) == {0}
    assert "a judge's rating is missing: 1" in found.notes


def test_ensembles_need_every_judge(data: Data) -> None:
    with pytest.raises(
        CannotRecount, match=r"^1 of 11 judges scored these dialogues; there is none of Qwen 3.6 Flash, "
    ):
        r.ensemble_lead(data, row="", column="MAE")
    with pytest.raises(CannotRecount, match=r"has Grok 4\.20's scores; check that the files name dialogues alike"):
        r.judge(data, row="Grok 4.20", column="MAE")


# --- the words of the paper --------------------------------------------------------------------------------------


def test_the_words_are_the_papers() -> None:
    paper = load_paper(PAPERS / "culture_converse")
    assert tuple(paper.tables["table-04"].body) == MODELS
    assert set(paper.tables["table-17"].rows) == set(paper.tables["table-14"].body) == set(MODELS)
    assert tuple(paper.tables["table-11"].body) == JUDGES
    assert tuple(paper.tables["table-12"].body) == METRICS
    assert set(paper.tables["table-13"].rows) == set(VOCABULARY["region"])
    assert [release.mapping for release in paper.releases] == [MAPPING]


def test_every_recount_names_a_recipe_that_takes_its_arguments() -> None:
    claims = [claim for claim in load_paper(PAPERS / "culture_converse").claims if claim.recipe]
    assert claims
    for claim in claims:
        signature(getattr(r, claim.recipe)).bind(None, **dict(claim.arguments))


def test_the_example_is_a_mapping_and_names_every_column() -> None:
    spec = read_mapping(PAPERS / "culture_converse" / "mapping.toml")
    assert spec.synthetic is False
    named = {name for block in spec.episodes for name in (*block.columns, *block.fixed)}
    assert named == set(COLUMNS["episodes"])
    assert set(spec.values["model"]) == set(MODELS)
    assert set(spec.values["rater"]) == {*JUDGES, "human"}


# --- what may be read --------------------------------------------------------------------------------------------


def records() -> list[dict[str, str]]:
    header = (*PLACE, *METRICS, "clean")
    return [dict(zip(header, line.split(","), strict=True)) for line in EPISODES.strip().splitlines()]


def as_tabs(folder: Path) -> str:
    header = (*PLACE, *METRICS, "clean")
    text = "\t".join(header) + "\n" + EPISODES.strip().replace(",", "\t") + "\n"
    (folder / "episodes.tsv.gz").write_bytes(gzip.compress(text.encode("utf-8")))
    return "episodes.tsv.gz"


def as_json_lines(folder: Path) -> str:
    lines = [{k: (int(v) if v.isdecimal() else v or None) for k, v in row.items()} for row in records()]
    (folder / "episodes.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return "episodes.jsonl"


def as_workbook(folder: Path) -> str:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append([*PLACE, *METRICS, "clean"])
    for row in records():
        book.active.append([int(v) if v.isdecimal() else v or None for v in row.values()])
    book.save(folder / "episodes.xlsx")
    return "episodes.xlsx"


@pytest.mark.parametrize("save", [as_tabs, as_json_lines, as_workbook])
def test_the_same_rows_in_another_form_give_the_same(tmp_path: Path, save: Callable[[Path], str]) -> None:
    data = write(tmp_path, SPEC.replace("episodes.csv", save(tmp_path)))
    assert r.score(data, row=MODEL, column="3H Avg").value == 3.25
    assert r.score(data, row="Grok 4.20", column="3H Avg").n == 1
    assert r.composition(data, row="All", column="N").value == 7


def test_several_files_nested_keys_fixed_values_and_joined_columns(tmp_path: Path) -> None:
    """A file per model and language, without columns for what its name says; ids that start anew in each region."""
    nested = [
        {"id": 1, "where": {"region": "SG"}, "scores": dict.fromkeys(METRICS, 4)},
        {"id": 1, "where": {"region": "MY"}, "scores": dict.fromkeys(METRICS, 3)},
    ]
    (tmp_path / "runs").mkdir()
    for name in ("a.json", "b.json"):
        (tmp_path / "runs" / name).write_text(json.dumps(nested), "utf-8")
    blocks = "".join(
        f'[[episodes]]\nfile = "runs/{file}"\n[episodes.columns]\nseed = ["where.region", "id"]\n'
        + "\n".join(f'{name} = "scores.{name}"' for name in METRICS)
        + f'\n[episodes.fixed]\nmodel = "GPT-5.4"\nlanguage = "{language}"\nsplit = "test"\nmode = "eval"\n'
        for file, language in (("a.*", "English"), ("b.json", "Thai"))
    )
    (tmp_path / MAPPING).write_text(blocks + '[values.language]\nNative = "*"\n', "utf-8")
    data = handed(tmp_path)
    found = r.score(data, row="GPT-5.4", column="3H Avg")
    assert (found.value, found.n) == (3.5, 4)
    assert r.native_range(data, models=["GPT-5.4"]).low_high == (0, 0)
    assert [used.pin.name for used in data.used] == [MAPPING, "runs/a.json", "runs/b.json"]
    assert {used.status for used in data.used} == {"unverified"}


def test_ratings_with_a_column_for_each_metric(tmp_path: Path) -> None:
    rows = [
        f"{i},{who},{score},{score},,,,"
        for i in (1, 2)
        for who, score in (("ann", 2), ("ben", 3), ("cai", 4), ("m", 5))
    ]
    (tmp_path / "wide.csv").write_text(table(("row", "who", *METRICS), "\n".join(rows)), "utf-8")
    columns = "\n".join(f'{name} = "{name}"' for name in METRICS)
    spec = f'[[ratings]]\nfile = "wide.csv"\n[ratings.columns]\ndialogue = "row"\nrater = "who"\n{columns}\n'
    (tmp_path / MAPPING).write_text(
        spec + '[values.rater]\n"GPT-5 mini" = "m"\nhuman = ["ann", "ben", "cai"]\n', "utf-8"
    )
    found = r.agreement(handed(tmp_path), row="Overall", column="GPT-5 mini MAE")
    assert (found.value, found.n) == (2, 4)  # 5 against 3, on two metrics of two dialogues
    with pytest.raises(CannotRecount, match=r"which column is the region; wide\.csv has the columns row, who"):
        r.agreement(handed(tmp_path), row="SG", column="Bias", by="region")


def test_rows_that_stand_for_nothing_in_the_paper_are_left_out_and_counted(tmp_path: Path) -> None:
    more = EPISODES + "Other,s1,English,SG,Han,female,Standard,test,eval,1,1,1,1,1,1,no\n"
    more += "Other,s1,English,SG,Han,female,Standard,test,eval,1,1,1,1,1,1,no\n"  # none of the paper's: may repeat
    found = r.score(write(tmp_path, episodes=more), row=MODEL, column="Help")
    assert found.value == 3
    assert "2 rows left out whose model is none of the paper's: Other" in found.notes


# --- what a mistake is told --------------------------------------------------------------------------------------


def score(data: Data) -> Recount:
    return r.score(data, row=MODEL, column="3H Avg")


def clean(data: Data) -> Recount:
    return r.score(data, row=MODEL, column="Clean %")


def gender(data: Data) -> Recount:
    return r.group_range(data, by="gender", printed="0.011")


def grok(data: Data) -> Recount:
    return r.score(data, row="GPT-5.4", column="Help")


def people(data: Data) -> Recount:
    return r.agreement(data, row="Overall", column="HH MAE")


def region(data: Data) -> Recount:
    return r.agreement(data, row="VN", column="Bias", by="region")


@pytest.mark.parametrize(
    ("recipe", "old", "new", "message"),
    [
        (score, SPEC[SPEC.index("[[epi"):SPEC.index("[[rat")], "", r"has no \[\[episodes\]\] block, so no file of "),
        (score, 'model = "model"', 'modell = "model"', r"\[\[episodes\]\] has no column 'modell'; expected some of "),
        (score, SAME, SAME + '\n[episodes.fixed]\nmodel = "x"', "has 'model' in columns and in fixed; keep one"),
        (gender, 'gender = "gender"\n', "", r'say which column is the gender; .*episodes.csv has .*gender = "..." to'),
        (score, 'Honesty = "Honesty"', 'Honesty = "honest"', "no column 'honest', which .* gives as the Honesty"),
        (score, '"episodes.csv"', '"episode.csv"', "names 'episode.csv', and .* has no such file"),
        (score, '"episodes.csv"', '"x/*.csv"', r"names 'x/\*.csv', and no file in .* fits"),
        (score, '"episodes.csv"', '"../episodes.csv"', "name: expected a plain relative path, found '../episodes.csv'"),
        (score, "[values.rater]", "[values.identity]", r"\[values.identity\] is no column with named values"),
        (score, "human =", "people =", r"\[values.rater\] has 'people', which the paper does not; expected "),
        (score, "missing = []", "missing = []\nsynthetic = 1", "synthetic: expected: .*found: 1"),
        (score, "missing = []", "absent = []", "unknown key 'absent'; expected one of synthetic, missing, episodes"),
        (score, "missing = []", "missing = [", "not valid TOML"),
        (score, SAME, "", "columns: expected: .* at least 1 item"),
        (grok, "", "", r'the model GPT-5.4: the column holds GPT-5 mini, Grok 4.20; .*"GPT-5.4" = "..." under'),
        (people, 'human = "*"', 'human = "nobody"', r'no cell has 3 human scores .*as "human", and those in'),
        (region, "", "", r"no row of \[\[ratings\]\] has the region VN: the column holds SG, MY"),
        (people, 'human = "*"', 'human = "*"\n"GPT-5 mini" = ["ann", "x"]\n"Grok 4.20" = "ann"', 'gives "ann" for'),
    ],
)  # fmt: skip
def test_a_wrong_mapping_is_one_sentence(
    tmp_path: Path, recipe: Callable[[Data], Recount], old: str, new: str, message: str
) -> None:
    assert SPEC.count(old) >= 1
    data = write(tmp_path, SPEC.replace(old, new, 1))
    for _ in range(2):  # and the same again for the next claim
        with pytest.raises(UserError, match=message) as error:
            recipe(data)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("recipe", "old", "new", "message"),
    [
        (score, "s1,English,SG,Han,female,Standard,test,eval,5", "s1,English,SG,Han,female,Standard,test,eval,6",
         "Helpfulness is '6' in 1 rows, and a score is a whole number from 1 to 5; if it means that there is none, "),
        (score, "eval,5,4,3", "eval,5,4.5,3", "Honesty is '4.5' in 1 rows"),
        (score, "eval,5,4,3", "eval,5,nan,3", "Honesty is 'nan' in 1 rows"),
        (score, "s2,Native,MY,Moro,male,CTX,test,eval", "s1,Native,MY,Moro,male,CTX,test,eval",
         "1 rows repeat the model, split, mode, language, seed of another, the first model GPT-5 mini, split test"),
        (clean, "4,4,4,yes", "4,4,4,maybe", "the clean flag is 'maybe' in some rows, which stands for neither"),
        (score, "eval,5,4,3,4,4,4,yes", "eval,5,4,3,4,4,4", "episodes.csv"),
        (people, "d2,MY,Helpfulness,dee,5", "d2,MY,Helpfulness,ann,5",
         "1 scores repeat the dialogue, metric and rater of another, the first dialogue d2, Helpfulness, rater ann"),
        (people, "d2,MY,Helpfulness,GPT-5 mini,3", "d1,SG,Helpfulness,GPT-5 mini,3",
         "1 scores repeat .* the first dialogue d1, Helpfulness, rater GPT-5 mini"),
        (people, "d2,MY,Helpfulness,dee,5", "d2,SG,Helpfulness,dee,5", "dialogue d2 stands in two regions"),
        (people, "d2,MY,Helpfulness,dee,5", "d2,MY,Helpfulness,dee,0", "score is '0' in 1 rows"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_sentence(
    tmp_path: Path, recipe: Callable[[Data], Recount], old: str, new: str, message: str
) -> None:
    assert (EPISODES + RATINGS).count(old) >= 1
    data = write(tmp_path, episodes=EPISODES.replace(old, new, 1), ratings=RATINGS.replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        recipe(data)


def test_a_score_that_means_none_may_be_named(tmp_path: Path) -> None:
    data = write(
        tmp_path, SPEC.replace("missing = []", 'missing = ["refused"]'), EPISODES.replace("eval,5,4", "eval,refused,4")
    )
    assert r.score(data, row=MODEL, column="Help").value == pytest.approx(7 / 3)


def test_a_parquet_file_and_json_that_is_no_table_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1....PAR1")
    (tmp_path / "b.json").write_text("[1, 2]", "utf-8")
    with pytest.raises(
        CannotRecount, match=r"a\.parquet is a Parquet file, which this kit does not read; save it as CSV"
    ):
        score(write(tmp_path, SPEC.replace("episodes.csv", "a.parquet")))
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.json").write_text('[{"model": 1}, 2]', "utf-8")
    data = write(other, SPEC.replace("episodes.csv", "b.json"))
    with pytest.raises(CannotRecount, match=r"b\.json is JSON, but no list of objects"):
        score(data)
