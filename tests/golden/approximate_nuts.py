"""The fast engine beside the sampler on the same synthetic labels: the cases of simulation-based calibration.

See approximate_against_nuts.md for how the committed summary was made.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models.approximate import fit_approximate
from countback.models.hierarchical import fit_human
from countback.models.ordinal import Posterior
from countback.models.studies import run_study
from sbc_human import PRIOR, case, drawn, judged

HERE = Path(__file__).parent
SEEDS = range(50)
CASES = 20
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


def written(folder: Path, seeds: Sequence[int] = SEEDS) -> None:
    """Both engines on `seeds`; the fast engine's summaries are computed anew."""
    rows = [row for row in run_study(compared, seeds, folder / "nuts", chunk=1) if not row["skipped"]]
    anew = run_study(fast, [row["seed"] for row in rows[:CASES]], folder / "fast", chunk=1)
    kept = []
    for row, new in zip(rows, anew, strict=False):
        row = {name: row[name] for name in ("seed", "design", "categories", "rows", "truth", "passed", "nuts")}
        kept.append(rounded(row | new | {"passed": row["passed"] | {"approximate": new["passed"]}}))
    ranks: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row["below"].items():
            ranks.setdefault(name, []).append(value)
    found = {
        "what": "mean, sd, and 5%, 50%, 95% points under both engines; synthetic labels, parameters from the prior",
        "prior": str(PRIOR),
        "nuts": "4 chains of 500 + 500 draws",
        "versions": {name: version(name) for name in ("numpy", "scipy", "nutpie")},
        "cases": kept,
        "ranks under nuts": {name: judged(np.sort(values)) for name, values in ranks.items()},
    }
    (HERE / "approximate_against_nuts.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """Numbers to five decimals."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 5) if isinstance(value, float) else value


if __name__ == "__main__":
    written(Path(sys.argv[1]))
