"""Where the article leaves a definition open: every reading that a careful reader might take, side by side.

A recipe computes them all and asks which meet what is printed. Where values are printed for one definition, a reading
must meet all of them together, so that trying many readings does not make agreement cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from countback.claims.papers.cubes.read import LABELS
from countback.claims.papers.cubes.study import DRAWS, SEED, Study
from countback.claims.reported import parse
from countback.claims.verdict import SIGMAS
from countback.models.agreement import pool_kappa
from countback.models.culture import Rule, Strata
from countback.models.grid import stability, tie_report
from countback.models.nulls import QuestionTest, Statistic, Value, question_tests
from countback.models.timing import Agreement, fast_slow

Resample = Literal["items", "labels", "items and labels"]


def meets(value: float | Fraction, printed: str, slack: float = 0.0) -> bool:
    """Whether a value prints as `printed`, allowing for `slack` on both sides."""
    interval = parse(printed).interval
    reach = Fraction(slack) + abs(Fraction(value)) / 10**12
    return interval.low - reach <= Fraction(value) <= interval.high + reach


def choose(
    readings: Mapping[str, float], printed: str, *, mc_errors: Mapping[str, float] | None = None
) -> tuple[str, tuple[str, ...]]:
    """The reading that decides, and notes on the choice.

    The first reading is the default. Where it does not meet what is printed and another does, that one decides and the
    note says so; where none does, the default stands and the claim differs.
    """
    errors = mc_errors or {}
    good = [name for name, x in readings.items() if meets(x, printed, SIGMAS * errors.get(name, 0.0))]
    default = next(iter(readings))
    if not good:
        return default, (f"none of {len(readings)} readings meets {printed}",)
    chosen = default if default in good else good[0]
    return chosen, (f"{len(good)} of {len(readings)} readings meet {printed}: {'; '.join(good)}",)


def joint(readings: Mapping[str, Mapping[str, float]], printed: Mapping[str, str]) -> tuple[str, str]:
    """The first reading whose values all meet what is printed, else the default; and a note on the choice."""
    good = [name for name, values in readings.items() if all(meets(values[key], text) for key, text in printed.items())]
    wanted = " and ".join(f"{key} {text}" for key, text in printed.items())
    note = f"the definition is not stated; {len(good)} of {len(readings)} readings meet {wanted} together"
    return (good or list(readings))[0], note + (f": {'; '.join(good)}" if good else "")


def ties(study: Study) -> dict[str, int]:
    """Cells that are ties, by the level at which a tie counts."""
    report = tie_report(study.questioned)
    dropped = tie_report(study.questioned, Rule(item_ties="drop"))
    return {
        "the mode of the items is tied": int(report.tied_cell.sum()),
        "the mode is tied once tied items are left out": int(dropped.tied_cell.sum()),
        "another way of breaking ties gives another letter": int(report.decided.sum()),
        "a tie at either level": report.counts()["tied at either level"],
    }


def unstable(study: Study, share: float) -> dict[str, int]:
    """Cells that keep their letter in fewer than `share` of the resamples, by what is resampled."""
    ways: dict[str, tuple[Resample, Strata]] = {
        "items resampled within cells": ("items", "cell"),
        "items resampled within countries": ("items", "country"),
        "labels resampled within items": ("labels", "cell"),
        "items and their labels resampled": ("items and labels", "cell"),
    }
    votes = study.questioned
    return {
        name: stability(votes, draws=4000, rng=np.random.default_rng(SEED), resample=what, strata=strata).below(share)
        for name, (what, strata) in ways.items()
    }


@cache
def tests(study: Study) -> dict[str, tuple[QuestionTest, ...]]:
    """The permutation test of every question, by statistic."""
    ways: dict[str, tuple[Statistic, Value]] = {
        "variance of country means": ("variance", "labels"),
        "variance of country means weighted by items": ("weighted-variance", "labels"),
        "range of country means": ("range", "labels"),
        "variance of the majorities' means": ("variance", "majority"),
        "range of the majorities' means": ("range", "majority"),
        "chi-square of the majorities": ("chi-square", "majority"),
    }
    votes = study.questioned
    return {
        name: question_tests(votes, draws=DRAWS, rng=np.random.default_rng(SEED), statistic=statistic, value=value)
        for name, (statistic, value) in ways.items()
    }


def kappas(study: Study, country: str) -> dict[str, dict[str, float]]:
    """Kappa pooled over a country's pairs, once each and weighted by shared items, by what is done with poor pairs."""
    readings = {}
    for least, observed in product((1, 2, 3, 4, 5), (False, True)):
        pairs = study.kappas(country, least, observed=observed)
        for undefined in (None, 0.0, 1.0):
            pooled = pool_kappa(pairs, undefined=undefined)
            name = f"pairs with {least} shared items or more, {'observed' if observed else 'fixed'} categories, "
            name += "undefined pairs left out" if undefined is None else f"undefined pairs as {undefined:g}"
            readings[name] = {"mean": pooled.mean, "weighted": pooled.weighted}
    return readings


@cache
def speeds(study: Study) -> dict[str, dict[str, float]]:
    """Agreement of fast and of slow labels in percent, by where the cut lies, within what, and agreement with whom."""
    humans = study.humans
    cuts = {
        "halves": (0.5, 0.5),
        "outer thirds": (1 / 3, 2 / 3),
        "outer quarters": (0.25, 0.75),
        "outer fifths": (0.2, 0.8),
        "first third and the rest": (1 / 3, 1 / 3),
        "first quarter and the rest": (0.25, 0.25),
        "first fifth and the rest": (0.2, 0.2),
    }
    groups = {"over all": None, "within countries": humans.country, "within annotators": humans.annotator}
    against: dict[str, Agreement] = {"the majority of the others": "majority", "each of the others": "peers"}
    readings = {}
    for cut, group, other in product(cuts, groups, against):
        found = fast_slow(
            humans.item, humans.annotator, study.human_labels, humans.seconds, len(LABELS), cut=cuts[cut],
            within=groups[group], agreement=against[other], draws=4, rng=np.random.default_rng(SEED),
        )  # fmt: skip
        name = f"{cut} {group}, agreement with {other}"
        readings[name] = {"fast": 100 * found.fast.value, "slow": 100 * found.slow.value}
    return readings


def as_floats(readings: Mapping[str, int]) -> dict[str, float]:
    return {name: float(x) for name, x in readings.items()}
