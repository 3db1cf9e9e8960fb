"""How to fit, as a user says it: priors as they are printed, and the engine where none is named."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from countback.fetch.errors import UserError
from countback.models.ordinal import R2D2, SWEEP, HalfNormal, Prior
from countback.models.sampling import available

NUTS, APPROXIMATE = "nuts", "approximate"
MOST_LABELS = 20_000  # with more, sampling takes hours
DRAWN_LABELS = 5_000  # so of more, whole items are drawn at random until there are about as many
DRAWS = {NUTS: 1000, APPROXIMATE: 4000}  # of each chain; in all


@dataclass(frozen=True)
class Options:
    """How to fit. `engine` None chooses; `priors` begin with the one that numbers are given for; `draws` are of each
    chain, or in all where there are no chains. `own_items`: items of one country only stay in beside shared ones.
    `items` are drawn at random, 0 for all; None takes all where that can be sampled in minutes."""

    engine: str | None = None
    priors: tuple[Prior, ...] = SWEEP
    leave_out: tuple[str, ...] = ()
    own_items: bool = False
    items: int | None = None
    seed: int = 20261129
    draws: int | None = None
    chains: int = 4
    jobs: int | None = None
    progress: bool = False
    joint: bool = False


def parse_prior(text: str) -> Prior:
    """ "R2D2", "R2D2(2, 2; 1)" or "HalfNormal(0.5)", as they are printed."""
    found = re.fullmatch(r"\s*(R2D2|HalfNormal)\s*(?:\(([^()]*)\))?\s*", text, re.IGNORECASE)
    try:
        numbers = [float(part) for part in re.split(r"[,;]", found[2])] if found and found[2] else []
        if found and all(0 < number < np.inf for number in numbers):
            if found[1].lower() == "r2d2" and len(numbers) in (0, 2, 3):
                return R2D2(*numbers)
            if found[1].lower() == "halfnormal" and len(numbers) == 1:
                return HalfNormal(numbers[0])
    except ValueError:
        pass
    raise UserError(
        f"--prior {text!r} is not understood; expected one such as "
        f"{', '.join(map(str, SWEEP[:3]))}, with numbers above 0"
    )


def priors(main: Prior | None, *, sweep: bool) -> tuple[Prior, ...]:
    """The prior that numbers are given for, and the others of the sweep."""
    first = main if main is not None else SWEEP[0]
    return (first, *(prior for prior in SWEEP if prior != first)) if sweep else (first,)


def choose(engine: str | None) -> tuple[str, str]:
    """The engine and why. Raises UserError where the one that was asked for is not installed."""
    try:
        available("nutpie")
        missing = ""
    except UserError as error:
        missing = str(error)
    if engine == NUTS and missing:
        raise UserError(f"--engine nuts: {missing}; --engine approximate needs nothing")
    if engine is not None:
        return engine, "asked for"
    return (APPROXIMATE, f"nothing is sampled: {missing}") if missing else (NUTS, "installed")
