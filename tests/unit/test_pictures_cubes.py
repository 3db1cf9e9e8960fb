"""Pictures of the cubes paper: printed numbers by claim id, labels by hand arithmetic, and what each rests on."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from countback.audit.gallery import collect
from countback.audit.recount import Located
from countback.claims.papers.cubes import pictured
from countback.claims.papers.cubes import pictures as own
from countback.claims.pictures import PRINTED, RELEASED, SYNTHETIC, UNVERIFIED, Printed
from countback.claims.registry import PAPERS, Paper, load_paper
from countback.fetch.checksums import sha256_file
from countback.fetch.errors import UserError
from countback.fetch.release import Pin

# Two countries, two questions, two items each, labels of five (or four) annotators. The judge answers as given last.
# The reader wants eleven questions: in the nine others every item has one label, C, as the judge says, so that nothing
# is compared there.
LABELS = {
    "Pakistan": [("power", "AAAAA", "A"), ("power", "AAABB", "B"), ("truth", "CCCC", "C"), ("truth", "AABBC", "A")],
    "Nigeria": [("power", "BBBBC", "B"), ("power", "CCCCC", "B"), ("truth", "CCCCC", "C"), ("truth", "CCCCC", "C")],
}
OTHERS = ["calm", "duty", "envy", "fear", "hope", "loss", "rule", "time", "work"]
for _items in LABELS.values():
    _items += [(name, "C", "C") for name in OTHERS for _ in range(2)]
# Comparisons and human hits by hand: 5-0: 5, 5; 3-2: the three against a tie of 2-2 are skipped, the two against 3-1
# miss; 4-0: 4, 4; 2-2-1: each A and B meets one of its own and two of the other, the C a tie: 4, 0; 4-1: 5, 4.
HUMAN = {"Pakistan": (5 + 2 + 4 + 4, 5 + 0 + 4 + 0), "Nigeria": (5 + 5 + 5 + 5, 4 + 5 + 5 + 5)}
# The judge: right 5; B against A of 3-1 wrong; right 4; A on AABBC right where the reference is A (the two B held out).
JUDGE = {"Pakistan": 5 + 0 + 4 + 2, "Nigeria": 5 + 0 + 5 + 5}


def archive(path: Path, *, synthetic: bool = False, questions: bool = True) -> Path:
    """The two files of the release, as its reader knows them."""
    human: dict[str, Any] = {}
    judge: dict[str, Any] = {}
    for country, items in LABELS.items():
        tasks, answers = [], []
        for number, (question, labels, answer) in enumerate(items):
            options = {letter: f"{country} {number} {letter}" for letter in "ABC"}
            slots = [
                {"annotator": 1 + place, "choice": label, "lead_time_seconds": 60.0}
                for place, label in enumerate(labels)
            ]
            told = question if questions else "one"
            tasks.append({"pod_title": f"pod {number}", "question": told, "options": options, "annotations": slots})
            result = [{"from_name": "vignette_label", "value": {"choices": [answer]}}]
            data = {f"option_{letter.lower()}": text for letter, text in options.items()}
            answers.append({"data": data, "annotations": [{"completed_by": {"username": "judge-1"}, "result": result}]})
        human[country] = {"annotator_count": 5, "task_count": len(tasks), "tasks": tasks}
        judge[country] = {"tasks": answers}
    with zipfile.ZipFile(path, "w") as held:
        held.writestr("judge_alignment/human_annotations.json", json.dumps(human))
        held.writestr("judge_alignment/llm_annotations.json", json.dumps(judge))
        if synthetic:
            held.writestr("SYNTHETIC.txt", "a stand-in")
    return path


def located(path: Path, status: str) -> Located:
    return Located("cubes", "judge-alignment", Pin(own.ARCHIVE), path, sha256_file(path), status)


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load_paper(PAPERS / "cubes")


@pytest.fixture(scope="module")
def drawn(paper: Paper, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Pictures of the small labels by kind, as the JSON has them."""
    path = archive(tmp_path_factory.mktemp("release") / "labels.zip")
    return by_kind(collect([paper], [located(path, "verified")]))


def by_kind(entries: list[dict[str, Any]]) -> dict[str, Any]:
    own_ones = [entry for entry in entries if "stored" not in [file["status"] for file in entry["rests_on"]["files"]]]
    found = {entry["kind"]: entry for entry in own_ones}
    assert len(found) == len(own_ones)
    return json.loads(json.dumps(found, allow_nan=False))


def bars(entries: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {(bar["group"], bar["name"]): bar for bar in entries}
    assert len(found) == len(entries)
    return found


def test_held_out_rates_and_leads_are_those_counted_by_hand(drawn):
    rates, leads = bars(drawn["heldout"]["rates"]), bars(drawn["heldout"]["leads"])
    places = {**HUMAN, own.ALL: tuple(map(sum, zip(*HUMAN.values(), strict=True)))}
    judged = {**JUDGE, own.ALL: sum(JUDGE.values())}
    assert set(rates) == {(place, name) for place in places for name in (own.HUMAN, "judge-1")}
    for place, (n, hits) in places.items():
        human, judge, lead = rates[place, own.HUMAN], rates[place, "judge-1"], leads[place, "judge-1"]
        assert human["value"] == pytest.approx(100 * hits / n)
        assert judge["value"] == pytest.approx(100 * judged[place] / n)
        assert lead["value"] == pytest.approx(100 * (judged[place] - hits) / n)
        assert human["n"] == judge["n"] == lead["n"] == n
        for bar in (human, judge, lead):
            assert bar["low"] <= bar["value"] <= bar["high"]
            assert (bar["printed"], bar["claim"]) == ("", "")
    assert drawn["heldout"]["n"] == 35
    # A resample of the four Nigerian items never loses more than all of its four misses, five comparisons each.
    assert rates["Nigeria", own.HUMAN]["low"] >= 80
    assert rates["Nigeria", own.HUMAN]["high"] == 100


def test_leans_and_spreads_are_those_counted_by_hand(drawn):
    leans, spreads = bars(drawn["lean"]["bars"]), bars(drawn["spreads"]["bars"])
    # Majorities: Pakistan A, A, C, tie (dropped); Nigeria B, C, C, C; and 18 times C.
    assert leans["human majority", "Pakistan"]["value"] == pytest.approx(2 / (3 + 18))
    assert leans["human majority", "Nigeria"]["value"] == pytest.approx(0.5 / (4 + 18))
    # The judge on all items: A, B, C, A and B, B, C, C.
    assert leans["judge-1", "Pakistan"]["value"] == pytest.approx(2.5 / (4 + 18))
    assert leans["judge-1", "Nigeria"]["value"] == pytest.approx(1 / (4 + 18))
    # The figure's rule: Pakistan A; C and (A of a tie) tied, so A. Nigeria B and C tied, so B; C. Nine times C.
    assert leans["humans, by the rule of the figure", "Pakistan"]["value"] == pytest.approx((1 + 1) / 11)
    assert leans["humans, by the rule of the figure", "Nigeria"]["value"] == pytest.approx(0.5 / 11)
    assert spreads["", "human majority"]["value"] == pytest.approx(2 / 21 - 0.5 / 22)
    assert spreads["", "judge-1"]["value"] == pytest.approx((2.5 - 1) / 22)


def test_the_grid_marks_its_ties(drawn):
    cells = {(c["country"], c["question"]): c for c in drawn["grid"]["cells"]}
    assert len(cells) == 22
    plain = {name: cells.pop((place, name)) for place in LABELS for name in OTHERS}
    assert {(c["letter"], c["tied"], c["decided"], c["kept"]) for c in plain.values()} == {("C", False, False, 1)}
    assert {place: (c["letter"], c["tied"], c["tied_items"]) for place, c in cells.items()} == {
        ("Pakistan", "power"): ("A", False, 0),
        ("Pakistan", "truth"): ("A", True, 1),  # C of one item and the A of the tied one
        ("Nigeria", "power"): ("B", True, 0),  # one B, one C
        ("Nigeria", "truth"): ("C", False, 0),
    }
    assert cells["Nigeria", "truth"]["kept"] == 1
    # Two items, of which a resample holds both once in two, and each alone once in four: the C alone loses the letter.
    assert cells["Nigeria", "power"]["kept"] == pytest.approx(0.75, abs=0.03)
    assert {place for place, c in cells.items() if c["decided"]} == {("Pakistan", "truth"), ("Nigeria", "power")}


def test_the_histograms_hold_every_draw_and_their_tails_are_the_p_values(drawn):
    nulls = {null["name"]: null for null in drawn["null"]["nulls"]}
    assert set(nulls) == {"questions that show all labels", "unanimous questions", "power", "truth", *OTHERS}
    for null in nulls.values():
        assert sum(null["counts"]) == null["draws"]
        assert len(null["edges"]) == len(null["counts"]) + 1
    grid = nulls["unanimous questions"]
    edges = grid["edges"]
    counts = {(low + high) / 2: n for low, high, n in zip(edges[:-1], edges[1:], grid["counts"], strict=True) if n}
    assert set(counts) <= {9, 10, 11}  # the nine others always
    assert grid["mean"] == pytest.approx(sum(value * n for value, n in counts.items()) / 5000)
    # Truth: items of C, of AABBC and two of C: whoever is dealt the second, the means lie as far apart.
    assert nulls["truth"]["observed"] == pytest.approx((0.6 / 2) ** 2 / 2)
    assert nulls["truth"]["p"] == 1
    # Power: 1 and 0.8 against 0.4 and 0: of six ways to deal two to each, two are as wide as the observed one.
    power = nulls["power"]
    assert power["observed"] == pytest.approx((0.9 - 0.2) ** 2 / 2)
    assert power["p"] == pytest.approx(2 / 6, abs=0.02)
    assert power["counts"][-1] / power["draws"] == pytest.approx(2 / 6, abs=0.05)  # the widest is the observed one


def test_what_it_rests_on_follows_the_files(paper, tmp_path, drawn, monkeypatch):
    for name, few in {"DRAWS": 100, "ARTICLE_DRAWS": 100, "KEPT_DRAWS": 100, "SHUFFLES": 20}.items():
        monkeypatch.setattr(pictured, name, few)
    assert {entry["rests_on"]["what"] for entry in drawn.values()} == {RELEASED}
    path = archive(tmp_path / "labels.zip")
    unproved = by_kind(collect([paper], [located(path, "unverified")]))
    assert {entry["rests_on"]["what"] for entry in unproved.values()} == {UNVERIFIED}
    twin = archive(tmp_path / "twin.zip", synthetic=True)
    for status in ("unverified", "verified"):  # whatever is proved of a stand-in's bytes, it stays one
        standin = by_kind(collect([paper], [located(twin, status)]))
        assert {entry["rests_on"]["what"] for entry in standin.values()} == {SYNTHETIC}
        assert {entry["rests_on"]["files"][0]["sha256"] for entry in standin.values()} == {sha256_file(twin)}


def test_what_the_labels_cannot_give_is_said(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(pictured, "DRAWS", 100)
    path = archive(tmp_path / "labels.zip", questions=False)
    found = by_kind(collect([paper], [located(path, "verified")]))
    assert {entry["rests_on"]["what"] for entry in found.values()} == {RELEASED}
    assert (found["grid"]["cells"], found["null"]["nulls"]) == ([], [])
    for kind in ("grid", "null", "lean"):
        assert "definition not stated" in found[kind]["missing"][0]
    assert {bar["group"] for bar in found["lean"]["bars"]} == {"human majority", "judge-1"}
    assert found["heldout"]["missing"] == []


def test_without_labels_every_number_is_the_printed_one(paper):
    found = by_kind(collect([paper], []))
    assert {entry["rests_on"]["what"] for entry in found.values()} == {PRINTED}
    assert all(entry["rests_on"]["files"] == [] for entry in found.values())
    rates, leads = bars(found["heldout"]["rates"]), bars(found["heldout"]["leads"])
    assert rates[own.ALL, own.GEMINI] | {"note": ""} == {
        "group": own.ALL, "name": own.GEMINI, "value": 81.1, "low": None, "high": None, "n": 491,
        "printed": "81.1%", "claim": "title-gemini", "note": "",
    }  # fmt: skip
    assert (rates["Pakistan", own.HUMAN]["value"], rates["Pakistan", own.HUMAN]["n"]) == (59.3, 118)
    assert (rates["United States", own.OPUS]["value"], rates["United States", own.OPUS]["n"]) == (70.9, 127)
    # 324 - 70 - 92 of 491 - 118 - 127, and 398 - 106 - 102 of the same
    assert rates["Nigeria and Philippines", own.HUMAN]["value"] == pytest.approx(100 * 162 / 246)
    assert rates["Nigeria and Philippines", own.GEMINI]["value"] == pytest.approx(100 * 190 / 246)
    opus = leads[own.ALL, own.OPUS]
    assert (opus["value"], opus["low"], opus["high"]) == (10.8, 2.9, 18.7)
    assert leads[own.ALL, own.GEMINI]["low"] is None  # the article prints no interval of it
    judges = bars(found["lean"]["bars"])["the four judges, lowest to highest", "Pakistan"]
    assert (judges["value"], judges["low"], judges["high"]) == (None, 0.339, 0.371)
    assert [bar["value"] for bar in found["spreads"]["bars"]] == [0.194, 0.055, 0.088, 0.145, 0.145]
    all_labels = found["null"]["nulls"][0]
    assert (all_labels["observed"], all_labels["mean"], all_labels["low"], all_labels["high"]) == (8, 2, 0, 3)
    assert found["grid"]["cells"] == []
    assert all(entry["missing"] for entry in found.values())


def test_printed_numbers_come_from_the_claims(paper):
    """Every printed bar is what claims.toml says of the claim it names, so that a number is typed once."""
    found = by_kind(collect([paper], []))
    told = Counter[str]()
    for entry in found.values():
        for bar in [*entry.get("rates", []), *entry.get("leads", []), *entry.get("bars", [])]:
            if bar["claim"]:
                assert bar["printed"].startswith(paper.numbers[bar["claim"]].reported)
                told[bar["claim"]] += 1
            else:
                assert "printed rates" in bar["note"]
    assert told.total() == 28
    changed = paper.numbers["title-gemini"].model_copy(update={"reported": "79.0%"})
    other = replace(paper, numbers={**paper.numbers, "title-gemini": changed})
    assert bars(by_kind(collect([other], []))["heldout"]["rates"])[own.ALL, own.GEMINI]["value"] == 79


def test_a_claim_that_is_not_there_is_named(paper):
    with pytest.raises(UserError, match='asks for the claim "nowhere"'):
        Printed(paper).bar("nowhere", "", "")


def test_labels_that_cannot_be_read_leave_the_printed_numbers(paper, tmp_path):
    path = tmp_path / "labels.zip"
    path.write_bytes(b"no zip")
    found = by_kind(collect([paper], [located(path, "unverified")]))
    assert {entry["rests_on"]["what"] for entry in found.values()} == {PRINTED}
    assert all("could not be used" in entry["missing"][0] for entry in found.values())
