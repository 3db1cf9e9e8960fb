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
from scipy.special import expit, log_expit

CLOSE = 1e-3  # twice what a further Newton step would add to the log density
STEPS = 60
SYMMETRIC = {"SymmetricMode": True, "Equil": False}


@dataclass(frozen=True)
class Terms:
    """Rows of the logistic regression: weight * log F(sign * (cutpoint[cut] + centre - effects))."""

    cut: Ints
    sign: Floats
    weight: Floats
    design: Any  # sparse (terms, effects + 1): -1 for an effect's level, +1 for the centre
    transposed: Any


@dataclass(frozen=True)
class Block:
    """All of the latent block that does not change with the standard deviations.

    `effects` is the number of effect levels in all, `owner` (effects,) the effect each belongs to; an unknown's place
    in the permuted matrix is `place`. `pattern` (entries, sources) maps the curvature of each term, and of the gaps, to
    the entries of the matrix at `row` and `column`, in the order of a compressed column matrix.
    """

    terms: Terms
    groups: Any  # sparse (levels of the finest effect, terms)
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
    value = np.tile(np.append(-np.ones(len(levels)), 1.0), len(rows))
    pointer = np.arange(len(rows) + 1) * each.shape[1]
    design = sparse.csr_matrix((value, each.ravel(), pointer), shape=(len(rows), effects + 1))
    terms = Terms(cut, sign, data.weight[rows].astype(float), design, design.T.tocsr())
    place, order, pattern, row, column, pointer = _pattern(each, value.reshape(each.shape), effects + 1, gaps)
    finest = each[:, int(np.argmax(levels))]
    finest = finest - finest.min()
    return Block(
        terms,
        sparse.csr_matrix((np.ones(len(rows)), (finest, np.arange(len(rows))))),
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
    place = splu(shape, "MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True}).perm_c
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
    """Log density of labels and unknowns, up to a constant: (draws,) of unknowns (size, draws)."""
    return _values(of, unknown, *_predict(of, _scale(of, log_sd), unknown))


def _scale(of: Block, log_sd: Floats) -> Floats:
    return np.concatenate([np.exp(log_sd)[of.owner], np.ones(1 + of.gaps)])


def _predict(of: Block, scale: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    linear = of.effects + 1
    predictor = of.terms.design @ (unknown[:linear].T * scale[:linear]).T
    predictor += cutpoints(unknown[linear:])[of.terms.cut]
    predictor = (predictor.T * of.terms.sign).T
    return predictor, np.exp(unknown[linear:])


def _values(of: Block, unknown: Floats, predictor: Floats, gap: Floats) -> Floats:
    away = (unknown.T - of.start).T
    fit = of.terms.weight @ log_expit(predictor) + of.middle @ np.log(-np.expm1(-gap))
    return np.asarray(fit - of.precision @ away**2 / 2)


def _slopes(of: Block, scale: Floats, unknown: Floats) -> tuple[float, Floats, Floats]:
    """Log density, its gradient, and the curvature's entries (minus the second derivatives), at unknowns (size,)."""
    terms, linear = of.terms, of.effects + 1
    predictor, gap = _predict(of, scale, unknown)
    miss = expit(-predictor)
    pull = terms.weight * miss
    bend = pull * (1 - miss)
    pull = pull * terms.sign
    gradient = of.precision * (of.start - unknown)
    gradient[:linear] += (terms.transposed @ pull) * scale[:linear]
    sources = [bend]
    if of.gaps:
        turn = np.tri(of.gaps + 1, of.gaps, -1)
        turn = (turn - turn.mean(0)) * gap  # slope of each cutpoint (gaps + 1, gaps) in each log gap
        by_cut = np.bincount(terms.cut, pull, of.gaps + 1)
        ratio = -gap * np.exp(-gap) / np.expm1(-gap)
        gradient[linear:] += turn.T @ by_cut + of.middle * ratio
        own = (turn.T * np.bincount(terms.cut, bend, of.gaps + 1)) @ turn
        own -= np.diag(turn.T @ by_cut + of.middle * ratio * (1 + gap / np.expm1(-gap)))
        sources += [*(bend * turn[terms.cut].T), own.ravel()]
    ordered = scale[of.order]
    entries = (of.pattern @ np.concatenate(sources)) * ordered[of.row] * ordered[of.column]
    entries[of.row == of.column] += of.precision[of.order]
    return float(_values(of, unknown, predictor, gap)), gradient, entries


def gradient(of: Block, log_sd: Floats, unknown: Floats) -> Floats:
    """Slopes (size,) of `log_density` at unknowns (size,)."""
    return _slopes(of, _scale(of, log_sd), unknown)[1]


def curvature(of: Block, log_sd: Floats, unknown: Floats) -> Floats:
    """Minus the second derivatives (size, size) of `log_density`, as a full matrix in the order of the unknowns."""
    entries = _slopes(of, _scale(of, log_sd), unknown)[2]
    return np.asarray(_matrix(of, entries).toarray()[np.ix_(of.place, of.place)])


def _matrix(of: Block, entries: Floats) -> Any:
    return sparse.csc_matrix((entries, of.row, of.pointer), shape=(len(of.start), len(of.start)))


def peak(of: Block, log_sd: Floats, start: Floats | None = None) -> Peak:
    """The block's mode at log standard deviations (effects,), from a start near it where there is one."""
    scale = _scale(of, log_sd)
    at = of.start if start is None else start
    value, slope, entries = _slopes(of, scale, at)
    lift, edge = 0.0, (of.row == of.column) & (of.order[of.row] > of.effects)
    for _ in range(STEPS):
        factor = splu(_matrix(of, entries), "NATURAL", diag_pivot_thresh=0, options=SYMMETRIC)
        step = factor.solve(slope[of.order])[of.place]
        gain = float(slope @ step)
        pivots = factor.U.diagonal() if gain < CLOSE else of.precision
        if gain < 0 or pivots.min() <= 0:  # far from the mode the gaps may curve the wrong way
            lift = max(10 * lift, 1.0)
            entries = entries + lift * edge
            continue
        if gain < CLOSE:
            break
        size = 1 / max(1.0, np.abs(step[of.effects :]).max())  # a long step of a log gap would overflow
        following = _slopes(of, scale, at + size * step)
        while following[0] < value + size * gain / 10 and size > 1e-6:
            size /= 2
            following = _slopes(of, scale, at + size * step)
        at = at + size * step
        lift, (value, slope, entries) = 0.0, following
    value += gain / 2
    constant = np.log(of.precision).sum() / 2
    return Peak(log_sd, at + step, value, value + constant - np.log(pivots).sum() / 2, factor, pivots)


def wobble(of: Block, about: Peak, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Unknowns (size, draws) of the normal approximation in opposite pairs, and the log of (true over normal) density.

    That log is (draws,), and in parts (groups + 1, draws): each level of the finest effect, and a rest.
    With L D L' the curvature, L D^(1/2) e has the curvature as covariance, and solving it the inverse.
    """
    root = about.factor.L @ (np.sqrt(about.pivots)[:, None] * rng.standard_normal((len(of.start), draws // 2)))
    half = about.factor.solve(root)
    square = (root * half).sum(0) / 2
    away = half[of.place]
    unknown = about.mode[:, None] + np.concatenate([away, -away], axis=1)
    scale = _scale(of, about.log_sd)
    predictor, gap = _predict(of, scale, unknown)
    whole = _values(of, unknown, predictor, gap) - about.value + np.concatenate([square, square])
    middle = _predict(of, scale, about.mode)[0][:, None]
    miss = expit(-middle)
    away = predictor - middle
    part = log_expit(predictor) - log_expit(middle) - miss * away + miss * (1 - miss) * away**2 / 2
    part = of.groups @ (of.terms.weight[:, None] * part)
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
