"""How well forecasts of cubes/p2 are calibrated: crossed studies by another route than the one that made the forecast.

`python tests/golden/forecast_share_cases.py` writes forecast_share.json anew (some minutes); a test recomputes a part.
What it shows is in forecast_share.md. Everything here is synthetic.

The route: errors and people are normal, labels are cut at shares drawn at random, some labels are careless and some
missing, pools are 6 to 11 people of whom anyone may label an item. The true share is integrated by Gauss-Hermite.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from countback.claims import crossed
from countback.claims.registry import PAPERS
from countback.fetch.errors import UserError
from countback.models.forecast import CrossedDesign, SharePrior
from countback.models.shares import country_share
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri

SEED, STUDIES = 20261130, 500
HERE = Path(__file__).parent
STORED = PAPERS / "cubes" / "studies" / "crossed.json"
TRUTHS = {
    "as the forecast believes": crossed.PRIOR,
    "lower than it believes": SharePrior(0.015, 1.5),
    "higher than it believes": SharePrior(0.09, 1.5),
}
_X, _W = np.polynomial.hermite_e.hermegauss(80)
_W = _W / _W.sum()


def linear_share(country: float, others: float, cuts: Any, careless: float) -> float:
    """Variance between countries of the mean label over all variance of labels 0, 1, 2; careless ones are uniform."""
    above = ndtr((country * _X[:, None] - cuts) / others)
    mean = (1 - careless) * above.sum(axis=1) + careless
    shares = (1 - careless) * -np.diff(_W @ above, prepend=1, append=0) + careless / 3
    grand = shares @ [0, 1, 2]
    return float(_W @ (mean - grand) ** 2 / (shares @ np.square([0, 1, 2]) - grand**2))


def outcome(design: CrossedDesign, share: float, rng: np.random.Generator) -> str:
    """The rule's word on one study of a true share."""
    item, cell, person = rng.uniform(0.4, 1.4), rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6)
    careless, lost = rng.uniform(0, 0.15), rng.uniform(0, 0.15)
    others = float(np.sqrt(1 + item**2 + cell**2 + person**2))
    cuts = others * ndtri(np.cumsum(rng.dirichlet([6, 3, 6]))[:2])
    top = linear_share(60 * others, others, cuts, careless)
    country = brentq(lambda sd: linear_share(sd, others, cuts, careless) - min(share, 0.95 * top), 0, 60 * others)
    shape = (design.items, design.countries)
    pools = rng.integers(6, 12, design.countries)
    order = rng.random((*shape, 11)) + (np.arange(11) >= pools[:, None])
    who = np.argsort(order, axis=2)[..., : design.labels]
    people = rng.normal(0, person, (design.countries, 11))
    eta = rng.normal(0, item, (design.items, 1, 1)) + rng.normal(0, country, design.countries)[:, None]
    eta = eta + rng.normal(0, cell, (*shape, 1)) + people[np.arange(design.countries)[:, None], who]
    label = np.searchsorted(cuts, eta + rng.normal(0, 1, who.shape))
    label = np.where(rng.random(who.shape) < careless, rng.integers(0, 3, who.shape), label)
    label[rng.random(who.shape) < lost] = -1
    codes = np.indices(who.shape)
    try:
        found = country_share(codes[0].ravel(), codes[1].ravel(), (codes[1] * 11 + who).ravel(), label.ravel())
    except UserError:
        return "neither"
    return crossed.outcome(design, (found.share, found.low, found.high))


def came(design: CrossedDesign, prior: SharePrior, studies: int, rng: np.random.Generator) -> list[int]:
    """How often each outcome came where true shares are drawn from a prior."""
    shares = expit(rng.normal(logit(prior.median), prior.spread, studies))
    found = [outcome(design, float(share), rng) for share in shares]
    return [found.count(name) for name in crossed.OUTCOMES]


def main() -> None:
    forecast = crossed.forecasts(crossed.read(STORED), crossed.PRIOR)
    answer: dict[str, Any] = {
        "what": "synthetic studies; no labels of any paper",
        "seed": SEED,
        "studies": STUDIES,
        "outcomes": list(crossed.OUTCOMES),
        "forecast": {str(d): np.round(forecast[str(d)].drawn, 4).tolist() for d in crossed.DESIGNS},
        "came": {},
    }
    for number, (name, prior) in enumerate(TRUTHS.items()):
        answer["came"][name] = {
            str(design): came(design, prior, STUDIES, np.random.default_rng([SEED, number, place]))
            for place, design in enumerate(crossed.DESIGNS)
        }
    (HERE / "forecast_share.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
