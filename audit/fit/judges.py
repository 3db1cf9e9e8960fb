"""Judges beside humans: which of them can be in one model with these humans, and what the model says of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from countback.audit.fit.options import NUTS, Options
from countback.audit.fit.source import Judge, Labels
from countback.audit.fit.tree import Joint
from countback.fetch.errors import UserError
from countback.models.flattening import JointData, fit_joint, flattening, joint_data
from countback.models.identifiability import Design
from countback.models.ordinal import Prior

LEVEL = 0.9  # the level at which the intervals' coverage was simulated
_APART = 1_000_000  # from the seeds of the humans' fits


def judges_of(labels: Labels, design: Design, options: Options, engine: str) -> tuple[JointData, tuple[str, ...]]:
    """Humans and judges as one problem, and why some judges are not in it. Raises UserError where none can be."""
    if engine != NUTS:
        raise UserError("--model joint is only sampled, and the engine here is the approximation; add --engine nuts")
    if not labels.judges:
        raise UserError(f"--model joint: {labels.name} has no judge; give the judges' labels with --judges FILE")
    if labels.several:
        raise UserError("--model joint: an item is asked several questions; choose one with --question NAME")
    notes, kept = [], []
    for judge in labels.judges:
        why = _why_not(judge, design)
        if why:
            notes.append(f"judge {judge.name}: {why}; not in the model")
        else:
            kept.append(judge)
    if not kept:
        raise UserError(f"--model joint: no judge is left. {'. '.join(notes)}")
    data = joint_data(
        labels.label,
        labels.item,
        labels.country,
        labels.annotator,
        judge=np.repeat(np.arange(len(kept)), len(labels.unit_item)),
        judge_label=np.concatenate([judge.answers for judge in kept]),
        judge_item=np.tile(labels.unit_item, len(kept)),
        judge_country=np.tile(labels.unit_country, len(kept)),
        categories=len(labels.scale),
        countries=labels.countries,
        judges=[judge.name for judge in kept],
        question=labels.question if len(labels.asked) > 1 else None,
        leave_out=options.leave_out,
    )
    return data, tuple(notes)


def _why_not(judge: Judge, design: Design) -> str:
    if (judge.answers < 0).all():
        return "none of its answers is a label that humans used, on an item that they labelled"
    if judge.everywhere and design.shared_items:
        return "one answer to an item stands for every country, so it cannot lean by country at all"
    return ""


def fit_judges(
    data: JointData, notes: tuple[str, ...], prior: Prior, options: Options, tell: Callable[[str], None]
) -> Joint:
    """The joint model under one prior."""
    tell(f"sampling humans and {len(data.judges)} judges together")
    more: dict[str, Any] = {} if options.draws is None else {"draws": options.draws}
    posterior = fit_joint(
        data,
        prior,
        seed=options.seed + _APART,
        chains=options.chains,
        cores=options.jobs,
        progress=options.progress,
        **more,
    )
    found = flattening(posterior, data, level=LEVEL)
    said = (*notes, *(note for note in data.notes if note.startswith("judge ")))
    return Joint(posterior, found, LEVEL, data.missing, data.unmatched, said)
