"""The block of normal effects and cutpoints of the ordinal model, given the standard deviations of the effects.

With P(y <= k) = F(cutpoint_k - eta) and F the logistic, the probability of y splits into logistic terms,

    F(c_y - eta) - F(c_(y-1) - eta) = F(c_y - eta) F(eta - c_(y-1)) (1 - exp(c_(y-1) - c_y)),

so a label is one or two rows of a logistic regression (`Terms`) and a function of the gap between two cutpoints. The
unknowns are the effects in units of their standard deviation, then the mean of the cutpoints, then the log gaps: all
normal beforehand. `peak` finds their mode by Newton's method with a sparse factor of the curvature (Rue, Martino and
Chopin 2009, section 3.2); `wobble` draws around it and says how far the true density is from the normal one there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from countback.models.ordinal import CENTRE_SD, GAP_SD, Floats, Ints, OrdinalData, gap_location
from scipy import sparse
from scipy.sparse.linalg import splu

CLOSE = 1e-3  # twice what a further Newton step would add to the log density
LIFTS = 12  # of the curvature, each ten times the one before
STEPS = 200  # of Newton's method, those that are halved counted again
SYMMETRIC: dict[str, Any] = {"diag_pivot_thresh": 0, "options": {"SymmetricMode": True, "Equil": False}}


@dataclass(frozen=True)
class Terms:
    """Rows of the logistic regression, weight * log F(design @ (effects, cutpoints)); `cut` is a row's cutpoint.

    The sparse design (terms, effects + cutpoints) has 1 at the cutpoint above the label and -1 at the effects' levels,
    or -1 at the cutpoint below it and 1 at the levels.
    """

    cut: Ints
    weight: Floats
    design: Any
    transposed: Any


@dataclass(frozen=True)
class Block:
    """All of the latent block that does not change with the standard deviations.

    `effects` is the number of effect levels in all, `owner` (effects,) the effect each belongs to; an unknown's place
    in the permuted matrix is `place`. `pattern` (entries, sources) maps the curvature of each term, and of the gaps, to
    the entries of the matrix at `row` and `column`, in the order of a compressed column matrix.
    """

    terms: Terms
    groups: Any  # sparse (levels of the finest effect, terms) of the terms' weights
    middle: Floats  # weight of the labels that lie between two cutpoints, by gap
    effects: int
    owner: Ints
    start: Floats
    precision: Floats
    place: Ints
    order: Ints
    pattern: Any
    row: Ints
    column: Ints
    pointer: Ints

    @property
    def gaps(self) -> int:
        return len(self.middle)


@dataclass(frozen=True)
class Peak:
    """The mode of the block at given standard deviations, and the factor of the curvature there.

    `value` is the log density of labels and unknowns at the mode, `marginal` its Laplace approximation with the
    unknowns integrated out (both with the normal constants, so they compare between standard deviations).
    """

    log_sd: Floats
    mode: Floats
    value: float
    marginal: float
    factor: Any
    pivots: Floats


def block(data: OrdinalData) -> Block:
    """The latent block of labels; no labels are used up: equal rows stay one row with a weight."""
    levels = [effect.levels for effect in data.effects]
    offset = np.concatenate([[0], np.cumsum(levels)])
    code = np.column_stack([effect.code + low for effect, low in zip(data.effects, offset, strict=False)])
    low, high = np.flatnonzero(data.label > 0), np.flatnonzero(data.label < data.categories - 1)
    rows = np.concatenate([high, low])
    cut = np.concatenate([data.label[high], data.label[low] - 1])
    sign = np.concatenate([np.ones(len(high)), -np.ones(len(low))])
    effects, gaps = int(offset[-1]), data.categories - 2
    each = np.column_stack([code[rows], np.full(len(rows), effects)])
    value = np.tile(np.append(-np.ones(len(levels)), 1.0), (len(rows), 1))
    pointer = np.arange(len(rows) + 1) * each.shape[1]
    at = np.column_stack([code[rows], effects + cut])
    design = sparse.csr_matrix(((value * sign[:, None]).ravel(), at.ravel(), pointer), (len(rows), effects + gaps + 1))
    weight = data.weight[rows].astype(float)
    terms = Terms(cut, weight, design, design.T.tocsr())
    place, order, pattern, row, column, pointer = _pattern(each, value, effects + 1, gaps)
    finest = each[:, int(np.argmax(levels))]
    finest = finest - finest.min()
    return Block(
        terms,
        sparse.csr_matrix((weight, (finest, np.arange(len(rows))))),
        np.bincount(data.label, data.weight, data.categories)[1:-1].astype(float),
        effects,
        np.repeat(np.arange(len(levels)), levels),
        np.concatenate([np.zeros(effects + 1), np.full(gaps, gap_location(data.categories))]),
        np.concatenate([np.ones(effects), [CENTRE_SD**-2], np.full(gaps, GAP_SD**-2)]),
        place,
        order,
        pattern,
        row,
        column,
        pointer,
    )


def _pattern(each: Ints, value: Floats, linear: int, gaps: int) -> tuple[Any, ...]:
    """Where curvature goes, once for all: see `Block`.

    The sources are the curvature of each term; for each gap that curvature times the slope of the term's cutpoint in
    the gap; and the gaps' own block.
    """
    terms, width = each.shape
    size = linear + gaps
    at = np.arange(terms)
    rows = [np.repeat(each, width, axis=1).ravel()]
    columns = [np.tile(each, (1, width)).ravel()]
    sources = [np.repeat(at, width * width)]
    values = [(value[:, :, None] * value[:, None, :]).ravel()]
    for gap in range(gaps):
        edge = np.full(each.size, linear + gap)
        rows += [each.ravel(), edge]
        columns += [edge, each.ravel()]
        sources += [np.repeat(at + terms * (1 + gap), width)] * 2
        values += [value.ravel()] * 2
    one, other = np.divmod(np.arange(gaps * gaps), max(gaps, 1))
    rows += [linear + one, np.arange(size)]  # the diagonal is there even where nothing was observed
    columns += [linear + other, np.arange(size)]
    sources += [terms * (1 + gaps) + np.arange(gaps * gaps), np.zeros(size, dtype=int)]
    values += [np.ones(gaps * gaps), np.zeros(size)]
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = sparse.csc_matrix((np.ones(len(row)), (row, column)), shape=(size, size))
    shape = (shape + sparse.identity(size) * (1 + shape.sum())).tocsc()
    place = splu(shape, "MMD_AT_PLUS_A", **SYMMETRIC).perm_c
    key = place[column].astype(np.int64) * size + place[row]
    found, entry = np.unique(key, return_inverse=True)
    pattern = sparse.csr_matrix(
        (np.concatenate(values), (entry, np.concatenate(sources))), shape=(len(found), terms * (1 + gaps) + gaps * gaps)
    )
    pointer = np.searchsorted(found // size, np.arange(size + 1)).astype(np.int32)
    return place, np.argsort(place), pattern, (found % size).astype(np.int32), found // size, pointer


def cutpoints(log_gap: Floats) -> Floats:
    """Cutpoints (gaps + 1, ...) about a mean of 0, of log gaps (gaps, ...)."""
    step = np.concatenate([np.zeros((1, *log_gap.shape[1:])), np.cumsum(np.exp(log_gap), axis=0)])
    return np.asarray(step - step.mean(0))


def log_density(of: Block, log_sd: Floats, unknown: Floats) -> Floats:
    """Log density of labels and unknowns, up to a constant: (points,) of unknowns (size, points)."""
    return _slopes(of, _scale(of, log_sd[None]), unknown)[0]


def gradient(of: Block, log_sd: Floats, unknown: Floats) -> Floats:
    """Slopes (size, points) of `log_density` at unknowns (size, points)."""
    return _slopes(of, _scale(of, log_sd[None]), unknown)[1]


def curvature(of: Block, log_sd: Floats, unknown: Floats) -> Floats:
    """Minus the second derivatives (size, size) of `log_density`, as a full matrix in the order of the unknowns."""
    entries = _slopes(of, _scale(of, log_sd[None]), unknown[:, None])[2]
    matrix = sparse.csc_array((entries[:, 0], of.row, of.pointer), shape=(len(of.start), len(of.start)))
    return np.asarray(matrix.toarray()[np.ix_(of.place, of.place)])


def _scale(of: Block, log_sd: Floats) -> Floats:
    """(size, points) of log standard deviations (points, effects)."""
    return np.concatenate([np.exp(log_sd).T[of.owner], np.ones((1 + of.gaps, len(log_sd)))])


def _predict(of: Block, scale: Floats, unknown: Floats) -> Floats:
    cut = unknown[of.effects] + cutpoints(unknown[of.effects + 1 :])
    return np.asarray(of.terms.design @ np.concatenate([unknown[: of.effects] * scale[: of.effects], cut]))


def log_logistic(x: Floats) -> Floats:
    """Log F(x), several times as fast as scipy.special's; F(-x) is -expm1 of it."""
    return np.asarray(np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))))


def _values(of: Block, unknown: Floats, log_probability: Floats) -> Floats:
    away, gap = unknown - of.start[:, None], np.exp(unknown[of.effects + 1 :])
    fit = of.terms.weight @ log_probability + of.middle @ np.log(-np.expm1(-gap))
    return np.asarray(fit - of.precision @ away**2 / 2)


def _slopes(of: Block, scale: Floats, unknown: Floats) -> tuple[Floats, Floats, Floats]:
    """Log density (points,), its gradient (size, points), and the entries (entries, points) of the curvature, minus the
    second derivatives, at unknowns (size, points)."""
    terms, linear = of.terms, of.effects + 1
    log_probability = log_logistic(_predict(of, scale, unknown))
    miss = -np.expm1(log_probability)
    pull = terms.weight[:, None] * miss
    bend = pull * (1 - miss)
    pull = terms.transposed @ pull
    by_cut = pull[of.effects :]
    gradient = of.precision[:, None] * (of.start[:, None] - unknown)
    gradient[: of.effects] += pull[: of.effects] * scale[: of.effects]
    gradient[of.effects] += by_cut.sum(0)
    sources = [bend]
    if of.gaps:
        gap = np.exp(unknown[linear:])
        turn = np.tri(of.gaps + 1, of.gaps, -1)
        turn = (turn - turn.mean(0))[:, :, None] * gap  # of each cutpoint in each log gap: (gaps + 1, gaps, points)
        along = (turn * by_cut[:, None]).sum(0)
        ratio = of.middle[:, None] * -gap * np.exp(-gap) / np.expm1(-gap)
        gradient[linear:] += along + ratio
        bends = np.array([bend[terms.cut == cut].sum(0) for cut in range(of.gaps + 1)])
        own = np.einsum("kgp,khp,kp->ghp", turn, turn, bends)
        own[np.diag_indices(of.gaps)] -= along + ratio * (1 + gap / np.expm1(-gap))
        sources += [*(bend * each[terms.cut] for each in turn.swapaxes(0, 1)), own.reshape(of.gaps**2, -1)]
    ordered = scale[of.order]
    entries = (of.pattern @ np.concatenate(sources)) * ordered[of.row] * ordered[of.column]
    entries[of.row == of.column] += of.precision[of.order][:, None]
    return _values(of, unknown, log_probability), gradient, entries


def peaks(of: Block, log_sd: Floats, start: Floats) -> list[Peak]:
    """The block's mode at each of log standard deviations (points, effects), from starts (size, points or 1)."""
    points = len(log_sd)
    scale, constant = _scale(of, log_sd), np.log(of.precision).sum() / 2
    at = np.array(np.broadcast_to(start, (len(of.start), points)))
    step, length, gain, value = np.zeros_like(at), np.zeros(points), np.ones(points), np.full(points, -np.inf)
    matrix = sparse.csc_array((np.zeros(len(of.row)), of.row, of.pointer), shape=(len(at), len(at)))
    found: dict[int, Peak] = {}
    for last in np.arange(STEPS) == STEPS - 1:
        left = np.flatnonzero(~(gain < CLOSE))
        if not len(left):
            break
        ahead = at[:, left] + length[left] * step[:, left]
        values, slopes, entries = _slopes(of, scale[:, left], ahead)
        good = (values >= value[left] + length[left] * gain[left] / 10) | (length[left] <= 1e-6) | last
        length[left[~good]] /= 2
        for k in np.flatnonzero(good):
            one = left[k]
            at[:, one], value[one] = ahead[:, k], values[k]
            factor, step[:, one], gain[one], pivots = _newton(of, matrix, entries[:, k], slopes[:, k])
            length[one] = 1 / max(1.0, np.abs(step[of.effects :, one]).max())  # a long one of a log gap would overflow
            if gain[one] < CLOSE or last:
                top = value[one] + gain[one] / 2
                marginal = top + constant - np.log(pivots).sum() / 2
                found[one] = Peak(log_sd[one], at[:, one] + step[:, one], top, marginal, factor, pivots)
    return [found[one] for one in range(points)]


def _newton(of: Block, matrix: Any, entries: Floats, slope: Floats) -> tuple[Any, Floats, float, Floats]:
    """The curvature's factor, Newton's step, twice what it should add, and, if that is little, the pivots.

    `matrix` is one to put the entries in: to make one takes as long as its factor.
    """
    for lift in (0.0, *10.0 ** np.arange(LIFTS)):
        if lift:  # far from the mode the gaps may curve the wrong way
            entries = entries + lift * ((of.row == of.column) & (of.order[of.row] > of.effects))
        matrix.data = np.ascontiguousarray(entries)
        factor = splu(matrix, "NATURAL", panel_size=1, **SYMMETRIC)
        step = factor.solve(slope[of.order])[of.place]
        gain = float(slope @ step)
        pivots = factor.U.diagonal() if gain < CLOSE else of.precision
        if gain >= 0 and pivots.min() > 0:
            break
    return factor, step, gain, pivots


def wobble(of: Block, about: Peak, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Unknowns (size, draws) of the normal approximation in opposite pairs, and the log of (true over normal) density.

    That log is (draws,), and in parts (groups + 1, draws): each level of the finest effect, and a rest.
    With L D L' the curvature, L D^(1/2) e has the curvature as covariance, and solving it the inverse.
    """
    noise = rng.standard_normal((len(of.start), draws // 2))
    away = about.factor.solve(about.factor.L @ (np.sqrt(about.pivots)[:, None] * noise))[of.place]
    unknown = about.mode[:, None] + np.concatenate([away, -away], axis=1)
    scale = _scale(of, about.log_sd[None])
    middle, predictor = _predict(of, scale, about.mode[:, None]), _predict(of, scale, unknown)
    expected, log_probability = log_logistic(middle), log_logistic(predictor)
    miss = -np.expm1(expected)
    whole = _values(of, unknown, log_probability) - about.value + np.tile((noise**2).sum(0) / 2, 2)
    away = predictor - middle
    part = of.groups @ (log_probability - expected + away * (miss * (1 - miss) / 2 * away - miss))
    return unknown, whole, np.concatenate([part, [whole - part.sum(0)]])


def missed(part: Floats) -> tuple[float, Floats]:
    """Log of the mean of exp(sum of parts) over draws, for parts (groups, draws) of which each varies little.

    Each group's own mean is taken as it is: the sum's variance grows with the groups, and the plain mean of its
    exponential would be its largest draw. What groups have in common is taken to second order. Also the tilt (draws,):
    the mean of a value under the true density is its mean over draws, plus its mean times the tilt, to first order.
    """
    highest = part.max(1, keepdims=True)
    ratio = np.exp(part - highest)
    mean = ratio.mean(1, keepdims=True)
    ratio = ratio / mean - 1
    tilt = ratio.sum(0)
    common = (tilt**2).mean() - (ratio**2).mean(1).sum()
    return float((highest + np.log(mean)).sum() + common / 2), tilt
