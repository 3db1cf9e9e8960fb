"""What a design tells of the country's share: against labels simulated elsewhere, and what cannot be told at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from countback.models.planning import Design
from countback.models.planning_power import Parts, Power, share_power
from countback.models.shares import country_share
from countback.models.simulate import Truth, crossed, hybrid, simulate

GOLDEN = Path(__file__).parents[1] / "golden"
KEPT = json.loads((GOLDEN / "shares.json").read_text())


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_the_default_division_is_multi3hates() -> None:
    v = KEPT["real"]["multi3hate"]["variances"]
    rest = sum(v.values()) - v["country"]
    parts = Parts()
    for name in ("item", "item_country", "annotator", "residual"):
        assert getattr(parts, name) == pytest.approx(v[name] / rest, abs=0.006), name
    assert parts.item + parts.item_country + parts.annotator + parts.residual == pytest.approx(1)


@pytest.mark.parametrize(("countries", "latent"), [(4, 0.2), (12, 0.0), (12, 0.06), (12, 0.2)])
def test_outcomes_against_labels_of_three_levels(countries: int, latent: float) -> None:
    """shares.json counts them in 200 data sets of ten items, five of eight annotators, drawn by other code and cut to
    three levels. Cutting takes about a fifth off what labels have in common (latent 0.2 is a share of 0.156)."""
    kept = KEPT["simulated"][f"10 items, {countries} countries, 5 of 8 annotators"][f"latent {latent}"]
    common = 0.78 / 1.85
    item, cell, person = 0.6 * common, 0.1 * common, 0.15 * common
    parts = Parts(item, cell, person, 1 - item - cell - person)
    design = Design(1, 0, 10, (8,) * countries, 5)
    got = share_power(design, kept["true share"], parts=parts, draws=200, rng=rng())
    for mine, theirs in ((got.below, kept["broken"]), (got.above, kept["confirmed"])):
        error = max(theirs * (1 - theirs), 0.02) ** 0.5 * (1 / 200 + 1 / 200) ** 0.5
        assert mine == pytest.approx(theirs, abs=4 * error)
    assert got.high - got.low == pytest.approx(kept["width"], rel=0.2)
    assert got.below + got.above + got.undecided == pytest.approx(1)


def test_own_items_say_nothing_about_it() -> None:
    """Labels of a whole hybrid design, its own items too, put to the estimator: only the shared ones are used."""
    layout = hybrid(4, 3, 2, 6, pool=5, labels=3)
    one = simulate(layout, Truth({"country": 0.5, "item": 1.0, "annotator": 0.4}, (-0.5, 0.5)), rng())
    whole = country_share(one.item, one.country, one.annotator, one.label)
    shared = one.item >= 4 * 3 * 2
    part = country_share(one.item[shared], one.country[shared], one.annotator[shared], one.label[shared])
    assert (whole.share, whole.low, whole.high) == (part.share, part.low, part.high)


def test_the_share_that_is_drawn_is_the_share_that_was_asked_for() -> None:
    got = share_power(Design(1, 0, 20, (6,) * 60, 3), 0.2, draws=60, rng=rng())
    assert got.estimate == pytest.approx(0.2, abs=0.02)
    assert got.above == 1


def test_only_the_side_of_the_true_share_is_right() -> None:
    kept = {"level": 0.95, "below": 0.2, "above": 0.3, "undecided": 0.5, "estimate": 0.05, "low": 0.0, "high": 0.1}
    for share, right in ((0.0, 0.2), (0.049, 0.2), (0.05, 0.3), (0.1, 0.3)):
        assert Power(share=share, threshold=0.05, **kept, items=10, draws=20).right == right


def test_nested_cannot_be_told_at_any_number() -> None:
    for own in (1, 1000):
        got = share_power(Design(11, own, 0, (8,) * 12, 5), 0.1, draws=20, rng=rng())
        assert got.note.startswith("cannot be told at any number of labels")
        assert (got.below, got.above, got.undecided, got.draws) == (0, 0, 1, 0)
        assert np.isnan([got.estimate, got.low, got.high, got.mc_error(0.5)]).all()


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (Design(1, 3, 0, (8,), 5), "one country"),
        (Design(1, 0, 10, (1, 1, 1), 1), "one annotator in each country"),
        (Design(1, 0, 1, (8,) * 4, 5), "at least two"),
    ],
)
def test_designs_that_the_estimator_refuses_say_why(design: Design, said: str) -> None:
    got = share_power(design, 0.1, draws=5, rng=rng())
    assert said in got.note
    assert got.undecided == 1


def test_many_items_are_cut_and_said() -> None:
    got = share_power(Design(1, 0, 10_000, (8,) * 12, 5), 0.1, draws=3, rng=rng())
    assert got.items == 30_000 // 60
    assert share_power(Design(1, 0, 10, (8,) * 12, 5), 0.1, draws=3, rng=rng()).items == 10


def test_more_countries_decide_more_and_more_items_do_not() -> None:
    """True share 15%: twelve countries against 48, and ten items against a hundred."""
    few = Design(1, 0, 10, (6,) * 12, 4)
    base, countries, items = (
        share_power(design, 0.15, draws=120, rng=rng())
        for design in (few, replace(few, pools=(6,) * 48), replace(few, shared=100))
    )

    def told(power: Power) -> float:
        return power.below + power.above

    assert told(countries) > told(base) + 0.25
    assert told(countries) > told(items) + 0.1
    assert countries.high - countries.low < 0.6 * (items.high - items.low)


def test_the_same_seed_gives_the_same_answer() -> None:
    design = Design(1, 0, 5, (4, 5, 6), 3)
    assert share_power(design, 0.1, draws=20, rng=rng()) == share_power(design, 0.1, draws=20, rng=rng())


def test_layouts_of_pools_that_differ() -> None:
    layout = crossed(2, 1, 4, pool=(3, 5), labels=3)
    assert layout.annotators == 8
