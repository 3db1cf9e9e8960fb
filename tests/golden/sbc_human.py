"""Simulation-based calibration of the ordinal model (Talts et al. 2018): parameters from the prior, labels from them.

A seed alone decides the design, the truth and the labels; what comes back is where each true value lies among the
posterior's draws. Data are synthetic. `python tests/golden/sbc_human.py FOLDER` makes sbc_human.json and sbc_human.svg,
and goes on from what is in FOLDER (see sbc_human.md).
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
from countback.models import simulate
from countback.models.approximate import fit_approximate
from countback.models.ordinal import R2D2, OrdinalData, Posterior, draw_cutpoints, ordinal_data, shares, shares_of
from countback.models.studies import run_study
from scipy.special import chdtrc, kolmogorov

HERE = Path(__file__).parent
SEEDS = range(312)
AGAIN = 9  # cases kept whole, to be done again
BINS = 10
LEVEL = 0.01  # of a histogram being called not uniform, divided by the number of quantities looked at
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


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Histograms of the ranks over `BINS` equal bins, with p-values of the chi-square and the largest ECDF distance."""
    fitted = [row for row in rows if not row["skipped"]]
    used = [row for row in fitted if row["passed"]]
    quantities = {}
    for name in [*(f"sd {effect}" for effect in ALL), "contrast", "centre", "population", "finite"]:
        below = np.sort([row["below"][name] for row in used if name in row["below"]])
        if len(below):
            quantities[name] = judged(below)
    return {
        "cases": len(rows),
        "labels all alike or too few": len(rows) - len(fitted),
        "gates failed": {str(row["seed"]): row["why"] for row in fitted if not row["passed"]},
        "quantities": quantities,
    }


def judged(below: np.ndarray) -> dict[str, Any]:
    """Of ascending shares of draws below the truth (cases,)."""
    cases = len(below)
    counts = np.histogram(below, BINS, (0, 1))[0]
    square = ((counts - cases / BINS) ** 2).sum() / (cases / BINS)
    steps = np.arange(cases) / cases
    distance = max((steps + 1 / cases - below).max(), (below - steps).max())
    return {
        "cases": cases,
        "histogram": counts.tolist(),
        "p chi-square": round(float(chdtrc(BINS - 1, square)), 4),
        "p ecdf": round(float(kolmogorov(np.sqrt(cases) * distance)), 4),
    }


def draw(found: dict[str, Any], path: Path) -> None:
    """Small multiples of the histograms, with the band that holds 99% of a uniform bin's counts."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "sbc", "svg.fonttype": "none", "font.size": 8})
    figure, axes = plt.subplots(2, 5, figsize=(10, 4), sharex=True, layout="constrained")
    for axis, (name, one) in zip(axes.ravel(), found["quantities"].items(), strict=True):
        middle = one["cases"] / BINS
        half = 2.576 * np.sqrt(middle * (1 - 1 / BINS))
        axis.axhspan(middle - half, middle + half, color="#dddddd")
        axis.bar((np.arange(BINS) + 0.5) / BINS, one["histogram"], width=0.09, color="#4477aa")
        axis.set_title(f"{name} (n = {one['cases']})", fontsize=8)
    figure.suptitle("Where the truth lies among the draws, synthetic labels; grey: 99% of uniform bins", fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def written(folder: Path, seeds: Sequence[int] = SEEDS) -> None:
    rows = run_study(ranked, seeds, folder, chunk=6)
    found = {
        "what": "ranks of true values among the fast engine's draws; synthetic labels, parameters from the prior",
        "prior": str(PRIOR),
        "seeds": list(seeds),
        "bins": BINS,
        "level": LEVEL,
        "versions": {name: version(name) for name in ("numpy", "scipy")},
        **summary(rows),
        "some rows": rows[:AGAIN],
    }
    (HERE / "sbc_human.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(found, HERE / "sbc_human.svg")


if __name__ == "__main__":
    written(Path(sys.argv[1]))
