"""The standard audit of a team's own labels: the plan of what is computed, in which order, and what it comes to.

`audit_labels` reads, compares and returns one tree of data (countback.audit.judge.tree). It words nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.judge.compare import compare
from countback.audit.judge.countries import agreement, grids, leans, seconds, tests
from countback.audit.judge.input import Inputs, read_inputs
from countback.audit.judge.settings import Settings
from countback.audit.judge.study import Study, build
from countback.audit.judge.traps import find_traps
from countback.audit.judge.tree import (
    CLOSE,
    FEWEST_CLUSTERS,
    Advice,
    Agreement,
    Audit,
    Comparison,
    JudgeReport,
    Scope,
    Trap,
)
from countback.models.identifiability import FEW_ANNOTATORS, Design, diagnose

DRAWS, SEED = 1000, 20261129
LEVEL = 0.95
LOW_ALPHA = 0.4  # below this, humans agree too little for their majority to be much of a reference
HARDLY = 0.2  # a kappa that stays below this is hardly better than chance
RARE = 0.1  # a label with less than this share is rare: kappa rests on the few units that have it
NEARLY_ALL = 0.95  # with more of one label, alpha rests on a handful of others
_SHUFFLED = 20_000_000  # units times shuffles: what the permutations of a large table are kept to
_FEWEST_SHUFFLES, _MOST_SHUFFLES = 99, 999
_FEWEST_PER_TEST = 40  # so many tests times the smallest p that shuffles can give is 0.025: Bonferroni can still reject


def audit_labels(
    labels: Path,
    judges: Path | None,
    settings: Settings,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    tell: Callable[[str], None] = lambda line: None,
) -> Audit:
    """The audit of one file of labels, and of the judges in it or in a file of their own. Raises UserError."""
    tell("reading")
    inputs = read_inputs(labels, judges, settings)
    study = build(inputs)
    tell("what the design can separate")
    country = np.searchsorted(study.present(), study.country)  # places in the scope's countries
    design = diagnose(study.item[study.unit], country[study.unit], study.annotator, question=study.question[study.unit])
    tell("agreement")
    agreed = tuple(agreement(study, draws=draws, seed=seed))
    reports = []
    for judge in study.judges:
        tell(f"judge {judge.name}")
        reports.append(compare(study, judge, draws=draws, seed=seed))
    tell("countries")
    shuffles = int(np.clip(_SHUFFLED // max(study.units, 1), _FEWEST_SHUFFLES, min(draws, _MOST_SHUFFLES)))
    lean = tuple(leans(study, draws=draws, seed=seed))
    for_tests = min(_FEWEST_PER_TEST * len(study.questions) - 1, 5 * _SHUFFLED // max(study.units, 1))
    tested = tuple(tests(study, draws=max(shuffles, for_tests), seed=seed))
    grid = tuple(grids(study, draws=shuffles, seed=seed))
    return Audit(
        seed=seed,
        draws=draws,
        level=LEVEL,
        ingest=inputs.report.to_dict(),
        ingest_lines=tuple(inputs.report.lines(public=True)),
        judge_ingest=None if inputs.judge_report is None else inputs.judge_report.to_dict(),
        judge_ingest_lines=() if inputs.judge_report is None else tuple(inputs.judge_report.lines(public=True)),
        choices=inputs.choices,
        scope=_scope(study, inputs),
        design=design,
        agreement=agreed,
        tests=tested,
        leans=lean,
        grids=grid,
        seconds=seconds(study, draws=draws, seed=seed),
        judges=tuple(reports),
        traps=find_traps(inputs, study, reports, agreed, labels, settings.options.get("columns", {})),
        not_concluded=tuple(_not_concluded(study, design, reports)),
        advice=tuple(_advice(study, design, agreed, reports)),
    )


def _scope(study: Study, inputs: Inputs) -> Scope:
    size = Counter(np.bincount(study.unit, minlength=study.units).tolist())
    return Scope(
        labels=len(study.unit),
        units=study.units,
        items=len(np.unique(study.item)),
        countries=tuple(study.countries[c] for c in study.present()),
        annotators=len(np.unique(study.annotator)),
        questions=study.questions,
        scales=inputs.scales,
        ordered=study.ordered,
        several=study.several,
        labels_per_unit=dict(sorted(size.items())),
    )


def _not_concluded(study: Study, design: Design, reports: Sequence[JudgeReport]) -> Iterator[Trap]:
    """What this audit is for and these labels do not answer, with why."""
    if not reports:
        yield Trap("no judge", {})
    if len(design.countries) < 2:
        yield Trap("one country", {})
    if not study.ordered:
        yield Trap("no order", {"labels": study.labels})
    for report in reports:
        who = {"judge": report.name}
        if report.alternative and not report.alternative[0].humans:
            yield Trap("no human to test", {**who, "min items": report.alternative[0].min_items})
        if report.raters is not None and report.raters.note:
            yield Trap("no raters", {**who, "why": report.raters.note})
        thin = [c.where for c in report.by_country if c.decision in ("too few", "undefined")]
        if thin:
            yield Trap("thin countries", {**who, "countries": thin, "fewest": FEWEST_CLUSTERS})
        for why, number in Counter(flat.skipped for flat in report.flat if flat.skipped).items():
            if why not in ("one country", "no order"):
                yield Trap(f"no flattening: {why}", {**who, "parts": number})
    if any(flat.ratio is not None for report in reports for flat in report.flat) and not design.separable:
        yield Trap("flattening nested", {})


def _advice(
    study: Study, design: Design, agreed: Sequence[Agreement], reports: Sequence[JudgeReport]
) -> Iterator[Advice]:
    """What follows for each judge, and then for the labels themselves."""
    for report in reports:
        yield _about_judge(report)
    if len(design.countries) > 1 and not design.separable:
        facts = {"kind": design.kind, "countries": len(design.countries), "shared": design.shared_items}
        yield Advice("", "cross", {**facts, "items": design.items})
    size = np.bincount(study.unit, minlength=study.units)
    alone = int((size == 1).sum())
    if alone * 10 >= study.units:
        yield Advice("", "second label", {"alone": alone, "units": study.units})
    if design.items < FEWEST_CLUSTERS:
        yield Advice("", "more items", {"items": design.items, "fewest": FEWEST_CLUSTERS})
    few = int((design.annotators_in < FEW_ANNOTATORS).sum())
    if few and len(design.countries) > 1:
        facts = {"countries": few, "of": len(design.countries), "fewest": FEW_ANNOTATORS}
        yield Advice("", "more annotators", {**facts, "least": int(design.annotators_in.min())})
    low = [row for row in agreed if not row.where and row.alpha.usable and row.alpha.high < LOW_ALPHA]
    low = [row for row in low if row.commonest < NEARLY_ALL]
    if low:
        parts = sum(not row.where for row in agreed)
        yield Advice("", "low agreement", {"rows": low, "of": parts, "limit": LOW_ALPHA})


def _about_judge(report: JudgeReport) -> Advice:
    overall = report.overall
    if overall is None:
        return Advice(report.name, "void", {"state": report.state, "rows": report.rows, "valid": report.valid})
    facts: dict[str, Any] = {"overall": overall, "countries": len(report.by_country)}
    if overall.decision == "undefined":
        return Advice(report.name, "no reference", facts)
    if overall.decision == "too few":
        return Advice(report.name, "too few", facts)
    kappas = [kappa for kappa in report.kappas if kappa.judge.usable]
    facts["kappas"] = kappas
    if kappas and all(kappa.human.high < HARDLY for kappa in kappas):
        return Advice(report.name, "noise", facts)
    if kappas and all(kappa.judge.high < HARDLY for kappa in kappas):
        return Advice(report.name, "chance", facts)
    behind = [c for c in report.by_country if c.decision == "behind"]
    facts |= {"behind": behind, "alternative": report.alternative[0] if report.alternative else None}
    if overall.decision == "behind":
        return Advice(report.name, "keep", facts)
    facts["unproven"] = not kappas or all(kappa.judge.low <= 0 for kappa in kappas)
    if overall.decision == "open" or facts["unproven"]:
        return Advice(report.name, "collect", {**facts, "needed": _needed(overall), "rare": _has_rare_label(report)})
    if behind:
        return Advice(report.name, "keep there", facts)
    tested = report.alternative[0] if report.alternative else None
    if tested is not None and tested.humans and not tested.passes:
        return Advice(report.name, "beside", facts)
    return Advice(report.name, "replace", facts)


def _has_rare_label(report: JudgeReport) -> bool:
    """Whether humans gave a label on under a tenth of the judge's units, so that kappa rests on few of them."""
    return report.shares is None or any(share < RARE for share in report.shares["human"].values())


def _needed(comparison: Comparison) -> int:
    """Items at which the interval would reach CLOSE to either side, its width falling with the root of their number."""
    figure = comparison.difference
    half = (figure.high - figure.low) / 2
    return int(np.ceil(figure.clusters * (half / CLOSE) ** 2))
