"""A judge against held-out humans: the counts by loops, the decisions by their definition."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.audit.judge import audit_labels
from countback.audit.judge.compare import decide
from countback.audit.judge.places import lean_sentences
from countback.audit.judge.settings import read_settings
from countback.audit.judge.text import flat_line
from countback.audit.judge.tree import Audit
from countback.models.heldout import Difference
from countback.models.resampling import Interval
from judge_data import judged, panel, write

JUDGE = ("item", "judge", "country", "label")


def audit(labels: Path, judges: Path | None = None, *, draws: int = 200, **told: Any) -> Audit:
    return audit_labels(labels, judges, read_settings(labels, judges, **told), draws=draws, seed=1)


def by_loops(rows: list[Any], judge: dict[Any, str], countries: set[str]) -> tuple[int, int, int, int]:
    """Comparisons, human hits, judge hits and misses for want of a label, with tied references skipped."""
    units = defaultdict(list)
    for item, _, country, label in rows:
        units[item, country].append(label)
    n = human = hits = missing = 0
    for (item, country), labels in units.items():
        if country not in countries or (item, country) not in judge:
            continue
        for k, own in enumerate(labels):
            top = Counter(labels[:k] + labels[k + 1 :]).most_common()
            if not top or (len(top) > 1 and top[0][1] == top[1][1]):
                continue
            n += 1
            human += own == top[0][0]
            hits += judge[item, country] == top[0][0]
            missing += judge[item, country] not in "123"
    return n, human, hits, missing


@pytest.mark.parametrize("shared", [False, True])
def test_counts_are_those_of_a_loop(tmp_path: Path, shared: bool) -> None:
    rng = np.random.default_rng(3)
    rows, truth = panel(rng, shared=shared, people=5)
    answers = judged(rng, truth, 0.6)
    answers[4] = (*answers[4][:3], "no idea")  # a reply that is no label is a miss
    del answers[7]  # no reply at all was never asked
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", answers, JUDGE))
    (report,) = found.judges
    judge = {(item, country): label for item, _, country, label in answers}
    assert report.overall is not None
    for c, countries in [(report.overall, {"US", "PK", "NG"}), *((c, {c.where}) for c in report.by_country)]:
        n, human, hits, missing = by_loops(rows, judge, countries)
        assert (c.n, c.missing) == (n, missing)
        assert c.human == pytest.approx(human / n)
        assert c.judge == pytest.approx(hits / n)
        assert c.difference.value == pytest.approx((hits - human) / n)
    assert {c.where for c in report.by_country} == {"US", "PK", "NG"}
    assert (report.asked, report.answered) == (len(truth) - 1, len(truth) - 2)
    assert found.design.separable == shared


def test_a_country_hardly_answered_is_left_out_and_kept_beside(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows, truth = panel(rng, countries=("US", "PK", "NG", "EN"))
    answers = [row for row in judged(rng, truth, 0.9) if row[2] != "EN"]
    void = [(item, "model-x", "EN", "2") for item, country in truth if country == "EN"][:12]  # 12 of 40, always "2"
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", answers + void, JUDGE))
    (report,) = found.judges
    assert report.left_out == ("EN",)
    judge = {(item, country): label for item, _, country, label in answers + void}
    assert report.overall is not None
    assert report.with_them is not None
    assert report.overall.n == by_loops(rows, judge, {"US", "PK", "NG"})[0]
    assert report.with_them.n == by_loops(rows, judge, {"US", "PK", "NG", "EN"})[0]
    assert {c.where for c in report.by_country} == {"US", "PK", "NG"}
    (trap,) = [trap for trap in found.traps if trap.kind == "left out"]
    assert (trap.facts["country"], trap.facts["answered"], trap.facts["units"]) == ("EN", 12, 40)
    assert abs(trap.facts["kappa"]) < 0.2  # one and the same answer throughout
    assert trap.facts["kappa elsewhere"] > 0.5


def test_a_judge_that_is_asked_in_few_countries_loses_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows, truth = panel(rng, countries=("US", "PK", "NG", "IN"))
    answers = [row for row in judged(rng, truth, 0.9) if row[2] == "US"]
    (report,) = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", answers, JUDGE)).judges
    assert report.left_out == ()
    assert [c.where for c in report.by_country] == ["US"]


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "made up", 100)


@pytest.mark.parametrize(
    ("ends", "clusters", "decision"),
    [
        (((0.01, 0.2), (0.01, 0.2), (0.02, 0.2)), 50, "ahead"),
        (((0.01, 0.2), (0.01, 0.2), (-0.01, 0.2)), 50, "open"),  # one of the three does not agree
        (((-0.3, -0.1), (-0.3, -0.1), (-0.3, -0.1)), 50, "behind"),
        (((-0.04, 0.04), (-0.03, 0.04), (-0.04, 0.045)), 50, "close"),
        (((-0.04, 0.04), (-0.06, 0.04), (-0.04, 0.045)), 50, "open"),
        (((-0.3, -0.1), (-0.3, -0.1), (-0.3, -0.1)), 19, "too few"),
        (((-0.3, -0.1), (np.nan, np.nan), (-0.3, -0.1)), 50, "behind"),  # BCa does not exist: the others decide
    ],
)
def test_decisions(ends: Any, clusters: int, decision: str) -> None:
    percentile, bca, robust = (interval(*pair) for pair in ends)
    value = (percentile.low + percentile.high) / 2
    assert decide(Difference(value, 100, clusters, percentile, bca, robust, 1)) == decision


def test_no_reference_no_decision() -> None:
    nowhere = interval(np.nan, np.nan)
    assert decide(Difference(np.nan, 0, 0, nowhere, nowhere, nowhere, 1)) == "undefined"


def advice(found: Audit) -> dict[str, str]:
    return {row.judge or f"labels: {row.kind}": row.kind for row in found.advice}


@pytest.mark.parametrize(
    ("right", "people", "items", "kind"),
    [(0.95, 0.6, 150, "replace"), (0.5, 0.9, 100, "keep"), (0.0, 0.9, 100, "chance"), (0.8, 0.8, 25, "collect")],
)
def test_advice_on_judges_of_known_quality(tmp_path: Path, right: float, people: float, items: int, kind: str) -> None:
    rng = np.random.default_rng(8)
    rows, truth = panel(rng, countries=("US",), items=items, right=people, people=5)
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judged(rng, truth, right), JUDGE))
    assert advice(found)["model-x"] == kind


def test_a_judge_that_always_says_the_common_label_is_no_human(tmp_path: Path) -> None:
    # 95% of items are "1" and humans make 3% errors: always "1" matches as often as a human, or oftener
    rng = np.random.default_rng(9)
    rows = []
    for i in range(300):
        for who in "abc":
            true = "2" if i % 20 == 0 else "1"
            rows.append((i, who, "", true if rng.random() > 0.05 else ("1" if true == "2" else "2")))
    judges = [(i, "m", "", "1") for i in range(300)]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judges, JUDGE))
    (report,) = found.judges
    assert report.overall is not None
    assert report.overall.decision in ("ahead", "close", "open")
    assert advice(found)["m"] == "chance"


def test_humans_that_agree_by_chance_are_no_reference(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    rows = [(i, who, "", str(rng.integers(1, 3))) for i in range(400) for who in "abc"]
    judges = [(i, "m", "", str(rng.integers(1, 3))) for i in range(400)]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judges, JUDGE))
    assert advice(found)["m"] == "noise"
    assert "labels: low agreement" in advice(found)


def test_flattening_needs_a_human_spread_and_answers_by_country(tmp_path: Path) -> None:
    # every country labels the same items; PK's humans call far more of them "2"
    rng = np.random.default_rng(11)
    rows, judge, same = [], [], []
    for i in range(120):
        level = rng.random()
        same.append((i, "blind", "", "2" if level > 0.5 else "1"))
        for country, cut in (("US", 0.7), ("NG", 0.6), ("PK", 0.2)):
            rows += [
                (i, f"{country}{who}", country, "2" if level + rng.normal(0, 0.1) > cut else "1") for who in range(5)
            ]
            judge.append(
                (i, "by country", country, "2" if level + rng.normal(0, 0.05) > 0.45 + 0.1 * (cut > 0.5) else "1")
            )
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judge + same, JUDGE))
    reports = {report.name: report for report in found.judges}
    (flat,) = reports["by country"].flat
    assert flat.noise_p < 0.05
    assert flat.ratio is not None
    assert flat.ratio.high < 1  # its cuts lie 0.1 apart where the humans' lie 0.5 apart
    assert [flat.skipped for flat in reports["blind"].flat] == ["one answer"]
    assert any(trap.kind == "one answer" and trap.facts["judge"] == "blind" for trap in found.traps)


@pytest.mark.parametrize("items", [1, 2, 19])
def test_a_country_of_few_items_is_far_from_the_others_by_chance_alone(items: int, tmp_path: Path) -> None:
    """Two items whose humans agree have no noise to be seen; with every other country of forty they are no finding."""
    rows = [(f"{c}{i}", f"{c}{who}", c, "12"[i % 2]) for c in ("US", "NG") for i in range(40) for who in range(3)]
    rows += [(f"PK{i}", f"PK{who}", "PK", "2" if i else "1") for i in range(items) for who in range(3)]
    judge = [(item, "m", country, label) for item, who, country, label in rows if who.endswith("0")]
    found = audit(write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judge, JUDGE))
    (lean,) = found.leans
    assert lean.countries["PK"].clusters == lean.spread.clusters == items
    assert not lean.spread.usable
    (flat,) = found.judges[0].flat
    assert flat.ratio is not None
    assert not flat.ratio.usable
    said = " ".join([*lean_sentences(lean, alone=True), flat_line(flat)])
    assert "more than noise" not in said
    assert "undefined of draws" not in said
    assert "nan" not in said


def test_the_same_seed_gives_the_same_audit(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    rows, truth = panel(rng, items=30)
    labels, judges = write(tmp_path / "l.csv", rows), write(tmp_path / "j.csv", judged(rng, truth, 0.8), JUDGE)
    one, other = audit(labels, judges), audit(labels, judges)
    assert one.judges[0].overall == other.judges[0].overall
    assert one.judges[0].kappas == other.judges[0].kappas
    assert repr(one.agreement) == repr(other.agreement)  # undefined figures are NaN, which equals nothing


def test_several_questions_on_an_item_are_studies_of_their_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    header = ("item", "annotator", "question", "label")
    rows = [
        (i, who, question, str(1 + (i + k) % 2) if rng.random() < 0.9 else "1")
        for i in range(40)
        for k, question in enumerate(("harm", "bias"))
        for who in "abc"
    ]
    judges = [(i, "m", "harm", str(1 + i % 2)) for i in range(40)] + [(i, "m", "bias", "1") for i in range(40)]
    found = audit(
        write(tmp_path / "l.csv", rows, header),
        write(tmp_path / "j.csv", judges, ("item", "judge", "question", "label")),
    )
    assert found.scope.several
    (report,) = found.judges
    assert {c.where for c in report.by_question} == {"harm", "bias"}
    assert {kappa.part for kappa in report.kappas} == {"harm", "bias"}
    weak = [trap.facts["part"] for trap in found.traps if trap.kind == "weak question"]
    assert weak == ["bias"]  # a judge that answers "1" throughout there
