"""What `countback fit` found, as data: nothing here is worded, and nothing is computed but summaries of draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from countback.audit.fit.options import APPROXIMATE
from countback.audit.fit.source import Labels
from countback.audit.judge.tree import plain
from countback.models.fits import effective, probability_error, quantile_errors
from countback.models.identifiability import Design
from countback.models.ordinal import RESIDUAL, Floats, OrdinalData, Posterior, Prior, ShareAnswer, shares
from countback.models.shares import CountryShare

if TYPE_CHECKING:
    from countback.models.flattening import JointPosterior, JudgeFlattening

SCHEMA = "countback.fit/1"
LEVEL = 0.95
COUNTRY_EFFECTS = ("country", "country:question")  # what takes in content where countries have items of their own


@dataclass(frozen=True)
class Span:
    """Median and ends of an equal-tailed interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """One effect: its standard deviation in logits and its share of all variance, the residual counted."""

    name: str
    sd: Span
    share: Span


@dataclass(frozen=True)
class Fit:
    """One prior's fit. `parts` are in the order of the model, the residual last; `by_prior` is what the prior alone
    says of the share of any one effect; `countries` are effects in logits, towards the last label of the scale.
    `errors` are Monte Carlo standard errors of the shares' medians and ends, `below_error` that of P(share < 5%)."""

    posterior: Posterior
    answer: ShareAnswer
    shares: Mapping[str, Span]
    parts: tuple[Part, ...]
    by_prior: Span
    countries: tuple[tuple[str, Span], ...]
    errors: Mapping[str, Mapping[str, float]]
    below_error: float

    @property
    def passed(self) -> bool:
        return self.posterior.gates.passed


@dataclass(frozen=True)
class Joint:
    """The model of humans and judges together, under the prior that numbers are given for, and what it says of each
    judge beside the people and items that were there. `notes` say which judges are not in it and why."""

    posterior: JointPosterior
    judges: tuple[JudgeFlattening, ...]
    level: float
    missing: tuple[int, ...]
    unmatched: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.posterior.gates.passed


@dataclass(frozen=True)
class Found:
    """The whole answer. `fence` says why the country's effect is not one of countries alone; empty where it is.

    `left_out` are effects that the user did without. `chains` is 0 for an engine without any; draws of a fit are chain
    after chain. `fits` begin with the prior that the numbers are given for; `decision` is empty behind a fence and
    without the sweep of priors. `rule` is what the rule of prediction cubes/p2 makes of each prior's interval and of
    that by moments. `moments` is the share without a model, or the sentence that says why there is none.
    """

    labels: Labels
    data: OrdinalData
    design: Design
    fence: str
    left_out: tuple[str, ...]
    engine: str
    why_engine: str
    chains: int
    seed: int
    fits: tuple[Fit, ...]
    decision: str
    rule: Mapping[str, str]
    moments: CountryShare | str
    joint: Joint | None
    versions: Mapping[str, str]

    @property
    def main(self) -> Fit:
        return self.fits[0]

    @property
    def passed(self) -> bool:
        return all(fit.passed for fit in self.fits) and (self.joint is None or self.joint.passed)

    @property
    def exit_code(self) -> int:
        """3 where the question of countries has no answer: a fit failed, or the design cannot give one."""
        return 0 if self.passed and not self.fence else 3


def span(draws: Floats) -> Span:
    low, median, high = np.quantile(draws, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return Span(float(median), float(low), float(high))


def summed_up(posterior: Posterior, answer: ShareAnswer, rng: np.random.Generator) -> Fit:
    """A posterior's spans; `answer` is what `ordinal.answer` made of it."""
    variance = posterior.sd**2
    total = variance.sum(1) + RESIDUAL
    parts = [
        Part(name, span(posterior.sd[:, k]), span(variance[:, k] / total)) for k, name in enumerate(posterior.names)
    ]
    sd = RESIDUAL**0.5
    parts.append(Part("residual", Span(sd, sd, sd), span(RESIDUAL / total)))
    order = np.argsort(np.median(posterior.country, axis=0), kind="stable")
    found, ess = shares(posterior), effective(posterior)
    return Fit(
        posterior,
        answer,
        {name: span(getattr(found, name)) for name in _SHARES},
        tuple(parts),
        _prior_span(posterior.prior, len(posterior.names), rng),
        tuple((posterior.countries[c], span(posterior.country[:, c])) for c in order),
        {name: quantile_errors(getattr(found, name), ess) for name in _SHARES},
        probability_error(answer.below, ess),
    )


_SHARES = ("population", "finite", "population_effects", "finite_effects", "linear")


def _prior_span(prior: Prior, effects: int, rng: np.random.Generator, draws: int = 50_000) -> Span:
    variance = prior.draw(effects, draws, rng) ** 2
    return span(variance[:, 0] / (variance.sum(1) + RESIDUAL))


def as_json(found: Found) -> dict[str, Any]:
    """Plain values, schema countback.fit/1. A fit that failed its gates has no numbers but those of its gates."""
    labels, data = found.labels, found.data
    return {
        "schema": SCHEMA,
        "kit": dict(found.versions),
        "synthetic": labels.synthetic,
        "unverified": labels.unverified,
        "input": {
            "name": labels.name,
            "files": plain(labels.files),
            "questions": list(labels.asked),
            "scale": list(labels.scale),
            "labels": int(data.weight.sum()),
            "rows": len(data.weight),
            "dropped": dict(labels.dropped),
            "judges": {judge.name: {"units": len(judge.answers), "missing": judge.missing} for judge in labels.judges},
        },
        "design": {
            "kind": found.design.kind,
            "separable": found.design.separable,
            "confounded": found.fence,
            **{k: v for k, v in plain(found.design).items() if k != "countries"},
            "countries": [labels.countries[code] for code in found.design.countries],
        },
        "model": {
            "effects": list(data.names),
            "left out": list(data.notes),
            "left out as asked": list(found.left_out),
            "engine": found.main.posterior.engine,
            "approximate": found.engine == APPROXIMATE,
            "why this engine": found.why_engine,
            "seed": found.seed,
            "chains": found.chains or None,
        },
        "decision": found.decision or None,
        "rule of cubes/p2": dict(found.rule),
        "moments": found.moments if isinstance(found.moments, str) else _moments(found.moments, found.fence),
        "fits": [_fit_json(fit, found.fence) for fit in found.fits],
        "flattening": None if found.joint is None else _joint_json(found.joint),
    }


def _joint_json(joint: Joint) -> dict[str, Any]:
    posterior = joint.posterior
    told = {
        "engine": posterior.engine,
        "prior": str(posterior.prior),
        "draws": len(posterior.sd),
        "seed": posterior.seed,
        "gates": plain(posterior.gates),
        "level": joint.level,
        "holds for": "the annotators who were there and the items they labelled",
        "notes": list(joint.notes),
    }
    if not joint.passed:
        return {**told, "verdict": "unchecked: model fit failed"}
    counted = zip(joint.judges, joint.missing, joint.unmatched, strict=True)
    return {
        **told,
        "judges": [{**plain(judge), "missing": missing, "unmatched": spare} for judge, missing, spare in counted],
    }


def _moments(share: CountryShare, fence: str) -> dict[str, Any]:
    told = {name: getattr(share, name) for name in ("share", "low", "high", "level", "labels", "items")}
    return {**told, "scale": "linear", "confounded": bool(fence)}


def _fit_json(fit: Fit, fence: str) -> dict[str, Any]:
    gates = plain(fit.posterior.gates)
    told = {"prior": str(fit.posterior.prior), "draws": len(fit.posterior.sd), "gates": gates}
    if not fit.passed:
        return {**told, "verdict": "unchecked: model fit failed"}
    return {
        **told,
        "country share": {**plain(fit.shares), "confounded": bool(fence)},
        "P(share < 5%)": None if fence else fit.answer.below,
        "P(share < 5%), prior alone": fit.answer.prior_below,
        "Monte Carlo error": {**plain(fit.errors), "P(share < 5%)": None if fence else fit.below_error},
        "parts": {part.name: {"sd": plain(part.sd), "share": plain(part.share)} for part in fit.parts},
        "share of one effect, prior alone": plain(fit.by_prior),
        "countries": None if fence else {name: plain(effect) for name, effect in fit.countries},
    }
