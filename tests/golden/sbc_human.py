"""Simulation-based calibration of the ordinal model (Talts et al. 2018): parameters from the prior, labels from them.

A seed alone decides the design, the truth and the labels; what comes back is where each true value lies among the
posterior's draws. Data are synthetic. See sbc_human.md for how the committed summary was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models import simulate
from countback.models.approximate import fit_approximate
from countback.models.ordinal import R2D2, OrdinalData, Posterior, draw_cutpoints, ordinal_data, shares, shares_of

PRIOR = R2D2()
ALL = ("country", "question", "country:question", "item", "annotator", "item:country")
Design = tuple[str, simulate.Layout, int, tuple[str, ...]]  # with the number of categories, and the effects
DESIGNS: tuple[Design, ...] = (
    ("nested", simulate.nested(4, 5, 3, pool=6, labels=4), 5, ALL[:5]),
    ("crossed", simulate.crossed(4, 5, 15, pool=6, labels=3), 2, ALL),
    ("hybrid", simulate.hybrid(4, 5, 1, 10, pool=6, labels=4), 3, ALL),
)
QUICK: tuple[Design, ...] = (
    ("nested", simulate.nested(4, 5, 2, pool=6, labels=4), 3, ALL[:5]),
    ("crossed", simulate.crossed(4, 10, 10, pool=6, labels=4), 2, (*ALL[:3], "annotator")),
    ("hybrid", simulate.hybrid(4, 1, 6, 8, pool=6, labels=4), 5, ("country", *ALL[3:])),
)


def case(seed: int, designs: tuple[Design, ...] = DESIGNS) -> tuple[OrdinalData, dict[str, float], str]:
    """Synthetic labels, the true values by name, and the design. Raises UserError where the labels do not vary."""
    rng = np.random.default_rng([20261129, seed])
    design, layout, categories, names = designs[seed % len(designs)]
    sd = PRIOR.draw(len(names), 1, rng)
    cutpoints = draw_cutpoints(categories, 1, rng)
    truth = simulate.Truth(dict(zip(names, sd[0], strict=True)), tuple(cutpoints[0]))
    made = simulate.simulate(layout, truth, rng)
    countries = [f"country {code}" for code in range(layout.countries)]
    data = ordinal_data(
        made.label,
        made.item,
        made.country,
        made.annotator,
        question=made.question if layout.questions > 1 else None,
        categories=categories,
        countries=countries,
    )
    if data.names != names:
        raise AssertionError(f"found effects {data.names}; expected {names}")
    country = made.effects["country"]
    told = shares_of(sd, names, cutpoints, country[None])
    values = {f"sd {name}": float(value) for name, value in zip(names, sd[0], strict=True)}
    values |= {"contrast": float(country[0] - country[-1]), "centre": float(cutpoints.mean())}
    return data, values | {"population": float(told.population[0]), "finite": float(told.finite[0])}, design


def drawn(posterior: Posterior) -> dict[str, Any]:
    """The posterior's draws of what `case` calls true, by the same names."""
    told = shares(posterior)
    values = {f"sd {name}": posterior.sd[:, k] for k, name in enumerate(posterior.names)}
    values |= {"contrast": posterior.country[:, 0] - posterior.country[:, -1]}
    values |= {"centre": posterior.cutpoints.mean(1)}
    return values | {"population": told.population, "finite": told.finite}


def ranked(seed: int) -> dict[str, Any]:
    """Share of the fast engine's draws below the truth, by name; `skipped` where nothing could be fitted."""
    try:
        data, truth, design = case(seed, QUICK)
    except UserError:
        return {"seed": seed, "skipped": True}
    posterior = fit_approximate(data, PRIOR, seed=seed, enough=100.0)
    below = {name: float((values < truth[name]).mean()) for name, values in drawn(posterior).items()}
    gates = posterior.gates
    return {"seed": seed, "skipped": False, "design": design, "passed": gates.passed, "below": below, "why": gates.why}
