"""The joint model's data and what is made of its draws: by hand, and small fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.flattening import JointData, JointPosterior, compare, fit_joint, flattening, joint_data, leans
from countback.models.ordinal import R2D2, Gates

# Two countries X and Y, four items, two annotators each; judge 1 has labelled all pairs but one, judge 2 three.
ITEM = np.array([0, 0, 1, 1, 2, 2, 3, 3] * 3)
COUNTRY = np.array([0, 0, 0, 0, 1, 1, 1, 1] * 3)
ANNOTATOR = np.array([0, 1, 0, 1, 0, 1, 0, 1] * 3)
LABEL = np.array([0, 1, 2, 1, 0, 0, 1, 2] * 3)
JUDGED: dict[str, Any] = {
    "judge": np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    "judge_item": np.array([0, 1, 2, 3, 0, 1, 2, 0]),
    "judge_country": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    "judge_label": np.array([0, 1, -1, 2, 1, 1, 1, 2]),
    "categories": 3,
    "countries": ["X", "Y"],
    "judges": ["first", "second"],
}


def made(**other: Any) -> JointData:
    return joint_data(LABEL, ITEM, COUNTRY, ANNOTATOR, **(JUDGED | other))


def test_missing_and_unmatched_labels_are_counted() -> None:
    """The first judge gave one label fewer; the second's last is of item 0 in Y, which nobody in Y labelled."""
    data = made()
    assert data.missing == (1, 0)
    assert data.unmatched == (0, 1)
    assert data.problem.weight.sum() == 24 + 3 + 3
    assert [int(data.problem.weight[data.problem.rater == rater].sum()) for rater in range(3)] == [24, 3, 3]
    assert data.notes[-1] == "judge second: all 3 labels are the same, so its cutpoints rest on their prior"


def test_codes_of_judges_share_the_items_and_have_countries_of_their_own() -> None:
    data = made()
    assert data.names == ("country", "item", "annotator")
    assert data.problem.levels.tolist() == [2, 4, 4]
    judged = data.problem.rater == 1
    # Items 0, 1 of X, 3 of Y; levels 0-1 countries, 2-5 items, 6-9 annotators, 10-11 X and Y of the first judge.
    assert sorted(data.problem.code[judged].tolist()) == [[10, 2, -1], [10, 3, -1], [11, 5, -1]]
    assert sorted(data.problem.code[data.problem.rater == 2, 0].tolist()) == [12, 12, 13]


def test_panel_is_the_country_and_its_annotators_by_labels() -> None:
    label = LABEL.copy()
    label[[0, 8]] = -1  # annotator 0 of X: 4 of 10 labels
    data = joint_data(label, ITEM, COUNTRY, ANNOTATOR, **JUDGED)
    assert data.panel[0] == pytest.approx([1, 0, 0, 0, 0, 0, 0.4, 0.6, 0, 0])
    assert data.panel[1] == pytest.approx([0, 1, 0, 0, 0, 0, 0, 0, 0.5, 0.5])
    assert data.content.tolist() == [[-1, 2, -1], [-1, 3, -1], [-1, 4, -1], [-1, 5, -1]]
    assert data.pair_country.tolist() == [0, 0, 1, 1]


def test_question_and_interaction_are_content() -> None:
    """Of crossed items: the pairs keep question, country:question, item and item:country, and drop people."""
    rng = np.random.default_rng(1)
    i, c, a = np.indices((6, 2, 3)).reshape(3, -1)
    label = rng.integers(0, 3, 36)
    j, k = np.indices((6, 2)).reshape(2, -1)
    data = joint_data(
        label,
        i,
        c,
        a,
        question=i % 3,
        judge=np.zeros(12, int),
        judge_label=rng.integers(0, 3, 12),
        judge_item=j,
        judge_country=k,
        categories=3,
        countries=["X", "Y"],
        judges=["one"],
    )
    assert data.names == ("country", "question", "country:question", "item", "annotator", "item:country")
    assert len(data.content) == 12
    assert ((data.content == -1) == [True, False, False, False, True, False]).all()
    judged = data.problem.code[data.problem.rater == 1]
    human = data.problem.code[data.problem.rater == 0]
    shared = [1, 2, 3, 5]
    assert {tuple(row) for row in judged[:, shared]} == {tuple(row) for row in human[:, shared]}


def test_a_judge_without_labels_is_refused() -> None:
    with pytest.raises(UserError, match="no label of judge second"):
        made(judge_label=np.array([0, 1, 1, 2, -1, -1, -1, 2]))


def test_one_country_is_refused() -> None:
    with pytest.raises(UserError, match="1 country"):
        joint_data(LABEL, ITEM, np.zeros(24, int), ANNOTATOR, **JUDGED)


def test_leans_by_hand() -> None:
    """One draw. P(y > k) = logistic(eta - cutpoint); a lean is the mean of both over the country's items.

    X: eta ln 3 and 0, cutpoints 0 and ln 3: (3/4 + 1/2 + 1/2 + 1/4) / 4 = 0.5. Y: eta -ln 3: (1/4 + 1/10) / 2 = 0.175.
    """
    log3 = np.log(3)
    found = leans(np.array([[log3, 0.0, 0.0]]), np.array([0, 0, 1]), np.array([[0.0, -log3]]), np.array([[0.0, log3]]))
    assert found[0] == pytest.approx([0.5, 0.175])


def test_spreads_by_hand() -> None:
    """Panels .2 .4 .6 and a judge .3 .4 .5: half the spread, slope 1/2; reversed the slope is -1/2."""
    human, judge = np.array([[0.2, 0.4, 0.6]]), np.array([[0.3, 0.4, 0.5]])
    ratio, slope, gap = compare(judge, human)
    assert (ratio[0], slope[0]) == (pytest.approx(0.5), pytest.approx(0.5))
    assert gap[0] == pytest.approx([0.1, 0.0, -0.1])
    assert compare(judge[:, ::-1], human)[1][0] == pytest.approx(-0.5)


def test_a_judge_that_is_the_panel_flattens_nothing() -> None:
    """Draws in which the judge has the panel's severity, cutpoints and scale 1: ratios and slope 1, gaps 0."""
    data, rng = made(), np.random.default_rng(4)
    effect = rng.normal(size=(50, 10))
    cut = np.sort(rng.normal(size=(50, 1, 2)), axis=2).repeat(3, axis=1)
    own = (effect @ data.panel.T)[:, None].repeat(2, axis=1)
    gates = Gates(1.0, 1000.0, 1000.0, 0.0, False, True)
    posterior = JointPosterior("by hand", R2D2(), np.ones((50, 3)), cut, effect, np.ones((50, 2)), own, gates, 1)
    for judge in flattening(posterior, data):
        for found in (judge.latent, judge.ratio, judge.slope):
            assert (found.low, found.median, found.high) == pytest.approx((1, 1, 1))
        assert all(abs(gap.low) + abs(gap.high) < 1e-12 for gap in judge.gap.values())


def test_shapes_of_a_fit() -> None:
    pytest.importorskip("nutpie")
    data = made()
    found = fit_joint(data, R2D2(), seed=2, draws=200, tune=300, chains=2, cores=1)
    count = len(found.sd)
    assert found.cutpoints.shape == (count, 3, 2)
    assert found.effect.shape == (count, 10)
    assert found.scale.shape == (count, 2)
    assert found.own.shape == (count, 2, 2)
    assert [judge.judge for judge in flattening(found, data)] == ["first", "second"]
    for judge in flattening(found, data):
        assert judge.latent.low < judge.latent.median < judge.latent.high
        assert set(judge.gap) == {"X", "Y"}
