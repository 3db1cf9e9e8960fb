"""Truths of synthetic studies that meet printed rates: of a held-out human, of judges, of the labels themselves.

Nothing is simulated. An item's labels are by different people, so given its content they are independent; content is
integrated over nodes of a normal, the labels of an item are enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from countback.models.resampling import Floats
from scipy.optimize import brentq, root
from scipy.special import expit, ndtri

LABELS, PER_ITEM = 3, 5
SCALE_LIMIT = 20.0  # of a judge: beyond it a judge is as good as certain

_NODES = ndtri((np.arange(61) + 0.5) / 61)  # of a normal, equally probable
_NODES = _NODES / np.sqrt((_NODES**2).mean())
_PANELS = np.array([(a, b, PER_ITEM - a - b) for a in range(PER_ITEM + 1) for b in range(PER_ITEM + 1 - a)])
_WAYS = np.array([factorial(PER_ITEM) / np.prod([factorial(n) for n in panel]) for panel in _PANELS])


@dataclass(frozen=True)
class Calibrated:
    """Cutpoints, standard deviation of content and scale of each judge that meet the printed rates in expectation.

    `expected` are comparisons a label, the human's rate, the judges' rates.
    """

    cutpoints: tuple[float, float]
    content: float
    scales: tuple[float, ...]
    expected: tuple[float, ...]


def calibrate(
    human: float, mean_label: float, middle: float, judges: Sequence[float], annotator: float, together: float
) -> Calibrated:
    """Solved for the held-out human's rate, the mean label and the share of middle labels; then for each judge's rate.

    Labels 0, 1, 2 score 1, 0.5 and 0; five a panel, tied references skipped. `annotator` is the standard deviation of
    people in logits, `together` that of what judges share, over that of content. A judge that cannot be good enough,
    because even one that knows the content errs, gets SCALE_LIMIT. Raises ValueError where nothing fits.
    """

    def unmet(at: Floats) -> Floats:
        shown = _shares(np.exp(at[0]) * _NODES, _cuts(at[1], at[2]), annotator)
        _, hits, n = _references(shown)
        mean = shown.mean(axis=0)
        found = hits.mean() / n.mean(), float(mean @ [1, 0.5, 0]), mean[1]
        return np.array(found) - (human, mean_label, middle)

    solved = root(unmet, [0.5, -0.9, 0.5], tol=1e-10)
    if not solved.success:
        raise ValueError(f"found no calibration for a human rate of {human:.3f}: {solved.message}")
    content, cuts = float(np.exp(solved.x[0])), _cuts(solved.x[1], solved.x[2])
    references, hits, n = _references(_shares(content * _NODES, cuts, annotator))

    def judge(scale: float) -> float:
        says = _shares(scale * content * _NODES, scale * cuts, scale * together * content)
        return float((references * says).sum(axis=1).mean() / n.mean())

    def scale_of(rate: float) -> float:
        if judge(SCALE_LIMIT) <= rate:
            return SCALE_LIMIT
        return float(brentq(lambda scale: judge(scale) - rate, 0.05, SCALE_LIMIT))

    scales = tuple(map(scale_of, judges))
    expected = n.mean() / PER_ITEM, hits.mean() / n.mean(), *map(judge, scales)
    return Calibrated((float(cuts[0]), float(cuts[1])), content, scales, tuple(map(float, expected)))


def _cuts(centre: float, log_gap: float) -> Floats:
    return np.asarray(centre + np.exp(log_gap) * np.array([-0.5, 0.5]))


def _shares(eta: Floats, cutpoints: Floats, others: float) -> Floats:
    """Probability of each label given `eta` (nodes,), over effects of standard deviation `others`; (nodes, labels)."""
    below = expit(cutpoints[:, None, None] - eta[:, None] - others * _NODES).mean(axis=2)
    return np.asarray(np.diff(below, axis=0, prepend=0, append=1).T)


def _references(shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Per item of five labels, given its label shares (nodes, 3): comparisons with each reference, human hits, all."""
    hits, references = np.zeros(len(_PANELS)), np.zeros((len(_PANELS), LABELS))
    for row, panel in enumerate(_PANELS):
        for own in np.flatnonzero(panel):
            others = panel - (np.arange(LABELS) == own)
            top = np.flatnonzero(others == others.max())
            if len(top) == 1:
                references[row, top[0]] += panel[own]
                hits[row] += panel[own] * (top[0] == own)
    chance = _WAYS * np.prod(shares[:, None, :] ** _PANELS, axis=2)
    return chance @ references, chance @ hits, chance @ references.sum(axis=1)
