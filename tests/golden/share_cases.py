"""The country's share of label variance: coverage on simulated crossed labels, and two real data sets.

`python tests/golden/share_cases.py SHARED` writes shares.json anew (some twenty minutes); tests recompute parts of it.
What it shows, and the route by lme4 beside it, is in shares.md.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models.shares import CountryShare, country_share
from scipy.special import ndtr, stdtrit

SEED, SETS, RESAMPLED_SETS, RESAMPLES = 20261129, 200, 100, 99
HERE = Path(__file__).parent
ITEM, ITEM_COUNTRY, ANNOTATOR = 0.6, 0.1, 0.15  # latent variances; the residual's is 1
LATENT_SHARES = (0.0, 0.02, 0.06, 0.2)


@dataclass(frozen=True)
class Design:
    """Items labelled `per` times in each country by some of its `pool` annotators; `lost` labels go missing."""

    items: int
    countries: int
    per: int
    pool: int
    cuts: tuple[float, ...]
    lost: float = 0.0


THREE, FIVE, TWO = (-0.4, 0.7), (-1.2, -0.4, 0.3, 1.1), (0.2,)
DESIGNS = {
    "10 items, 4 countries, 5 of 8 annotators": Design(10, 4, 5, 8, THREE),
    "10 items, 12 countries, 5 of 8 annotators": Design(10, 12, 5, 8, THREE),
    "31 items, 12 countries, 5 of 8 annotators, 15% missing": Design(31, 12, 5, 8, THREE, 0.15),
    "300 items, 5 countries, 5 of 80 annotators, 10% missing": Design(300, 5, 5, 80, TWO, 0.1),
    "200 items, 26 countries, 3 of 3 annotators": Design(200, 26, 3, 3, FIVE),
}
Labels = tuple[Any, Any, Any, Any]


def simulate(design: Design, latent_share: float, rng: np.random.Generator) -> tuple[Labels, float, float]:
    """Codes of item, country, annotator, label; the true share; and the share of the countries that were drawn."""
    rest = ITEM + ITEM_COUNTRY + ANNOTATOR + 1
    variance = rest * latent_share / (1 - latent_share)
    effects = rng.normal(0, variance**0.5, design.countries)
    content = rng.normal(0, ITEM**0.5, design.items)
    cells = rng.normal(0, ITEM_COUNTRY**0.5, (design.items, design.countries))
    people = rng.normal(0, ANNOTATOR**0.5, (design.countries, design.pool))
    shape = (design.items, design.countries, design.pool)
    who = rng.permuted(np.broadcast_to(np.arange(design.pool), shape), axis=2)[..., : design.per]
    i, c, _ = np.indices(who.shape)
    latent = content[i] + effects[c] + cells[i, c] + people[c, who] + rng.normal(0, 1, who.shape)
    label = np.searchsorted(design.cuts, latent)
    label[rng.random(label.shape) < design.lost] = -1
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    means, square = expectations(np.concatenate([variance**0.5 * nodes, effects]), rest, design.cuts)
    weights = weights / weights.sum()
    at_nodes, here = means[: len(nodes)], means[len(nodes) :]
    mean = weights @ at_nodes
    between = weights @ (at_nodes - mean) ** 2
    within = weights @ square[: len(nodes)] - mean**2 - between
    spread = here.var(ddof=1)
    within_here = np.mean(square[len(nodes) :] - here**2)
    labels = tuple(x.ravel() for x in (i, c, c * design.pool + who, label))
    return labels, float(between / (between + within)), float(spread / (spread + within_here))  # type: ignore[return-value]


def expectations(effects: Any, rest: float, cuts: tuple[float, ...]) -> tuple[Any, Any]:
    """Mean of the label and of its square, given a country's effect."""
    above = np.array([ndtr((effects - cut) / rest**0.5) for cut in cuts])  # P(label >= k)
    odd = 2 * np.arange(1, len(cuts) + 1) - 1
    return above.sum(axis=0), odd @ above


# --- other intervals, to see what the choice of the resampled unit does ------------------------------------------


def resampled(labels: Labels, rng: np.random.Generator, *, countries: bool) -> Labels:
    """Items with replacement, and countries too if asked; a copy is an item or country of its own."""
    i, c, a, y = labels
    drawn = np.sort(rng.integers(0, i.max() + 1, i.max() + 1))
    rows = [np.flatnonzero(i == one) for one in drawn]
    i = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    at = np.concatenate(rows)
    c, a, y = c[at], a[at], y[at]
    if countries:
        picked = rng.integers(0, c.max() + 1, c.max() + 1)
        parts = [np.flatnonzero(c == one) for one in picked]
        at = np.concatenate(parts)
        copy = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        i, y, a, c = i[at], y[at], copy * 10_000 + a[at], copy
    return i, c, a, y


def bootstrap(labels: Labels, rng: np.random.Generator, *, countries: bool) -> tuple[float, float]:
    found = []
    while len(found) < RESAMPLES:
        try:
            found.append(country_share(*resampled(labels, rng, countries=countries)).share)
        except UserError:  # a resample with one item or one country
            continue
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def jackknife_countries(labels: Labels, share: float) -> tuple[float, float]:
    i, c, a, y = labels
    count = int(c.max()) + 1
    without = np.array([country_share(*(x[c != one] for x in (i, c, a, y))).share for one in range(count)])
    values = count * share - (count - 1) * without
    reach = values.std(ddof=1) / count**0.5 * stdtrit(count - 1, 0.975)
    return float(values.mean() - reach), float(values.mean() + reach)


# --- coverage ---------------------------------------------------------------------------------------------------------


def covers(ends: tuple[float, float], truth: float) -> bool:
    return ends[0] <= truth <= ends[1]


def study(design: Design, latent_share: float, sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Bias of the share, coverage and median width of both intervals, and p2's outcomes at 5%."""
    found: list[tuple[CountryShare, float, float]] = []
    for _ in range(sets):
        labels, truth, here = simulate(design, latent_share, rng)
        found.append((country_share(*labels), truth, here))
    truth = found[0][1]
    shares = np.array([each.share for each, _, _ in found])
    return {
        "true share": truth,
        "mean estimate": float(shares.mean()),
        "Monte Carlo error of the mean": float(shares.std(ddof=1) / sets**0.5),
        "below zero": float((shares < 0).mean()),
        "covered": float(np.mean([covers((each.low, each.high), truth) for each, _, _ in found])),
        "width": float(np.median([each.high - each.low for each, _, _ in found])),
        "covered, these countries": float(np.mean([covers(each.here, here) for each, _, here in found])),
        "width, these countries": float(np.median([each.here[1] - each.here[0] for each, _, _ in found])),
        "confirmed": float(np.mean([each.low >= 0.05 for each, _, _ in found])),
        "broken": float(np.mean([each.high < 0.05 for each, _, _ in found])),
    }


def others(design: Design, latent_share: float, sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Coverage of the true share, and of that of the countries drawn, by intervals that resample."""
    hits: dict[str, list[bool]] = {}
    for _ in range(sets):
        labels, truth, here = simulate(design, latent_share, rng)
        found = country_share(*labels)
        ends: dict[str, Callable[[], tuple[float, float]]] = {
            "here": lambda found=found: found.here,
            "F and jackknife": lambda found=found: (found.low, found.high),
            "bootstrap of items": lambda labels=labels: bootstrap(labels, rng, countries=False),
            "bootstrap of items and countries": lambda labels=labels: bootstrap(labels, rng, countries=True),
            "jackknife of countries": lambda labels=labels, found=found: jackknife_countries(labels, found.share),
        }
        for name, interval in ends.items():
            low, high = interval()
            hits.setdefault(f"{name}: true share", []).append(covers((low, high), truth))
            hits.setdefault(f"{name}: these countries", []).append(covers((low, high), here))
    return {name: float(np.mean(each)) for name, each in hits.items()}


# --- real data --------------------------------------------------------------------------------------------------------


def codes(values: list[str]) -> Any:
    return np.unique(values, return_inverse=True)[1]


def multi3hate(shared: Path) -> Labels:
    with (shared / "data" / "multi3hate" / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    item, country, annotator = (codes([row[name] for row in rows]) for name in ("item", "country", "annotator"))
    return item, country, annotator, np.array([int(row["label"]) for row in rows])


def rtp_lx(shared: Path) -> dict[str, Labels]:
    with gzip.open(shared / "data" / "rtp_lx" / "labels_full.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    item, country, annotator = (codes([row[name] for row in rows]) for name in ("item", "country", "annotator"))
    question = np.array([row["question"] for row in rows])
    label = np.array([int(row["label"]) for row in rows]) - 1
    parts = {name: question == name for name in sorted(set(question))}
    return {name: (item[part], country[part], annotator[part], label[part]) for name, part in parts.items()}


def told(labels: Labels) -> dict[str, Any]:
    found, without = country_share(*labels), country_share(*labels, interaction=False)
    parts = vars(found.components)
    return {
        "labels": found.labels,
        "countries": found.countries,
        "items": found.items,
        "annotators": found.annotators,
        "share": found.share,
        "interval": [found.low, found.high],
        "these countries": list(found.here),
        "share without item:country": without.share,
        "variances": dict(parts),
        "notes": list(found.notes),
    }


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 7) if isinstance(value, float) else value


def real(shared: Path) -> dict[str, Any]:
    by_question = {name: told(labels) for name, labels in rtp_lx(shared).items()}
    found: dict[str, Any] = rounded({"multi3hate": told(multi3hate(shared)), "rtp_lx": by_question})
    return found


def simulated(sets: int = SETS) -> dict[str, Any]:
    return {
        name: {
            f"latent {share}": rounded(study(design, share, sets, np.random.default_rng([SEED, row, column])))
            for column, share in enumerate(LATENT_SHARES)
        }
        for row, (name, design) in enumerate(DESIGNS.items())
    }


def compared(sets: int = RESAMPLED_SETS) -> dict[str, Any]:
    return {
        name: rounded(others(design, 0.06, sets, np.random.default_rng([SEED, row, 99])))
        for row, (name, design) in enumerate(DESIGNS.items())
        if row < 3
    }


if __name__ == "__main__":
    answer = {
        "seed": SEED,
        "data sets": SETS,
        "data sets with resamples": RESAMPLED_SETS,
        "resamples": RESAMPLES,
        "real": real(Path(sys.argv[1])),
        "simulated": simulated(),
        "other intervals at latent 0.06": compared(),
    }
    (HERE / "shares.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
