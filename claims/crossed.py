"""What a crossed study would decide about a country's share, by its design, from synthetic studies.

`came` simulates studies at one true share, estimates the share as `countback predict resolve` does, and applies the
frozen rule. How often each outcome came lies beside the paper (studies/crossed.json), so that a forecast under any
prior is a weighted mean that takes no time (countback.claims.outlook).

    python -m countback.claims.crossed crossed.json --folder DIR      simulates, resumable in DIR, and writes the file
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from countback.claims.decision import BROKEN, CONFIRMED, NEITHER
from countback.claims.resolve_share import Share, ShareRule, decide
from countback.claims.spec import read_text
from countback.fetch.errors import UserError
from countback.models.forecast import (
    SHARE_GRID,
    CrossedDesign,
    Forecast,
    Model,
    SharePrior,
    crossed_share,
    share_forecast,
)
from countback.models.studies import write_study
from numpy.typing import NDArray

SCHEMA = "countback.study/1"
SEED, STUDIES, BATCHES = 20261129, 50, 8
THRESHOLD = Fraction(5, 100)
OUTCOMES = (CONFIRMED, BROKEN, NEITHER)
DESIGNS = tuple(CrossedDesign(items, countries) for items, countries in product((10, 31, 100), (4, 12)))
CELLS = tuple(product(range(len(DESIGNS)), range(len(SHARE_GRID))))

# Shares of crossed data sets by the same estimator: Multi3Hate, and eight questions of RTP-LX (tests/golden/shares.md).
PUBLISHED = (0.0050, 0.0911, 0.0539, 0.0309, 0.2926, 0.0236, 0.0180, 0.0589, 0.0208)
# Their logits have the mean of 0.038 and a standard deviation of 1.24; wider here, because eight are of one study.
PRIOR = SharePrior(0.038, 1.5)
OTHER_PRIORS = (SharePrior(0.038, 0.8), SharePrior(0.015, 1.5), SharePrior(0.09, 1.5), SharePrior(0.038, 2.5))
ANY = "one of these designs, each as likely"

Counts = NDArray[np.int64]


def came(number: int, studies: int = STUDIES, seed: int = SEED) -> dict[str, Any]:
    """How often each of OUTCOMES came in one batch of one of CELLS; batches go round the cells."""
    batch, cell = divmod(number, len(CELLS))
    design, share = DESIGNS[CELLS[cell][0]], SHARE_GRID[CELLS[cell][1]]
    rng = np.random.default_rng([seed, cell, batch])
    found = [outcome(design, crossed_share(design, share, rng)) for _ in range(studies)]
    return {"cell": cell, "came": [found.count(name) for name in OUTCOMES]}


def outcome(design: CrossedDesign, found: tuple[float, float, float]) -> str:
    """What the frozen rule makes of a share and its 95% interval."""
    share, low, high = map(Fraction, found)
    decision = decide(Share(share, low, high, design.countries, design.items, True), ShareRule(THRESHOLD))
    return decision.outcome


def gather(batches: Sequence[dict[str, Any]]) -> dict[str, Counts]:
    """How often each outcome came, (shares of the grid, outcomes), by design."""
    total = np.zeros((len(CELLS), len(OUTCOMES)), np.int64)
    for batch in batches:
        total[batch["cell"]] += batch["came"]
    tables = total.reshape(len(DESIGNS), len(SHARE_GRID), -1)
    return {str(design): table for design, table in zip(DESIGNS, tables, strict=True)}


def read(path: Path) -> dict[str, Counts]:
    """The tables of a stored study, by design. Raises UserError for a file that `main` did not write."""
    try:
        tables = {design: np.array(table, np.int64) for design, table in json.loads(read_text(path))["came"].items()}
    except (ValueError, LookupError, TypeError, AttributeError):
        tables = {}
    if not tables or any(table.shape != (len(SHARE_GRID), len(OUTCOMES)) for table in tables.values()):
        raise UserError(
            f"{path}: expected, under came, how often each of {', '.join(OUTCOMES)} came at {len(SHARE_GRID)} "
            f"shares, by design; write it again: python -m countback.claims.crossed {path} --folder DIR"
        )
    return tables


def forecasts(tables: dict[str, Counts], prior: SharePrior) -> dict[str, Forecast]:
    """The forecast given each design, and given that it will be one of them (ANY), each as likely as any other."""
    found = {design: share_forecast(OUTCOMES, table, prior) for design, table in tables.items()}
    each = list(found.values())

    def mean(rows: list[tuple[float, ...]]) -> tuple[float, ...]:
        return tuple(map(float, np.mean(rows, axis=0)))

    errors = tuple(map(float, np.sqrt(np.square([one.mc_error for one in each]).sum(axis=0)) / len(each)))
    probability, drawn = mean([one.probability for one in each]), mean([one.drawn for one in each])
    return found | {ANY: Forecast(OUTCOMES, probability, errors, drawn, sum(one.draws for one in each))}


def study(tables: dict[str, Counts]) -> dict[str, Any]:
    """The stored study: a row for each design and outcome, by PRIOR with the range over OTHER_PRIORS."""
    own, *others = (forecasts(tables, prior) for prior in (PRIOR, *OTHER_PRIORS))
    rows = []
    for (design, found), (place, name) in product(own.items(), enumerate(OUTCOMES)):
        chances = [found.probability[place], *(each[design].probability[place] for each in others)]
        row = {"value": chances[0], "low": min(chances), "high": max(chances), "mc_error": found.mc_error[place]}
        rows.append({"name": f"{design}: {name}", **{key: round(value, 4) for key, value in row.items()}})
    shown = {row["name"]: row for row in rows}
    return {
        "schema": SCHEMA,
        "title": "What a crossed study would decide about the country's share, in synthetic studies",
        "question": "If the same items are labelled in several countries, how probable is each outcome of the rule?",
        "answer": [
            f"{design}: {name} {row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f} under other priors)."
            for design, name in product((str(DESIGNS[0]), str(DESIGNS[1]), str(DESIGNS[-1])), OUTCOMES)
            for row in (shown[f"{design}: {name}"],)
        ],
        "rows": rows,
        "reading": f"Value: probability under one prior of the true share, with {Model.doubt:.0%} doubt mixed in, "
        "spread evenly over the outcomes; ends: lowest and highest over four other priors, which move it by far more "
        "than Monte Carlo error does. All studies are synthetic; the estimator and the rule are those that would "
        "decide.",
        "settings": {
            "threshold": str(THRESHOLD),
            "true shares": list(SHARE_GRID),
            "studies of a design and a share": STUDIES * BATCHES,
            "prior": vars(PRIOR),
            "doubt": Model.doubt,
            "other priors": [vars(prior) for prior in OTHER_PRIORS],
            "published shares behind the prior": list(PUBLISHED),
        },
        "seed": SEED,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "came": {design: table.tolist() for design, table in tables.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    seeds = range(len(CELLS) * BATCHES)
    write_study(came, seeds, lambda batches: study(gather(batches)), "countback.claims.crossed", arguments)


if __name__ == "__main__":
    main()
