"""The model of ordinal labels: what it is fitted to, what is believed beforehand, and what a fit says.

The sampler (`hierarchical`) and the approximation (`approximate`) fit the same model and return the same `Posterior`.

    P(y <= k) = logit^-1(cutpoint_k - eta),  y = 0 .. K-1 ascending,  eta = sum of normal effects

with an effect for country, question, country:question, item, annotator (within country) and, where items are crossed,
item:country; the residual is the standard logistic's, variance pi^2 / 3. The mean of the cutpoints is N(0, 1.5), each
gap between neighbours LogNormal(log(2 / (K - 1)), 0.7): LogNormal(0, 0.7) for three labels. Two have one cutpoint.

Of two effects that divide the labels alike a model holds one, and an effect with a level of its own for every label is
none (in a logit it is not told from the residual): `ordinal_data` leaves those out and says so.

Shares of a country (models.md, section 1): *superpopulation* is the country's variance over all variance, of the
countries that could have been asked; *finite* takes the variance of the effects of the countries that were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from numpy.typing import NDArray
from scipy.special import betaln, expit, gammaln

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]

RESIDUAL = float(np.pi**2 / 3)
EFFECTS = ("country", "question", "country:question", "item", "annotator", "item:country")
CENTRE_SD, GAP_SD = 1.5, 0.7
THRESHOLD = 0.05  # of the country's share, below which the reading of countries as different needs restating
SURE = 0.95


@dataclass(frozen=True)
class Effect:
    """A normal effect: `code` (rows,) of its `levels`."""

    name: str
    code: NDArray[np.int64]
    levels: int


@dataclass(frozen=True)
class OrdinalData:
    """Rows that a model is fitted to: equal rows are one row with a `weight` above 1.

    `label` (rows,) 0 .. categories - 1, ascending; `country` is the name of each level of the country's effect. `notes`
    say in words which effects were left out and why.
    """

    label: NDArray[np.int64]
    weight: NDArray[np.int64]
    categories: int
    effects: tuple[Effect, ...]
    countries: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(effect.name for effect in self.effects)

    def effect(self, name: str) -> Effect:
        return self.effects[self.names.index(name)]


def ordinal_data(
    label: Ints,
    item: Ints,
    country: Ints,
    annotator: Ints,
    *,
    question: Ints | None = None,
    categories: int,
    countries: Sequence[str],
    leave_out: Sequence[str] = (),
) -> OrdinalData:
    """The rows of valid labels with the effects that they can carry; arrays (labels,) of codes, label -1 not valid.

    `leave_out` names effects that are not wanted; without the annotator's, equal rows are put together. Raises
    UserError where nothing about countries can be estimated: one country, labels that do not vary, too few labels.
    """
    kept = label >= 0
    label, item, country, annotator = label[kept], item[kept], country[kept], annotator[kept]
    question = None if question is None else question[kept]
    _refuse(label, country, categories)
    candidates = {
        "country": country,
        "question": question,
        "country:question": None if question is None else _pair(country, question),
        "item": item,
        "annotator": _pair(country, annotator),
        "item:country": _pair(item, country),
    }
    notes: list[str] = []
    effects: list[tuple[str, NDArray[np.int64], int]] = []
    for name in EFFECTS:
        codes = candidates[name]
        if codes is None or name in leave_out:
            continue
        found, dense = np.unique(codes, return_inverse=True)
        why = _needless(name, dense, len(found), effects)
        if why:
            notes.append(why)
        else:
            effects.append((name, dense, len(found)))
    rows = np.column_stack([label, *(code for _, code, _ in effects)])
    unique, weight = np.unique(rows, axis=0, return_counts=True)
    present = np.unique(country)
    return OrdinalData(
        unique[:, 0].astype(np.int64),
        weight.astype(np.int64),
        categories,
        tuple(Effect(name, unique[:, k + 1].astype(np.int64), n) for k, (name, _, n) in enumerate(effects)),
        tuple(countries[code] for code in present),
        tuple(notes),
    )


def _refuse(label: Ints, country: Ints, categories: int) -> None:
    found = len(np.unique(country))
    if found < 2:
        raise UserError(
            f"found labels of {found} countr{'y' if found == 1 else 'ies'}; expected two or more: a difference between "
            "countries, and its share of the variance, cannot be estimated"
        )
    if categories < 2 or len(np.unique(label)) < 2:
        raise UserError(
            f"found no variation: all {len(label)} labels are the same; expected two or more different labels: no "
            "variance, and no share of it, can be estimated"
        )
    if len(label) < 10 * found:
        raise UserError(
            f"found {len(label)} valid labels from {found} countries; expected 10 or more of each: too few to tell "
            "countries from the people and items in them; collect more, or leave countries out"
        )


def _pair(one: Ints, other: Ints) -> NDArray[np.int64]:
    return one.astype(np.int64) * (int(other.max()) + 1) + other


def _needless(name: str, code: Ints, levels: int, before: Sequence[tuple[str, Ints, int]]) -> str:
    """Why an effect cannot stand beside those `before` it; empty where it can."""
    if levels == 1:
        return f"{name}: one level only, so its variance cannot be estimated; left out"
    if levels == len(code):
        return f"{name}: each label has a level of its own, which is the residual; left out"
    for other, theirs, count in before:
        if levels == count == len(np.unique(_pair(code, theirs))):
            return f"{name}: divides the labels exactly as {other} does; left out"
    return ""


@dataclass(frozen=True)
class R2D2:
    """R^2 ~ Beta(a, b) of the variance, and what the effects explain split by a symmetric Dirichlet."""

    a: float = 2.0
    b: float = 2.0
    concentration: float = 1.0

    def __str__(self) -> str:
        return f"R2D2({self.a:g}, {self.b:g}; {self.concentration:g})"

    def draw(self, effects: int, draws: int, rng: np.random.Generator) -> Floats:
        """Standard deviations (draws, effects)."""
        explained = rng.beta(self.a, self.b, draws)
        split = rng.dirichlet(np.full(effects, self.concentration), draws)
        return np.asarray(np.sqrt(split * (RESIDUAL * explained / (1 - explained))[:, None]))

    def log_density(self, log_sd: Floats) -> Floats:
        """Of log standard deviations (..., effects), normalised."""
        variance = np.exp(2 * log_sd)
        total, count = variance.sum(-1), log_sd.shape[-1]
        odds, each = total / RESIDUAL, self.concentration
        of_total = (self.a - 1) * np.log(odds) - (self.a + self.b) * np.log1p(odds) - betaln(self.a, self.b)
        of_split = gammaln(count * each) - count * gammaln(each) + (each - 1) * (2 * log_sd).sum(-1)
        of_split = of_split - (each - 1) * count * np.log(total)
        jacobian = -(count - 1) * np.log(total) - np.log(RESIDUAL) + (2 * log_sd + np.log(2)).sum(-1)
        return np.asarray(of_total + of_split + jacobian)


@dataclass(frozen=True)
class HalfNormal:
    """Each standard deviation ~ HalfNormal(scale)."""

    scale: float

    def __str__(self) -> str:
        return f"HalfNormal({self.scale:g})"

    def draw(self, effects: int, draws: int, rng: np.random.Generator) -> Floats:
        """Standard deviations (draws, effects)."""
        return np.asarray(np.abs(rng.normal(0, self.scale, (draws, effects))))

    def log_density(self, log_sd: Floats) -> Floats:
        """Of log standard deviations (..., effects), normalised."""
        each = np.log(2 / np.pi) / 2 - np.log(self.scale) - np.exp(2 * log_sd) / (2 * self.scale**2) + log_sd
        return np.asarray(each.sum(-1))


Prior = R2D2 | HalfNormal
SWEEP: tuple[Prior, ...] = (R2D2(), HalfNormal(0.25), HalfNormal(0.5), HalfNormal(1), HalfNormal(2.5))


def gap_location(categories: int) -> float:
    """Mean of the log gap between neighbouring cutpoints."""
    return float(np.log(2 / (categories - 1)))


def draw_cutpoints(categories: int, draws: int, rng: np.random.Generator) -> Floats:
    """Cutpoints (draws, categories - 1) from the prior, ascending."""
    gaps = np.exp(rng.normal(gap_location(categories), GAP_SD, (draws, categories - 2)))
    steps = np.concatenate([np.zeros((draws, 1)), np.cumsum(gaps, axis=1)], axis=1)
    return np.asarray(rng.normal(0, CENTRE_SD, (draws, 1)) + steps - steps.mean(1, keepdims=True))


@dataclass(frozen=True)
class Gates:
    """What must hold before a fit may speak; NaN where an engine has no such number."""

    rhat: float
    ess_bulk: float
    ess_tail: float
    divergent: float
    retried: bool
    passed: bool
    why: str = ""


@dataclass(frozen=True)
class Posterior:
    """Draws of one fit under one prior; both engines return this.

    `sd` (draws, effects) in the order of `names`; `country` (draws, countries) are the realised effects, in logits;
    `cutpoints` (draws, categories - 1). `engine` says "approximate" where it is. A fit whose gates failed keeps its
    draws for a look at them and must not be reported as a result.
    """

    engine: str
    prior: Prior
    names: tuple[str, ...]
    countries: tuple[str, ...]
    sd: Floats
    country: Floats
    cutpoints: Floats
    gates: Gates
    seed: int

    @property
    def country_sd(self) -> Floats:
        return np.asarray(self.sd[:, self.names.index("country")])


@dataclass(frozen=True)
class Shares:
    """The country's share of variance, one value a draw.

    `population` and `finite` count the residual as variance, the two `_effects` do not. `linear` is of the labels as
    numbers 0 .. K-1: variance between countries of a country's mean label, over all variance of labels.
    """

    population: Floats
    finite: Floats
    population_effects: Floats
    finite_effects: Floats
    linear: Floats


def shares(posterior: Posterior) -> Shares:
    """The country's shares, draw by draw; see the module."""
    return shares_of(posterior.sd, posterior.names, posterior.cutpoints, posterior.country)


def shares_of(sd: Floats, names: Sequence[str], cutpoints: Floats, country: Floats) -> Shares:
    """As `shares`, from arrays: sd (draws, effects), cutpoints (draws, K - 1), country (draws, countries)."""
    at = list(names).index("country")
    variance = sd**2
    own = variance[:, at]
    rest = variance.sum(1) - own
    here = country.var(axis=1, ddof=1)
    return Shares(
        own / (own + rest + RESIDUAL),
        here / (here + rest + RESIDUAL),
        own / (own + rest),
        here / (here + rest),
        _linear_share(own, rest, cutpoints),
    )


_NODES = np.linspace(-5, 5, 41)  # of a normal, for the trapezoid rule: equally probable ones cut its tails short
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()


def _linear_share(own: Floats, rest: Floats, cutpoints: Floats) -> Floats:
    """Var_c E(y | country) / Var y, by quadrature over the country's effect and over all others."""
    country = np.sqrt(own)[:, None] * _NODES
    others = np.sqrt(rest)[:, None] * _NODES
    above = np.zeros((cutpoints.shape[1], len(own), len(_NODES)))  # P(y > k | country)
    for node in range(len(_NODES)):
        eta = country + others[:, node, None]
        for k in range(cutpoints.shape[1]):
            above[k] += _WEIGHTS[node] * expit(eta - cutpoints[:, k, None])
    mean = above.sum(0)
    odd = (2 * np.arange(cutpoints.shape[1]) + 1)[:, None, None]
    square = (odd * above).sum(0) @ _WEIGHTS  # y^2 is the sum of 2k + 1 over k < y
    grand = mean @ _WEIGHTS
    return np.asarray((mean - grand[:, None]) ** 2 @ _WEIGHTS / (square - grand**2))


@dataclass(frozen=True)
class ShareAnswer:
    """One prior's answer: the country's share of latent variance, residual counted.

    `below` is P(share < threshold), `prior_below` what the prior alone says of it.
    """

    prior: str
    median: float
    low: float
    high: float
    finite: tuple[float, float, float]
    below: float
    prior_below: float
    gates: Gates


def answer(posterior: Posterior, rng: np.random.Generator, *, level: float = 0.95) -> ShareAnswer:
    """Medians and equal-tailed intervals of the shares under one prior, beside what that prior alone believes."""
    found = shares(posterior)
    tails = [0.5, (1 - level) / 2, (1 + level) / 2]
    median, low, high = np.quantile(found.population, tails)
    finite = np.quantile(found.finite, tails)
    return ShareAnswer(
        str(posterior.prior),
        float(median),
        float(low),
        float(high),
        (float(finite[0]), float(finite[1]), float(finite[2])),
        float((found.population < THRESHOLD).mean()),
        prior_below(posterior.prior, posterior.names, rng),
        posterior.gates,
    )


def prior_below(prior: Prior, names: Sequence[str], rng: np.random.Generator, draws: int = 200_000) -> float:
    """P(country's share < threshold) before any label is seen."""
    variance = prior.draw(len(names), draws, rng) ** 2
    own = variance[:, list(names).index("country")]
    return float((own / (variance.sum(1) + RESIDUAL) < THRESHOLD).mean())


def decide(answers: Sequence[ShareAnswer]) -> str:
    """`below` or `above` the threshold where every prior is sure of it; else `undetermined`.

    `unchecked: model fit failed` where the gates of any fit did not hold.
    """
    if not all(each.gates.passed for each in answers):
        return "unchecked: model fit failed"
    if all(each.below >= SURE for each in answers):
        return "below"
    if all(each.below <= 1 - SURE for each in answers):
        return "above"
    return "undetermined"
