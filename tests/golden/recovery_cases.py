"""Recovery of the country's share by the fast engine from synthetic labels of known truth, for four designs.

The true population share is 3.3% in each. See recovery.md for how the committed table was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from countback.models import simulate
from countback.models.approximate import fit_approximate
from countback.models.ordinal import R2D2, ordinal_data, shares

CUTPOINTS = (-0.8, 0.8)
SDS = {"country": 0.4, "question": 0.5, "country:question": 0.4, "item": 0.8, "annotator": 0.6}
# one item a question: the two are one effect, of both variances
ONE_ITEM = {"country": 0.4, "question": float(np.hypot(0.5, 0.8)), "country:question": 0.4, "annotator": 0.6}
DESIGNS: dict[str, tuple[simulate.Layout, simulate.Truth]] = {
    "nested, content shift": (simulate.released_layout(), simulate.Truth(SDS | {"origin": 1.0}, CUTPOINTS)),
    "crossed, 10 x 4": (simulate.crossed(4, 10, 10, pool=8, labels=5), simulate.Truth(ONE_ITEM, CUTPOINTS)),
    "crossed, 10 x 12": (simulate.crossed(12, 10, 10, pool=8, labels=5), simulate.Truth(ONE_ITEM, CUTPOINTS)),
    "hybrid, content shift": (
        simulate.hybrid(4, 11, 1, 11, pool=8, labels=5),
        simulate.Truth(SDS | {"origin": 1.0}, CUTPOINTS),
    ),
}


def recovered(seed: int, design: str) -> dict[str, Any]:
    """Posterior mean, median and 90% interval of the population and finite share, beside the true ones."""
    layout, truth = DESIGNS[design]
    made = simulate.simulate(layout, truth, np.random.default_rng([20261130, seed]))
    data = ordinal_data(
        made.label,
        made.item,
        made.country,
        made.annotator,
        question=made.question,
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
