"""Recovery of the country's share by the fast engine from synthetic labels of known truth, for four designs.

The true population share is 3.3% in each. Of a hybrid design all items are fitted, and those of all countries only, as
`countback fit` does. `python tests/golden/recovery_cases.py FOLDER` makes recovery.json and goes
on from what is in FOLDER: 2 to 6 CPU-seconds a simulation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from countback.models import simulate
from countback.models.approximate import fit_approximate
from countback.models.ordinal import R2D2, ordinal_data, shares
from countback.models.studies import run_study

SEEDS = range(24)
CUTPOINTS = (-0.8, 0.8)
SDS = {"country": 0.4, "question": 0.5, "country:question": 0.4, "item": 0.8, "annotator": 0.6}
# one item a question: the two are one effect, of both variances
ONE_ITEM = {"country": 0.4, "question": float(np.hypot(0.5, 0.8)), "country:question": 0.4, "annotator": 0.6}
HYBRID = simulate.hybrid(4, 11, 1, 22, pool=8, labels=5)
DESIGNS: dict[str, tuple[simulate.Layout, simulate.Truth]] = {
    "nested, content shift": (simulate.released_layout(), simulate.Truth(SDS | {"origin": 1.0}, CUTPOINTS)),
    "crossed, 10 x 4": (simulate.crossed(4, 10, 10, pool=8, labels=5), simulate.Truth(ONE_ITEM, CUTPOINTS)),
    "crossed, 10 x 12": (simulate.crossed(12, 10, 10, pool=8, labels=5), simulate.Truth(ONE_ITEM, CUTPOINTS)),
    "hybrid, content shift, all items": (HYBRID, simulate.Truth(SDS | {"origin": 1.0}, CUTPOINTS)),
    "hybrid, content shift, shared items": (HYBRID, simulate.Truth(SDS | {"origin": 1.0}, CUTPOINTS)),
}
SHARED_ONLY = "hybrid, content shift, shared items"


def recovered(seed: int, design: str) -> dict[str, Any]:
    """Posterior mean, median and 90% interval of the population and finite share, beside the true ones."""
    layout, truth = DESIGNS[design]
    made = simulate.simulate(layout, truth, np.random.default_rng([20261130, seed]))
    kept = layout.origin[made.item] < 0 if design == SHARED_ONLY else np.ones(len(made.item), bool)
    data = ordinal_data(
        made.label[kept],
        made.item[kept],
        made.country[kept],
        made.annotator[kept],
        question=made.question[kept],
        categories=3,
        countries=[f"country {code}" for code in range(layout.countries)],
    )
    posterior = fit_approximate(data, R2D2(), seed=seed, enough=200.0)
    told = shares(posterior)
    rest = sum(sd**2 for name, sd in truth.sds.items() if name not in ("country", "origin")) + np.pi**2 / 3
    here = made.effects["country"].var(ddof=1)
    true = {"population": truth.sd("country") ** 2 / (truth.sd("country") ** 2 + rest), "finite": here / (here + rest)}
    result: dict[str, Any] = {"seed": seed, "passed": posterior.gates.passed, "effects": list(data.names)}
    for name, values in (("population", told.population), ("finite", told.finite)):
        low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
        result[name] = {"true": true[name], "mean": values.mean(), "median": median, "low": low, "high": high}
    return result


def table(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Bias of the posterior mean, coverage and mean width of the 90% interval, of fits that passed their gates."""
    used = [row for row in rows if row["passed"]]
    result: dict[str, Any] = {"simulations": len(rows), "gates failed": len(rows) - len(used)}
    for name in ("population", "finite"):
        told = [row[name] for row in used]
        result[name] = {
            "bias": round(float(np.mean([one["mean"] - one["true"] for one in told])), 4),
            "covered": sum(one["low"] <= one["true"] <= one["high"] for one in told),
            "width": round(float(np.mean([one["high"] - one["low"] for one in told])), 4),
        }
    return result


if __name__ == "__main__":
    found = {}
    for at, design in enumerate(DESIGNS):
        found[design] = table(run_study(partial(recovered, design=design), SEEDS, Path(sys.argv[1]) / str(at), chunk=2))
    text = json.dumps({"prior": str(R2D2()), "level": 0.9, "designs": found}, indent=1) + "\n"
    (Path(__file__).parent / "recovery.json").write_text(text, encoding="utf-8")
