"""The fast engine beside the sampler on the same synthetic labels: the cases of simulation-based calibration.

See approximate_against_nuts.md for how the committed summary was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models.approximate import fit_approximate
from countback.models.hierarchical import fit_human
from countback.models.ordinal import Posterior
from sbc_human import PRIOR, case, drawn

AT = (0.05, 0.5, 0.95)


def told(posterior: Posterior) -> dict[str, list[float]]:
    """Mean, sd, and the quantiles `AT` of what `drawn` names."""
    return {
        name: [float(values.mean()), float(values.std()), *map(float, np.quantile(values, AT))]
        for name, values in drawn(posterior).items()
    }


def fast(seed: int) -> dict[str, Any]:
    """The fast engine's summary of a case."""
    posterior = fit_approximate(case(seed)[0], PRIOR, seed=seed)
    return {"seed": seed, "passed": posterior.gates.passed, "approximate": told(posterior)}


def compared(seed: int) -> dict[str, Any]:
    """Both engines' summaries, and the share of the sampler's draws below each true value."""
    try:
        data, truth, design = case(seed)
    except UserError:
        return {"seed": seed, "skipped": True}
    sampled = fit_human(data, PRIOR, seed=seed, draws=500, tune=500, cores=1)
    fast = fit_approximate(data, PRIOR, seed=seed)
    below = {name: float((values < truth[name]).mean()) for name, values in drawn(sampled).items()}
    passed = {"nuts": sampled.gates.passed, "approximate": fast.gates.passed}
    return {
        "seed": seed,
        "skipped": False,
        "design": design,
        "categories": data.categories,
        "rows": len(data.label),
        "passed": passed,
        "truth": truth,
        "below": below,
        "nuts": told(sampled),
        "approximate": told(fast),
    }
