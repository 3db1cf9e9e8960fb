"""How probable each outcome of a prediction is: on a judge's lead, from countries already known; on a country's share.

Leads. d_c, the judge's hits less a held-out human's over a country's comparisons, is a noisy view of a lead theta_c:

    d_c ~ N(theta_c, v / n_c)    v / n_c the squared standard error, clustered by item
    theta_c ~ N(mu, tau^2)       mu ~ N(0, mu_sd^2), tau ~ HalfNormal(tau_scale)

v is the mean over countries. Their own values would weigh large leads more, because a judge that seldom misses leads
and has little noise for the same reason: that made forecasts too high in simulations.

The posterior of tau is summed over a grid and mu integrated exactly given tau. Countries not known yet are drawn from
it, their theta_c with the tails of Student's t, their comparisons as many as the known ones give or take a few; the
outcome rule is applied to each draw, hits being whole numbers. Countries known only as a sum are drawn given their sum.

The model takes the known countries for a sample of all of them, which nobody guarantees. So the probabilities drawn are
mixed with equal ones, whose weight is `doubt`: none of k outcomes gets more than 1 - doubt (1 - 1/k). The default
`Model` was chosen by simulation, where it is compared and its calibration shown (tests/golden/forecast_calibration.md).

Shares. No labels of the same items in several countries exist yet, and how many items and countries a study will have
is not known. So outcomes are forecast given a design: crossed studies are simulated at each true share of a grid, and
how often each outcome came is weighted by a prior of the true share (tests/golden/forecast_share.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from countback.fetch.errors import UserError
from countback.models.ordinal import shares_of
from countback.models.resampling import Floats, mc_error_share
from countback.models.shares import country_share
from countback.models.simulate import Truth, crossed, simulate
from numpy.typing import NDArray
from scipy.special import logit, ndtri

GRID = 121
N_SD = 6.0  # comparisons of countries with equally many labels differ by about this much, through ties
OUTCOMES = ("confirmed", "broken", "both", "neither")
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class KnownLead:
    """Judge hits less human hits, `gap`, in `n` comparisons, and the standard error of gap / n.

    More than one country: only their sum is known.
    """

    countries: tuple[str, ...]
    n: int
    gap: int
    se: float


@dataclass(frozen=True)
class OutcomeRule:
    """The numbers of a rule on leads; `margin` and `trail` in percentage points.

    k1: d_c >= 0 in at least `at_least` countries; k2: D >= margin; b1: D < 0; b2: d_c < trail in each of `trailing`.
    `leave_out` countries do not count. `only` watches one criterion: confirmed where a k holds or a b does not.
    """

    at_least: int
    margin: Fraction
    trailing: tuple[str, ...]
    trail: Fraction
    leave_out: tuple[str, ...] = ()
    only: str = ""

    @property
    def outcomes(self) -> tuple[str, ...]:
        return OUTCOMES[:2] if self.only else OUTCOMES


@dataclass(frozen=True)
class Model:
    """What the forecast assumes (see the module). Leads lie between -1 and 1; `tails` are degrees of freedom."""

    tau_scale: float = 0.1
    mu_sd: float = 0.1
    tails: float = 4.0
    doubt: float = 0.05


@dataclass(frozen=True)
class Drawn:
    """Comparisons and gaps of all countries, (draws, countries), in order of `names`."""

    names: tuple[str, ...]
    n: Counts
    gap: Counts


@dataclass(frozen=True)
class Forecast:
    """Probability of each outcome with its Monte Carlo error, and as drawn, before doubt was mixed in."""

    outcomes: tuple[str, ...]
    probability: tuple[float, ...]
    mc_error: tuple[float, ...]
    drawn: tuple[float, ...]
    draws: int


def printed_se(n: int, judge: int, labels_per_item: float) -> float:
    """Standard error of a lead where only counts are known: that of the judge's rate over items.

    A judge has one answer for all comparisons of an item, and in simulations what the held-out humans add and what the
    two have in common cancel to within some 15% (tests/golden/forecast_calibration.md). Half a hit is added on either
    side, so that a judge without a miss is not certain. `labels_per_item`: comparisons that an item gives.
    """
    rate = (judge + 0.5) / (n + 1)
    return float((rate * (1 - rate) * labels_per_item / n) ** 0.5)


def draw_leads(
    known: Sequence[KnownLead], missing: Sequence[str], draws: int, rng: np.random.Generator, model: Model
) -> Drawn:
    """Comparisons and gaps of known and `missing` countries in `draws` completions of the data."""
    sizes = np.array([len(lead.countries) for lead in known])
    n = np.array([lead.n for lead in known])
    unit = float(np.average([lead.n * lead.se**2 for lead in known], weights=sizes))
    tau, mu = _posterior(np.array([lead.gap for lead in known]) / n, unit / n, sizes, draws, rng, model)
    typical = round(n.sum() / sizes.sum())
    names: list[str] = []
    columns: list[Counts] = []
    gaps: list[Counts] = []
    for lead in known:
        parts = _split(lead, unit, tau, mu, rng) if len(lead.countries) > 1 else None
        names += lead.countries
        columns += parts[0] if parts else [np.full(draws, lead.n)]
        gaps += parts[1] if parts else [np.full(draws, lead.gap)]
    for name in missing:
        size = _sizes(typical, draws, rng)
        theta = mu + tau * _tails(model.tails, draws, rng)
        noise = np.sqrt(unit / size) * rng.standard_normal(draws)
        names.append(name)
        columns.append(size)
        gaps.append(np.clip(np.rint(size * (theta + noise)), -size, size).astype(np.int64))
    return Drawn(tuple(names), np.stack(columns, axis=1), np.stack(gaps, axis=1))


def outcome_codes(drawn: Drawn, rule: OutcomeRule) -> NDArray[np.int64]:
    """The outcome of each draw as its place in `rule.outcomes`; exact, in whole numbers."""
    used = [number for number, name in enumerate(drawn.names) if name not in rule.leave_out]
    n, gap = drawn.n[:, used], drawn.gap[:, used]
    total, lead = n.sum(axis=1), gap.sum(axis=1)
    k1 = (gap >= 0).sum(axis=1) >= rule.at_least
    k2 = 100 * lead * rule.margin.denominator >= rule.margin.numerator * total
    b1 = lead < 0
    b2 = np.ones(len(n), np.bool_)
    for name in rule.trailing:
        place = drawn.names.index(name)
        b2 &= 100 * drawn.gap[:, place] * rule.trail.denominator < rule.trail.numerator * drawn.n[:, place]
    if rule.only:
        good = {"k1": k1, "k2": k2, "b1": ~b1, "b2": ~b2}[rule.only]
        return np.where(good, 0, 1)
    return np.where(k1 & k2, np.where(b2, 2, 0), np.where(b1 | b2, 1, 3))


def forecast(drawn: Drawn, rule: OutcomeRule, model: Model) -> Forecast:
    """Probabilities of the outcomes over the draws, doubt mixed in."""
    count, draws = len(rule.outcomes), len(drawn.n)
    shares = np.bincount(outcome_codes(drawn, rule), minlength=count) / draws
    mixed = (1 - model.doubt) * shares + model.doubt / count
    errors = tuple((1 - model.doubt) * mc_error_share(float(share), draws) for share in shares)
    return Forecast(rule.outcomes, tuple(map(float, mixed)), errors, tuple(map(float, shares)), draws)


def _posterior(
    lead: Floats, se2: Floats, sizes: NDArray[np.int64], draws: int, rng: np.random.Generator, model: Model
) -> tuple[Floats, Floats]:
    """Draws of tau and mu. A lead of m countries together has variance tau^2 / m + se^2."""
    grid = np.linspace(0, 4 * model.tau_scale, GRID)[:, None]
    precision = 1 / (grid**2 / sizes + se2)
    weight = precision.sum(axis=1) + 1 / model.mu_sd**2
    mean = (precision * lead).sum(axis=1) / weight
    fit = (np.log(precision).sum(axis=1) - np.log(weight) - (precision * lead**2).sum(axis=1) + weight * mean**2) / 2
    if model.tau_scale > 0:
        fit -= (grid[:, 0] / model.tau_scale) ** 2 / 2
    chance = np.exp(fit - fit.max())
    at = rng.choice(GRID, draws, p=chance / chance.sum())
    return grid[at, 0], mean[at] + rng.standard_normal(draws) / np.sqrt(weight[at])


def _split(
    lead: KnownLead, unit: float, tau: Floats, mu: Floats, rng: np.random.Generator
) -> tuple[list[Counts], list[Counts]]:
    """Comparisons and gaps of countries of which the sum is known: drawn freely, then moved to meet it."""
    count = len(lead.countries)
    sizes = 1 + rng.multinomial(lead.n - count, np.full(count, 1 / count), len(tau))
    variance = sizes**2 * (tau[:, None] ** 2 + unit / sizes)
    free = sizes * mu[:, None] + np.sqrt(variance) * rng.standard_normal(sizes.shape)
    moved = free + variance / variance.sum(axis=1)[:, None] * (lead.gap - free.sum(axis=1))[:, None]
    gaps = np.clip(np.rint(moved), -sizes, sizes).astype(np.int64)
    gaps[:, -1] = lead.gap - gaps[:, :-1].sum(axis=1)
    return list(sizes.T), list(gaps.T)


def _sizes(typical: int, draws: int, rng: np.random.Generator) -> Counts:
    spread = min(N_SD, typical / 4)
    return np.maximum(np.rint(rng.normal(typical, spread, draws)), 1).astype(np.int64)


def _tails(df: float, draws: int, rng: np.random.Generator) -> Floats:
    return rng.standard_normal(draws) if np.isinf(df) else rng.standard_t(df, draws)


# --- the country's share, from a crossed study that is not made yet ---------------------------------------------------

SHARE_GRID = (0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.11, 0.15, 0.2, 0.3, 0.45, 0.65)
_COUNTRY_SDS = np.geomspace(0.02, 20, 40)


@dataclass(frozen=True)
class CrossedDesign:
    """Every country labels all `items`; each item gets `labels` from the `pool` people of a country."""

    items: int
    countries: int
    labels: int = 5
    pool: int = 8

    def __str__(self) -> str:
        return f"{self.items} items x {self.countries} countries x {self.labels} labels"


@dataclass(frozen=True)
class SharePrior:
    """The true share of label variance on the linear scale: its logit is normal, `spread` its standard deviation."""

    median: float
    spread: float

    def weights(self) -> Floats:
        """How much each point of SHARE_GRID counts, (grid,), if between two points what is asked is linear in logit.

        Shares beyond the ends of the grid count as its ends.
        """
        at = logit(np.array(SHARE_GRID))
        middles = logit(self.median) + self.spread * _QUANTILES
        return np.array([np.interp(middles, at, row).mean() for row in np.eye(len(at))])


_QUANTILES = ndtri((np.arange(4000) + 0.5) / 4000)


def crossed_share(design: CrossedDesign, share: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Country's share and its 95% interval as `shares.country_share` finds it in one synthetic study of true `share`.

    Three labels; how far items, annotators and items within countries differ and where labels are cut is drawn too. A
    study whose labels support no share is (0, 0, 1), which says nothing.
    """
    centre, gap = rng.normal(-0.8, 0.6), rng.lognormal(0, 0.7)
    cuts = (centre - gap / 2, centre + gap / 2)
    sds = {"item": rng.uniform(0.7, 2.5), "item:country": rng.uniform(0.2, 1), "annotator": rng.uniform(0.2, 1)}
    sds["country"] = country_sd(share, tuple(sds.values()), cuts)
    layout = crossed(design.countries, 1, design.items, pool=design.pool, labels=design.labels)
    study = simulate(layout, Truth(sds, cuts), rng)
    try:
        found = country_share(study.item, study.country, study.annotator, study.label)
    except UserError:
        return 0.0, 0.0, 1.0
    return found.share, found.low, found.high


def country_sd(share: float, others: Sequence[float], cutpoints: Sequence[float]) -> float:
    """The country's standard deviation in logits at which its share on the linear scale is `share`, to about 1%."""
    sds = np.column_stack([_COUNTRY_SDS, np.tile(others, (len(_COUNTRY_SDS), 1))])
    names = ["country", *(f"other {number}" for number in range(len(others)))]
    cuts = np.tile(np.asarray(cutpoints, np.float64), (len(sds), 1))
    linear = shares_of(sds, names, cuts, np.zeros((len(sds), 2))).linear
    return float(np.exp(np.interp(np.log(share), np.log(linear), np.log(_COUNTRY_SDS))))


def share_forecast(outcomes: Sequence[str], came: Counts, prior: SharePrior, *, doubt: float = Model.doubt) -> Forecast:
    """Probabilities of `outcomes` from how often each came, (grid, outcomes), in studies at each true share."""
    studies, weights = came.sum(axis=1, keepdims=True), prior.weights()
    rates = came / studies
    shares = weights @ rates
    errors = (1 - doubt) * np.sqrt(weights**2 @ (rates * (1 - rates) / studies))
    mixed = (1 - doubt) * shares + doubt / len(outcomes)
    probability, mc_error, drawn = (tuple(map(float, each)) for each in (mixed, errors, shares))
    return Forecast(tuple(outcomes), probability, mc_error, drawn, int(came.sum()))
