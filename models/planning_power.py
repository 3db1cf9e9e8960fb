"""What a design will tell about the country's share of label variance, by simulated labels and the usual estimator.

Labels are drawn as  y = country + item + item:country + annotator + rest,  all normal, on the scale on which
`shares.country_share` measures, so that the true share is known exactly. Only shared items are drawn: the others say
nothing about it. A label of few levels is not normal, but what decides is how many countries there are, whose effects
are (tests compare with labels of three levels).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from countback.fetch.errors import UserError
from countback.models.planning import Design
from countback.models.resampling import Floats, mc_error_share
from countback.models.shares import CountryShare, country_share
from countback.models.simulate import Layout, crossed

MOST_LABELS = 30_000  # of a data set that is simulated; see `Power.items`
THRESHOLD = 0.05  # of the country's share, below which the reading of countries as different needs restating


@dataclass(frozen=True)
class Parts:
    """How the variance that is not the country's is divided; adds up to 1.

    The default is that of Multi3Hate (300 memes crossed over five countries, tests/golden/shares.json), rounded.
    """

    item: float = 0.30
    item_country: float = 0.08
    annotator: float = 0.09
    residual: float = 0.53


@dataclass(frozen=True)
class Power:
    """What becomes of the true `share` in `draws` simulated data sets.

    Shares of data sets whose interval lies `below` the threshold, or from it on `above`, those that leave it
    `undecided` (no answer at all included); `estimate`, `low`, `high` are medians. `items` were simulated, fewer than
    the design has where that would take too many labels. With a `note` nothing was simulated, and it says why.
    """

    share: float
    threshold: float
    level: float
    below: float
    above: float
    undecided: float
    estimate: float
    low: float
    high: float
    items: int
    draws: int
    note: str = ""

    @property
    def right(self) -> float:
        """Share of data sets that tell the side of the threshold on which the true share lies."""
        return self.above if self.share >= self.threshold else self.below

    def mc_error(self, share: float) -> float:
        """Monte Carlo standard error of one of the shares of data sets."""
        return mc_error_share(share, self.draws) if self.draws else float("nan")


def share_power(
    design: Design,
    share: float,
    *,
    parts: Parts | None = None,
    draws: int,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    level: float = 0.95,
) -> Power:
    """How often a design tells on which side of the threshold the country's share lies, if it is `share` (0 ... 1)."""
    parts = parts or Parts()
    nan = float("nan")
    items = min(design.shared, max(2, MOST_LABELS // (design.countries * design.labels)))
    note = _impossible(design)
    if not note:
        layout = crossed(design.countries, 1, items, pool=design.pools, labels=design.labels)
        codes = layout.item, layout.country, layout.annotator
        found = []
        for _ in range(draws):
            y = _labels(layout, share, parts, rng)
            try:
                found.append(country_share(*codes, np.arange(len(y)), scores=y.tolist(), level=level))
            except UserError as error:  # by chance, or always: then the last one says why
                note = str(error)
        if found:
            return _power(found, share, items, draws, threshold, level)
    return Power(share, threshold, level, 0.0, 0.0, 1.0, nan, nan, nan, 0, 0, note)


def _impossible(design: Design) -> str:
    """Why no number of labels would do, or nothing."""
    if design.countries == 1:
        return "one country: there is no difference between countries to measure"
    if design.shared == 0:
        return (
            "cannot be told at any number of labels: no item is labelled in two countries, so a difference between "
            "countries may be one between their items"
        )
    return ""


def _labels(layout: Layout, share: float, parts: Parts, rng: np.random.Generator) -> Floats:
    """Scores (labels,) of one simulated data set, of variance 1."""
    rest = 1 - share

    def effect(variance: float, shape: int | tuple[int, int]) -> Floats:
        return np.asarray(variance**0.5 * rng.standard_normal(shape))

    return np.asarray(
        effect(share, layout.countries)[layout.country]
        + effect(parts.item * rest, layout.items)[layout.item]
        + effect(parts.item_country * rest, (layout.items, layout.countries))[layout.item, layout.country]
        + effect(parts.annotator * rest, layout.annotators)[layout.annotator]
        + effect(parts.residual * rest, layout.labels)
    )


def _power(found: list[CountryShare], share: float, items: int, draws: int, threshold: float, level: float) -> Power:
    ends = np.array([(one.share, one.low, one.high) for one in found])
    below = int((ends[:, 2] < threshold).sum()) / draws
    above = int((ends[:, 1] >= threshold).sum()) / draws
    estimate, low, high = map(float, np.median(ends, axis=0))
    return Power(share, threshold, level, below, above, 1 - below - above, estimate, low, high, items, draws)
