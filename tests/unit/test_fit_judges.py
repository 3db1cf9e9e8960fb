"""Judges beside humans: who may be in the model, and how what it says is shown. Nothing is sampled here."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import click
import numpy as np
import pytest
from countback.audit.fit import run, text
from countback.audit.fit.drawing import drawings
from countback.audit.fit.judges import LEVEL, judges_of
from countback.audit.fit.options import Options
from countback.audit.fit.run import fit_labels
from countback.audit.fit.source import Judge, Labels
from countback.audit.fit.tree import Found, Joint, as_json
from countback.fetch.errors import UserError
from countback.models.flattening import Interval, JointPosterior, JudgeFlattening
from countback.models.identifiability import diagnose
from countback.models.ordinal import R2D2, Gates
from fit_data import FAILED, PASSED, Engine, grid

NONE = np.zeros((1, 1))


def with_judges(*judges: Judge, **more) -> Labels:
    return replace(grid(**more), judges=judges)


def asked(labels: Labels, engine: str = "nuts"):
    design = diagnose(labels.item, labels.country, labels.annotator, question=labels.question)
    return judges_of(labels, design, Options(), engine)


def answers(units: int, *, missing: int = 0) -> np.ndarray:
    """A label for each unit, 0, 1, 2 in turn; the first few not given."""
    return np.where(np.arange(units) < missing, -1, np.arange(units) % 3)


def test_rows_of_judges_are_their_answers_to_units() -> None:
    labels = with_judges(Judge("one", answers(36, missing=6)), Judge("two", answers(36)))
    data, notes = asked(labels)
    assert notes == ()
    assert data.judges == ("one", "two")
    assert data.missing == (6, 0)
    assert data.unmatched == (0, 0)
    rows = [float(data.problem.weight[data.problem.rater == rater].sum()) for rater in range(3)]
    assert rows == [108, 30, 36]  # 12 items x 3 countries x 3 people; units less the missing; units


def test_a_judge_that_cannot_lean_is_left_out_and_said_to_be() -> None:
    labels = with_judges(Judge("culture blind", answers(36), everywhere=True), Judge("other", answers(36)))
    data, notes = asked(labels)
    assert data.judges == ("other",)
    assert notes == (
        "judge culture blind: one answer to an item stands for every country, so it cannot lean by country at all; not "
        "in the model",
    )


def test_one_answer_an_item_is_all_there_is_where_no_item_is_shared() -> None:
    labels = with_judges(Judge("one", answers(36), everywhere=True), shared=False)
    data, notes = asked(labels)
    assert (data.judges, notes) == (("one",), ())


@pytest.mark.parametrize(
    ("labels", "engine", "says"),
    [
        (grid(), "nuts", "made-up.csv has no judge; give the judges' labels with --judges FILE"),
        (with_judges(Judge("a", answers(36))), "approximate", "only sampled.*--engine nuts"),
        (with_judges(Judge("a", answers(72)), questions=2), "nuts", "several questions; choose one"),
        (with_judges(Judge("a", answers(36, missing=36))), "nuts", "no judge is left. judge a: none of its answers"),
    ],
    ids=["no judge", "approximate", "several questions", "no label"],
)  # fmt: skip
def test_what_cannot_be_asked_of_judges(labels: Labels, engine: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        asked(labels, engine)


def joint(gates: Gates = PASSED) -> Joint:
    """Judge "flat" at half of the panels' spread, "steep" at twice."""
    gaps = {f"country {c}": Interval(0.02 * c, -0.05, 0.11) for c in range(3)}
    spans = {"ratio": Interval(0.6, 0.4, 0.8), "slope": Interval(0.55, 0.1, 0.9), "gap": gaps}
    judges = (
        JudgeFlattening("flat", Interval(0.5, 0.3, 0.7), **spans, flatter=0.999),
        JudgeFlattening("steep", Interval(2.0, 1.5, 2.5), **spans, flatter=0.001),
    )
    posterior = JointPosterior("nuts (by hand)", R2D2(), NONE, NONE, NONE, NONE, NONE, gates, 5)
    return Joint(posterior, judges, LEVEL, (4, 0), (0, 1), ("judge third: a reason; not in the model",))


@pytest.fixture
def found(monkeypatch) -> Found:
    monkeypatch.setattr(run, "_posteriors", Engine([1 / 99] * 20))
    labels = with_judges(Judge("flat", answers(36)), Judge("steep", answers(36)))
    return replace(fit_labels(labels, Options(engine="nuts")), joint=joint())


def words(found: Found) -> str:
    return " ".join(click.unstyle(text.present(found)).split())


def test_what_is_said_of_a_judge(found: Found) -> None:
    said = words(found)
    assert "flat 0.50 [0.30, 0.70] 0.60 [0.40, 0.80] 0.55 [0.10, 0.90] >0.99" in said
    assert "steep 2.00 [1.50, 2.50]" in said
    assert "median and 90% interval" in said
    assert "flat: country 0 0 [-5, +11], country 1 +2 [-5, +11], country 2 +4 [-5, +11]" in said
    assert "the people who were there and the items they labelled, not for countries in general" in said
    assert "judge flat: 4 labels missing and 0 beside no human's" in said
    assert "judge third: a reason; not in the model" in said
    assert "R2D2(2, 2; 1) with judges" in said
    assert found.exit_code == 0


def test_a_nested_design_says_what_the_people_spread_may_be(found: Found) -> None:
    said = words(replace(found, fence="Each country labelled its own items."))
    assert "what spreads the people asked may be what their items hold" in said
    assert "may be what their items hold" not in words(found)


def test_a_joint_fit_that_failed_says_nothing_of_judges(found: Found) -> None:
    failed = replace(found, joint=joint(FAILED))
    said, tree = words(failed), as_json(failed)["flattening"]
    assert failed.exit_code == 3
    assert "humans and judges together: unchecked: model fit failed: r-hat 1.32" in said
    assert "0.50 [0.30" not in said
    assert tree["verdict"] == "unchecked: model fit failed"
    assert "judges" not in tree
    assert "flattening" not in {drawing.name for drawing in drawings(failed)}
    assert "1.0% [1.0%, 1.0%]" in said  # the humans' fit stands


def test_judges_as_data_and_as_a_picture(found: Found) -> None:
    tree = as_json(found)["flattening"]
    assert tree["judges"][0] == {
        "judge": "flat",
        "latent": {"median": 0.5, "low": 0.3, "high": 0.7},
        "ratio": {"median": 0.6, "low": 0.4, "high": 0.8},
        "slope": {"median": 0.55, "low": 0.1, "high": 0.9},
        "gap": {f"country {c}": {"median": 0.02 * c, "low": -0.05, "high": 0.11} for c in range(3)},
        "flatter": 0.999,
        "missing": 4,
        "unmatched": 0,
    }
    drawing = next(drawing for drawing in drawings(found) if drawing.name == "flattening")
    root = ElementTree.fromstring(drawing.svg)
    limit = next(node for node in root.iter() if node.get("class") == "limit")
    dots = [float(node.get("cx")) for node in root.iter() if node.tag.endswith("circle")]
    assert dots[0] < float(limit.get("x1")) < dots[1]
    assert "flat 0.50 [0.30, 0.70], probability below 1 >0.99" in drawing.description


def test_judges_are_refused_before_anything_is_fitted(monkeypatch) -> None:
    engine = Engine([1 / 99])
    monkeypatch.setattr(run, "_posteriors", engine)
    with pytest.raises(UserError, match="has no judge"):
        fit_labels(grid(), Options(engine="nuts", joint=True))
    assert engine.asked == []
