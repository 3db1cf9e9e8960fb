"""Log density and gradient of the ordinal models, in one pass over the labels, for the sampler.

The same model is written in PyMC in `hierarchical` and `flattening`; tests hold the two together. This one compiles in
seconds where a graph takes half a minute, and reads data and prior as arrays, so nothing is compiled for new data.

Raters are the humans together (0) and each judge (1 .. J), with cutpoints of their own:

    eta of a human = sum of effects
    eta of judge j = scale_j (content + follows_j country + deviation_jc)
    content        = all effects but country and annotator

An effect is non-centred, sd times z, except where many levels have many labels each, which tell the effects better
than their prior does. A standard deviation is exp(u) under R2D2, whose density falls towards 0, and |u| under
HalfNormal, whose density does not: on the log scale chains would wander far into the tail that leads to 0. The mean
of a rater's cutpoints is counted from the mean eta of the rater's labels, which labels tell well; cutpoints and effects
by themselves can move together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models.ordinal import CENTRE_SD, GAP_SD, R2D2, RESIDUAL, Floats, OrdinalData, Prior, gap_location
from numpy.typing import NDArray

CENTRED_LABELS, CENTRED_LEVELS = 40, 20  # a level, and levels, from which on an effect is centred
SIGNED, LOG, CENTRED = 0, 1, 2  # forms of an effect: sd |u| or exp(u), non-centred; exp(u), centred
SCALE_SD, FOLLOWS, FOLLOWS_SD, DEVIATION_SD = 0.5, 1.0, 1.0, 0.5  # of log scale, of follows, of deviations' sd


@dataclass(frozen=True)
class Problem:
    """Rows of labels: `code` (rows, effects) are levels counted through all effects, -1 where an effect is absent.

    In a judge's row the country's column holds `total levels + (judge - 1) * countries + country`. `levels` (effects,).
    """

    label: NDArray[np.int64]
    weight: Floats
    code: NDArray[np.int64]
    rater: NDArray[np.int64]
    levels: NDArray[np.int64]
    categories: int
    judges: int
    countries: int

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters, in order."""
        raters, gaps, judges = self.judges + 1, self.categories - 2, self.judges
        human = {
            "u": (len(self.levels),),
            "centre": (raters,),
            "log_gap": (raters, gaps),
            "z": (int(self.levels.sum()),),
        }
        if not judges:
            return human
        return human | {
            "log_scale": (judges,),
            "follows": (judges,),
            "u_deviation": (1,),
            "z_deviation": (judges, self.countries),
        }

    @property
    def centred(self) -> NDArray[np.bool_]:
        """(effects,)"""
        labels = self.weight @ (self.code >= 0)
        return np.asarray((labels >= CENTRED_LABELS * self.levels) & (self.levels >= CENTRED_LEVELS))

    @property
    def average(self) -> Floats:
        """(raters, levels, judges' country effects and one that is absent): times these gives mean eta / scale."""
        found = np.zeros((self.judges + 1, int(self.levels.sum()) + self.judges * self.countries + 1))
        for column in self.code.T:
            np.add.at(found, (self.rater, column), self.weight)
        found[:, -1] = 0.0
        return found / np.maximum(np.bincount(self.rater, self.weight, self.judges + 1), 1.0)[:, None]

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.parts.values())


def human_problem(data: OrdinalData) -> Problem:
    """The human labels alone. Raises UserError without an effect of the country, which comes first."""
    if "country" not in data.names:
        raise UserError(
            f"found effects {', '.join(data.names)}; expected the country's among them: it cannot be left out"
        )
    levels = np.array([effect.levels for effect in data.effects])
    start = np.cumsum(levels) - levels
    code = np.column_stack([effect.code + first for effect, first in zip(data.effects, start, strict=True)])
    rater = np.zeros(len(code), np.int64)
    return Problem(data.label, data.weight.astype(float), code, rater, levels, data.categories, 0, len(data.countries))


def unpack(problem: Problem, x: Floats) -> dict[str, Floats]:
    """Parameters (..., size) by name (..., shape)."""
    found, at = {}, 0
    for name, shape in problem.parts.items():
        size = int(np.prod(shape))
        found[name] = x[..., at : at + size].reshape(*x.shape[:-1], *shape)
        at += size
    return found


def forms(problem: Problem, prior: Prior) -> NDArray[np.int64]:
    """(effects,) how each effect is parametrised."""
    return np.where(problem.centred, CENTRED, LOG if isinstance(prior, R2D2) else SIGNED)


def cutpoints(centre: Floats, log_gap: Floats) -> Floats:
    """Cutpoints (..., categories - 1) from their mean (...) and the log gaps (..., categories - 2)."""
    steps = np.concatenate([np.zeros((*centre.shape, 1)), np.cumsum(np.exp(log_gap), axis=-1)], axis=-1)
    return np.asarray(centre[..., None] + steps - steps.mean(-1, keepdims=True))


def effects(problem: Problem, parts: dict[str, Floats], prior: Prior) -> Floats:
    """Realised effects (..., levels), in logits."""
    form, u = forms(problem, prior), parts["u"]
    factor = np.where(form == CENTRED, 1.0, np.where(form == LOG, np.exp(u), u))  # u with its sign: z has the same
    return np.asarray(parts["z"] * np.repeat(factor, problem.levels, axis=-1))


def told(problem: Problem, parts: dict[str, Floats], prior: Prior) -> dict[str, Floats]:
    """What the parameters stand for, by the names that the PyMC model gives, and `effect` (..., levels)."""
    effect = effects(problem, parts, prior)
    country = effect[..., : problem.countries]
    everything, scale = [effect], np.ones((*effect.shape[:-1], 1))
    found = {}
    if problem.judges:
        own = parts["follows"][..., None] * country[..., None, :]
        found["judge_country"] = own + parts["u_deviation"][..., None] * parts["z_deviation"]
        found["scale"] = np.exp(parts["log_scale"])
        everything.append(found["judge_country"].reshape(*effect.shape[:-1], -1))
        scale = np.concatenate([scale, found["scale"]], axis=-1)
    middle = scale * (np.concatenate(everything, axis=-1) @ problem.average[:, :-1].T)
    return found | {
        "sd": np.where(forms(problem, prior) == SIGNED, np.abs(parts["u"]), np.exp(parts["u"])),
        "cutpoints": cutpoints(parts["centre"] + middle, parts["log_gap"]),
        "country": country,
        "effect": effect,
    }


def start(problem: Problem, prior: Prior, rng: np.random.Generator) -> Floats:
    """Where a chain starts: in the middle of the prior, at random."""
    parts = {name: rng.uniform(-1, 1, shape) for name, shape in problem.parts.items()}
    signed = forms(problem, prior) == SIGNED
    parts["u"] = np.where(signed, 0.5 + 0.3 * parts["u"], np.log(0.5) + 0.5 * parts["u"])
    parts["log_gap"] = gap_location(problem.categories) + 0.3 * parts["log_gap"]
    if problem.judges:
        parts["u_deviation"] = 0.3 + 0.2 * parts["u_deviation"]
        parts["log_scale"], parts["follows"] = 0.3 * parts["log_scale"], FOLLOWS + parts["follows"]
    return np.concatenate([part.ravel() for part in parts.values()])


def arguments(problem: Problem, prior: Prior) -> tuple[Any, ...]:
    """What `log_density` takes after x and its gradient."""
    family = (1.0, prior.a, prior.b, prior.concentration) if isinstance(prior, R2D2) else (0.0, prior.scale, 0.0, 0.0)
    fixed = (RESIDUAL, CENTRE_SD, gap_location(problem.categories), GAP_SD)  # imported, so no globals of kept code
    sizes = np.array([problem.categories, problem.judges, problem.countries])
    rows = (
        problem.label,
        problem.weight,
        problem.code,
        problem.rater,
        problem.levels,
        forms(problem, prior),
        problem.average,
    )
    return (*map(np.ascontiguousarray, rows), sizes, np.array(family), np.array(fixed))


@cache
def compiled() -> Callable[..., float]:
    """`log_density` in machine code, kept on disk."""
    import numba  # type: ignore[import-untyped]

    fast: Callable[..., float] = numba.njit(cache=True, nogil=True, error_model="numpy")(log_density)
    return fast


def log_density(
    x: Any,
    grad: Any,
    label: Any,
    weight: Any,
    code: Any,
    rater: Any,
    levels: Any,
    form: Any,
    average: Any,
    sizes: Any,
    family: Any,
    fixed: Any,
) -> float:
    """Log density at x, up to a constant; its gradient is written to `grad`. Plain loops: see `compiled`."""
    categories, judges, countries = sizes[0], sizes[1], sizes[2]
    residual, centre_sd, location, gap_sd = fixed[0], fixed[1], fixed[2], fixed[3]
    n, raters, gaps, cuts = len(levels), judges + 1, categories - 2, categories - 1
    total = levels.sum()
    at_centre, at_gap = n, n + raters
    at_z = at_gap + raters * gaps
    at_scale = at_z + total
    at_follows, at_u = at_scale + judges, at_scale + 2 * judges
    at_deviation = at_u + 1
    grad[:] = 0.0
    value = 0.0

    # Standard deviations.
    signed = np.empty(n)
    for k in range(n):
        signed[k] = x[k] if form[k] == SIGNED else np.exp(x[k])
    if family[0] == 1.0:
        a, b, each = family[1], family[2], family[3]
        everything = 0.0
        for k in range(n):
            everything += signed[k] ** 2
        value += (a - n * each) * np.log(everything) - (a + b) * np.log1p(everything / residual)
        slope = (a - n * each) / everything - (a + b) / (residual + everything)
        for k in range(n):
            value += 2 * each * x[k]
            grad[k] = 2 * each + 2 * slope * signed[k] ** 2
    else:
        for k in range(n):
            value -= 0.5 * (signed[k] / family[1]) ** 2
            grad[k] = -signed[k] / family[1] ** 2
            if form[k] == CENTRED:
                value += x[k]
                grad[k] = 1.0 + grad[k] * signed[k]

    # Effects, after them the judges' country effects, and a 0 that code -1, an absent effect, points to.
    effect, to_effect = np.zeros(total + judges * countries + 1), np.zeros(total + judges * countries + 1)
    level = 0
    for k in range(n):
        for _ in range(levels[k]):
            effect[level] = x[at_z + level] if form[k] == CENTRED else signed[k] * x[at_z + level]
            level += 1
    scale = np.ones(raters)
    to_scale = np.zeros(raters)
    if judges > 0:
        value -= 0.5 * (x[at_u] / DEVIATION_SD) ** 2
        grad[at_u] = -x[at_u] / DEVIATION_SD**2
    for j in range(judges):
        scale[j + 1] = np.exp(x[at_scale + j])
        value -= 0.5 * (x[at_scale + j] / SCALE_SD) ** 2
        grad[at_scale + j] = -x[at_scale + j] / SCALE_SD**2
        off = (x[at_follows + j] - FOLLOWS) / FOLLOWS_SD
        value -= 0.5 * off**2
        grad[at_follows + j] = -off / FOLLOWS_SD
        for c in range(countries):
            own = at_deviation + j * countries + c
            effect[total + j * countries + c] = x[at_follows + j] * effect[c] + x[at_u] * x[own]
            value -= 0.5 * x[own] ** 2
            grad[own] = -x[own]

    # Cutpoints, and the weight of labels between two of them.
    cut, to_cut, between = np.empty((raters, cuts)), np.zeros((raters, cuts)), np.zeros((raters, gaps))
    middles, centre = np.empty(raters), np.empty(raters)
    for r in range(raters):
        step, mean, middle = 0.0, 0.0, 0.0
        for k in range(len(effect)):
            middle += average[r, k] * effect[k]
        middles[r] = middle
        centre[r] = x[at_centre + r] + scale[r] * middle
        cut[r, 0] = 0.0
        for k in range(gaps):
            step += np.exp(x[at_gap + r * gaps + k])
            cut[r, k + 1] = step
            mean += step / cuts
        for k in range(cuts):
            cut[r, k] += centre[r] - mean
        value -= 0.5 * (centre[r] / centre_sd) ** 2
        for k in range(gaps):
            off = (x[at_gap + r * gaps + k] - location) / gap_sd
            value -= 0.5 * off**2
            grad[at_gap + r * gaps + k] = -off / gap_sd

    # Labels. The logs of 1 + exp(-|d|) of rows of weight 1 are taken of products: a log is what costs most here.
    product = 1.0
    for row in range(len(label)):
        r, y, w = rater[row], label[row], weight[row]
        plain = 0.0
        for k in range(n):
            plain += effect[code[row, k]]
        eta = scale[r] * plain
        slope = 0.0
        for side in range(2):
            k = y - side  # the cutpoint above the label, then the one below
            if k < 0 or k >= cuts:
                continue
            sign = 1.0 - 2.0 * side
            d = sign * (cut[r, k] - eta)
            e = np.exp(-abs(d))
            value += w * min(d, 0.0)
            if w == 1.0:
                product *= 1.0 + e
            else:
                value -= w * np.log1p(e)
            push = sign * w * (e if d >= 0 else 1.0) / (1.0 + e)
            to_cut[r, k] += push
            slope -= push
        if product > 1e250:
            value -= np.log(product)
            product = 1.0
        if 0 < y < cuts:
            between[r, y - 1] += w
        to_scale[r] += slope * plain
        slope *= scale[r]
        for k in range(n):
            to_effect[code[row, k]] += slope
    value -= np.log(product)
    for r in range(raters):
        for k in range(gaps):
            gap = np.exp(x[at_gap + r * gaps + k])
            value += between[r, k] * np.log(-np.expm1(-gap))
            push = between[r, k] / np.expm1(gap)
            to_cut[r, k + 1] += push
            to_cut[r, k] -= push

    # Back through cutpoints and effects.
    for r in range(raters):
        mean = 0.0
        for k in range(cuts):
            mean += to_cut[r, k] / cuts
        push = mean * cuts - centre[r] / centre_sd**2
        grad[at_centre + r] = push
        to_scale[r] += push * middles[r]
        push *= scale[r]
        for k in range(len(effect)):
            to_effect[k] += push * average[r, k]
        above = 0.0
        for k in range(gaps - 1, -1, -1):
            above += to_cut[r, k + 1] - mean
            grad[at_gap + r * gaps + k] += above * np.exp(x[at_gap + r * gaps + k])
    for j in range(judges):
        grad[at_scale + j] += to_scale[j + 1] * scale[j + 1]
        for c in range(countries):
            push, own = to_effect[total + j * countries + c], at_deviation + j * countries + c
            grad[at_follows + j] += push * effect[c]
            to_effect[c] += push * x[at_follows + j]
            grad[at_u] += push * x[own]
            grad[own] += push * x[at_u]
    level = 0
    for k in range(n):
        turn = 1.0 if form[k] == SIGNED else signed[k]  # d signed / d u
        for _ in range(levels[k]):
            z = x[at_z + level]
            if form[k] == CENTRED:
                z /= signed[k]
                value -= x[k]
                grad[at_z + level] += to_effect[level] - z / signed[k]
                grad[k] += z**2 - 1.0
            else:
                grad[at_z + level] += to_effect[level] * signed[k] - z
                grad[k] += to_effect[level] * z * turn
            value -= 0.5 * z**2
            level += 1
    return float(value)
