"""A fit as a small JSON file that can be committed, and whether another fit says the same.

A summary holds no labels: digests of the files that went in, counts, what each prior gave with its gates, and the Monte
Carlo error of each number. Two summaries agree where every number is within `k` of their errors put together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from countback.models.ordinal import THRESHOLD, Floats, OrdinalData, Posterior, answer, decide, shares

SCHEMA = "countback.fit-summary/1"
LEVEL = 0.95
TAILS = {"median": 0.5, "low": (1 - LEVEL) / 2, "high": (1 + LEVEL) / 2}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def as_json(
    model: str,
    data: OrdinalData,
    posteriors: Sequence[Posterior],
    *,
    files: Mapping[str, str],
    versions: Mapping[str, str],
    seed: int,
    design: str,
    how: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The summary of one model under several priors; `files` by name are sha256, `how` is what the sampler was told.

    `design` is what `identifiability` calls it. `linear` is the share on the scale of the labels' order.
    """
    answers = [answer(each, np.random.default_rng(seed), level=LEVEL) for each in posteriors]
    priors, errors = [], {}
    for posterior, told in zip(posteriors, answers, strict=True):
        found, ess = shares(posterior), effective(posterior)
        parts = {name: quantiles(getattr(found, name)) for name in ("finite", "linear")}
        priors.append(
            {
                "prior": told.prior,
                "seed": posterior.seed,
                **quantiles(found.population),
                **parts,
                "below": told.below,
                "prior_below": told.prior_below,
                "sd": {name: float(np.median(posterior.sd[:, k])) for k, name in enumerate(posterior.names)},
                "gates": asdict(told.gates),
            }
        )
        errors[told.prior] = {
            "population": quantile_errors(found.population, ess),
            "finite": quantile_errors(found.finite, ess),
            "linear": quantile_errors(found.linear, ess),
            "below": probability_error(told.below, ess),
        }
    return {
        "schema": SCHEMA,
        "model": model,
        "engine": posteriors[0].engine,
        "data": {
            "files": dict(files),
            "labels": int(data.weight.sum()),
            "rows": len(data.weight),
            "categories": data.categories,
            "countries": list(data.countries),
            "effects": {effect.name: effect.levels for effect in data.effects},
            "notes": [*data.notes, *notes],
        },
        "seed": seed,
        "how": dict(how),
        "versions": dict(versions),
        "design": design,
        "threshold": THRESHOLD,
        "level": LEVEL,
        "priors": priors,
        "decision": decide(answers),
        "mc_error": errors,
    }


def effective(posterior: Posterior) -> float:
    """The least effective number of draws of what was gated; of draws where an engine has none."""
    gates = posterior.gates
    known = [number for number in (gates.ess_bulk, gates.ess_tail) if np.isfinite(number)]
    return float(min([*known, len(posterior.sd)]))


def quantiles(values: Floats) -> dict[str, float]:
    return {name: float(np.quantile(values, tail)) for name, tail in TAILS.items()}


def quantile_errors(values: Floats, ess: float) -> dict[str, float]:
    """Monte Carlo standard errors: half the distance of the quantiles one standard error of their rank away."""
    found = {}
    for name, tail in TAILS.items():
        reach = (tail * (1 - tail) / ess) ** 0.5
        low, high = np.quantile(values, [max(tail - reach, 0), min(tail + reach, 1)])
        found[name] = float(high - low) / 2
    return found


def probability_error(probability: float, ess: float) -> float:
    """Of a share of draws; never 0, as with two more draws, one of them on either side (Agresti and Coull)."""
    mended = (probability * ess + 1) / (ess + 2)
    return float((mended * (1 - mended) / ess) ** 0.5)


def compare(one: Mapping[str, Any], other: Mapping[str, Any], *, k: float = 4.0) -> tuple[str, ...]:
    """Why the two do not say the same, a sentence each; empty where they do within `k` Monte Carlo errors.

    Other inputs or another model end the comparison: numbers are then not compared.
    """
    files, theirs = one["data"]["files"], other["data"]["files"]
    said = [
        f"input {name} is another file: sha256 {files.get(name, 'absent')} and {theirs.get(name, 'absent')}"
        for name in sorted({*files, *theirs})
        if files.get(name) != theirs.get(name)
    ]
    names = ("schema", "model", "design")
    said += [f"{name}: {one[name]} and {other[name]}" for name in names if one[name] != other[name]]
    if one["data"]["effects"] != other["data"]["effects"]:
        said.append(f"effects: {one['data']['effects']} and {other['data']['effects']}")
    if said:
        return tuple(said)
    known = {each["prior"]: each for each in other["priors"]}
    for each in one["priors"]:
        prior = each["prior"]
        if prior not in known:
            said.append(f"prior {prior}: in one of the two only")
            continue
        errors = one["mc_error"][prior], other["mc_error"][prior]
        said += [
            f"{prior}: {name} {a:.4g} and {b:.4g}, {abs(a - b) / error:.1f} Monte Carlo errors apart"
            for (name, a, first), (_, b, second) in zip(
                _numbers(each, errors[0]), _numbers(known[prior], errors[1]), strict=True
            )
            if abs(a - b) > k * (error := float(np.hypot(first, second)))
        ]
        if each["gates"]["passed"] != known[prior]["gates"]["passed"]:
            said.append(f"{prior}: one fit passed its gates and the other did not")
    if one["decision"] != other["decision"]:
        said.append(f"decision: {one['decision']} and {other['decision']}")
    return tuple(said)


def _numbers(prior: Mapping[str, Any], error: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Name, value and Monte Carlo error of each number of a prior."""
    found = [(f"share, {name}", prior[name], error["population"][name]) for name in TAILS]
    for part in ("finite", "linear"):
        found += [(f"{part} share, {name}", prior[part][name], error[part][name]) for name in TAILS]
    return [*found, ("probability below the threshold", prior["below"], error["below"])]
