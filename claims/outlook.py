"""The forecast of a prediction, made when it is asked for: on leads from the data at hand, on a share given a design.

A forecast that was registered stands in predictions.toml and is scored; this one changes with the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from countback.claims import crossed
from countback.claims.prediction import PrintedSpec
from countback.claims.resolve_lead import LeadRule
from countback.claims.resolve_share import ShareRule
from countback.claims.settling import Counted
from countback.models.forecast import Drawn, KnownLead, Model, OutcomeRule, draw_leads, forecast, printed_se

SEED, DRAWS, SWEEP_DRAWS = 20261129, 100_000, 20_000
SWEEP = (Model(mu_sd=0.06), Model(mu_sd=0.25), Model(tau_scale=0.06), Model(tau_scale=0.15))
CALIBRATION = "on simulated studies, tests/golden/forecast_calibration.md in the sources"
SHARE_CALIBRATION = "on other synthetic studies, tests/golden/forecast_share.md in the sources"
PRINTED = (
    "printed counts; standard errors approximated as those of the judge's rate over items; no labels at hand, so it is "
    "not from the release"
)
REACH = 2 * 1.959964  # from the width of a 95% interval to a standard error


@dataclass(frozen=True)
class Outlook:
    """Probability of each outcome; `others` are the lowest and highest under a sweep of priors, its own among them."""

    probability: dict[str, float]
    mc_error: dict[str, float]
    others: dict[str, tuple[float, float]]
    model: str
    rests_on: str
    calibration: str
    draws: int
    seed: int


def from_printed(printed: Sequence[PrintedSpec], rule: LeadRule) -> Outlook | None:
    """From counts that a paper prints; None where it does not say on how many items they rest."""
    known = []
    for row in printed:
        if row.items is None:
            return None
        error = printed_se(row.n, row.judge, row.n / row.items)
        known.append(KnownLead(tuple(row.countries), row.n, row.judge - row.human, error))
    return _outlook(tuple(known), rule, PRINTED)


def from_counted(counted: Counted, rule: LeadRule) -> Outlook | None:
    """From leads counted on released labels; their bootstrap intervals give the standard errors."""
    known = []
    for lead in counted.leads:
        ends = counted.intervals.get(lead.countries[0]) if len(lead.countries) == 1 else None
        if ends is None or lead.low != lead.high:
            return None
        known.append(KnownLead(lead.countries, lead.n, lead.low, (ends[1] - ends[0]) / REACH / 100))
    what = "a SYNTHETIC stand-in, which proves nothing" if counted.synthetic else "labels of the released files"
    return _outlook(tuple(known), rule, f"{what}; standard errors by a bootstrap of items")


def from_designs(folder: Path, rule: ShareRule) -> Outlook | None:
    """Of a country's share, given that a crossed study is made; None where the paper's `folder` has no study of that.

    No data enters: labels of items that were not crossed say nothing of a share.
    """
    path = folder / "studies" / "crossed.json"
    if rule.threshold != crossed.THRESHOLD or not path.exists():
        return None
    tables = crossed.read(path)
    own = crossed.forecasts(tables, crossed.PRIOR)
    found = own[crossed.ANY]
    swept = [found, *(crossed.forecasts(tables, prior)[crossed.ANY] for prior in crossed.OTHER_PRIORS)]
    ends = {
        name: (min(each), max(each))
        for name, *each in zip(found.outcomes, *(one.probability for one in swept), strict=True)
    }
    given = "; ".join(
        f"{design}: {', '.join(f'{n} {p:.2f}' for n, p in zip(one.outcomes, one.probability, strict=True))}"
        for design, one in own.items()
        if design != crossed.ANY
    )
    return Outlook(
        dict(zip(found.outcomes, found.probability, strict=True)),
        dict(zip(found.outcomes, found.mc_error, strict=True)),
        ends,
        f"logit-normal true share, median {crossed.PRIOR.median}, spread {crossed.PRIOR.spread} (from nine published "
        f"crossed shares), and synthetic studies: moment estimator, frozen rule, doubt={Model.doubt:g}",
        f"no labels: it is given that a crossed study is made, with {crossed.ANY}. {given}",
        SHARE_CALIBRATION,
        found.draws,
        crossed.SEED,
    )


def _outlook(known: tuple[KnownLead, ...], rule: LeadRule, rests_on: str) -> Outlook | None:
    names = {name for lead in known for name in lead.countries}
    open_names = [name for name in rule.trailing if name not in names]
    more = rule.countries + len(rule.leave_out) - len(names) - len(open_names)
    if not known or more < 0:
        return None
    missing = (*open_names, *(f"country {number}" for number in range(1, more + 1)))
    own = OutcomeRule(rule.at_least, rule.margin, rule.trailing, rule.trail, rule.leave_out, rule.only)
    model = Model()
    found = forecast(_drawn(known, missing, model, DRAWS), own, model)
    swept = [found.probability]
    swept += [forecast(_drawn(known, missing, other, SWEEP_DRAWS), own, other).probability for other in SWEEP]
    return Outlook(
        dict(zip(found.outcomes, found.probability, strict=True)),
        dict(zip(found.outcomes, found.mc_error, strict=True)),
        {name: (min(each), max(each)) for name, *each in zip(found.outcomes, *swept, strict=True)},
        f"hierarchical normal on leads by country: {', '.join(f'{k}={v:g}' for k, v in vars(model).items())}",
        rests_on,
        CALIBRATION,
        DRAWS,
        SEED,
    )


@lru_cache(maxsize=8)
def _drawn(known: tuple[KnownLead, ...], missing: tuple[str, ...], model: Model, draws: int) -> Drawn:
    """The same completions for every prediction of a paper."""
    return draw_leads(known, missing, draws, np.random.default_rng(SEED), model)
