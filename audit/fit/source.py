"""The labels that a model is fitted to: a team's own file, read as `countback judge` reads it, or a paper's release.

Only one scale goes into a model, so one question or all that share a scale; a label that is not valid stays out and is
counted.
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.judge.input import read_inputs, write_draft
from countback.audit.judge.notes import choice_lines
from countback.audit.judge.settings import read_settings
from countback.audit.judge.study import build
from countback.audit.judge.words import listed
from countback.audit.recount import Absent, Data
from countback.audit.sources import Sources
from countback.claims.registry import PAPERS, find_papers, list_papers, load_paper
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from numpy.typing import NDArray

Codes = NDArray[np.int64]
OWN = "item of one country only"
NOT_DRAWN = "item not drawn"
GIVEN = "given"  # a file of the user's, which no pin says anything about


@dataclass(frozen=True)
class File:
    """A file that was read. status: given | verified | partial | unverified."""

    name: str
    sha256: str
    status: str


@dataclass(frozen=True)
class Judge:
    """One judge's labels, shape (units,): places on the scale, -1 where it gave none. `everywhere`: one answer to an
    item stands for every country."""

    name: str
    answers: Codes
    everywhere: bool = False

    @property
    def missing(self) -> int:
        return int((self.answers < 0).sum())


@dataclass(frozen=True)
class Labels:
    """Valid human labels, shape (labels,), as codes; `label` is a place on `scale`, lowest first.

    A unit is an item as one country's people labelled it under one question: `unit` (labels,) says which, and
    `unit_item`, `unit_country`, `unit_question` (units,) what it is. `dropped` counts what was left out, by why;
    `read` and `notes` say how files were read and what was decided.
    """

    name: str
    item: Codes
    country: Codes
    annotator: Codes
    question: Codes
    label: Codes
    unit: Codes
    unit_item: Codes
    unit_country: Codes
    unit_question: Codes
    scale: tuple[str, ...]
    countries: tuple[str, ...]
    questions: tuple[str, ...]
    judges: tuple[Judge, ...]
    dropped: Mapping[str, int]
    files: tuple[File, ...]
    read: tuple[str, ...]
    notes: tuple[str, ...]
    synthetic: bool = False

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the questions that are in it."""
        return tuple(self.questions[code] for code in np.unique(self.question))

    @property
    def unverified(self) -> bool:
        """Whether a file of a paper's release is not the released one."""
        return any(file.status not in (GIVEN, "verified") for file in self.files)

    @property
    def pair(self) -> Codes:
        """A code for the item and country of each unit (units,)."""
        return self.unit_item * len(self.countries) + self.unit_country

    @property
    def drawn(self) -> bool:
        """Whether items were left out at random."""
        return any(why.startswith(NOT_DRAWN) for why in self.dropped)

    @property
    def several(self) -> bool:
        """Whether an item is asked several questions."""
        return len(np.unique(self.pair)) < len(self.pair)

    def of_units(self, kept: NDArray[np.bool_], why: str) -> Labels:
        """Without the units (units,) that are not `kept`, whose labels are counted as dropped for `why`."""
        rows, place = kept[self.unit], np.cumsum(kept) - 1
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in ("item", "country", "annotator", "question", "label")},
            **{name: getattr(self, name)[kept] for name in ("unit_item", "unit_country", "unit_question")},
            unit=place[self.unit[rows]],
            judges=tuple(replace(judge, answers=judge.answers[kept]) for judge in self.judges),
            dropped={**self.dropped, why: int((~rows).sum())},
        )

    def of_shared_items(self) -> Labels:
        """Only items that were labelled in two countries or more."""
        item, number = np.unique(np.unique(self.pair) // len(self.countries), return_counts=True)
        return self.of_units(np.isin(self.unit_item, item[number > 1]), OWN)

    def of_some_items(self, count: int, rng: np.random.Generator) -> Labels:
        """`count` items drawn at random, with all their labels; in proportion, of those of each set of countries."""
        item, place = np.unique(self.unit_item, return_inverse=True)
        if count >= len(item):
            return self
        table = np.zeros((len(item), len(self.countries)), bool)
        table[place, self.unit_country] = True
        kind = np.unique(table, axis=0, return_inverse=True)[1].ravel()
        mixed = rng.permutation(len(item))
        mixed = mixed[np.argsort(kind[mixed], kind="stable")]  # every so many of them takes each kind in proportion
        some = mixed[((np.arange(count) + rng.random()) * len(item) / count).astype(int)]
        kept = np.isin(self.unit_item, item[some])
        return self.of_units(kept, f"{NOT_DRAWN} ({count:,} of {len(item):,} were, at random)")


def read_labels(
    target: str, judges: Path | None, questions: Sequence[str], sources: Sources, config: Path | None, **told: Any
) -> Labels:
    """The labels of a file or folder, or else of a paper of the registry. Raises UserError with the next step.

    `told` are the options of `countback judge` about reading. A `config` that does not exist is written as a draft.
    """
    path = Path(target)
    try:
        here = path.exists() and not (path / "paper.toml").exists()
    except (OSError, ValueError) as error:
        raise UserError(f"{target!r:.80} cannot be looked at ({error}); check the path and its permissions") from None
    known = [folder.name.replace("_", "-") for folder in list_papers()]
    if here and target not in known:  # ./cubes is a folder, cubes a paper
        if sources.data is not None:
            raise UserError(f"--data is for a paper's released files, and {target} is a file of labels; leave it out")
        return _of_file(path, judges, questions, config, told)
    if target not in known and not path.exists():
        raise UserError(
            f"{target}: no such file, and no paper is called that; expected a file of labels, or one of "
            f"{', '.join(known)}"
        )
    if judges is not None or config is not None or any(told.values()):
        raise UserError(
            f"{target} is a paper, whose release is read in one way; leave out --judges, --config and whatever else "
            "says how to read a file"
        )
    return _of_paper(target, questions, sources)


def _of_file(
    path: Path, judges: Path | None, questions: Sequence[str], config: Path | None, told: Mapping[str, Any]
) -> Labels:
    drafted = config is not None and not config.exists()
    settings = read_settings(path, judges, config=None if drafted else config, **told)
    settings = replace(settings, command=settings.command.replace("countback judge", "countback fit", 1))
    if config is not None and drafted:
        write_draft(path, settings, config)
        raise UserError(f"{config} was written: read it, correct it, and run the same command again")
    inputs = read_inputs(path, judges, settings)
    study = build(inputs)
    scales = {name: inputs.scales[name] for name in study.questions if name in inputs.scales}
    chosen, scale = _questions(study.questions, np.unique(study.question), scales, questions, path.name)
    if len(scale) > 2 and not inputs.ordered:
        raise UserError(
            f"The labels {listed(map(repr, scale))} have no known order, and the model is of ordered labels; name them "
            f"from lowest to highest: countback fit {shlex.quote(str(path))} --labels LOWEST,...,HIGHEST"
        )
    reports = [report for report in (inputs.report, inputs.judge_report) if report is not None]
    human = inputs.table.mask(inputs.table.kind == HUMAN)
    lines = [line for report in reports for line in report.lines(public=True)]
    units = _Units(
        study.unit, study.annotator, study.label, study.item, study.country, study.question,
        tuple(Judge(judge.name, judge.answers, judge.everywhere) for judge in study.judges),
    )  # fmt: skip
    return _labels(
        path.name,
        units,
        inputs.table,
        chosen,
        scale,
        dropped=_dropped(human),
        files=tuple(File(file.name, file.sha256, GIVEN) for report in reports for file in report.files),
        read=tuple(dict.fromkeys(lines)),
        notes=tuple(choice_lines(inputs.choices)),
    )


def _of_paper(name: str, questions: Sequence[str], sources: Sources) -> Labels:
    """A paper whose folder has a module `study` with `load(data)`, which gives a `table` and a `report`."""
    folder = find_papers((name,))[0]
    paper = load_paper(folder)
    if folder.resolve().parent != PAPERS.resolve() or not (folder / "study.py").exists():
        raise UserError(
            f"{paper.id}: nothing says how labels are read from its release; expected a study.py in its folder (cubes "
            "has one), or give a file of labels in place of a paper"
        )
    data = Data(sources.locate(paper))
    try:
        study = importlib.import_module(f"countback.claims.papers.{folder.resolve().name}.study").load(data)
    except Absent as error:
        raise UserError(
            f"unchecked: archive absent: {error}. To fit it: countback fetch {paper.id}, or countback fit {paper.id} "
            "--data DIR with the released file in DIR",
            exit_code=3,
        ) from None
    table: LabelTable = study.table
    scales = dict.fromkeys(table.questions, table.labels)
    human = table.mask(table.kind == HUMAN)
    chosen, scale = _questions(table.questions, np.unique(human.question[human.valid]), scales, questions, paper.id)
    return _labels(
        paper.id,
        _units(table),
        table,
        chosen,
        scale,
        dropped=_dropped(human),
        files=tuple(File(file.pin.name, file.sha256, file.status) for file in data.used),
        read=(),
        notes=study.report.notes,
        synthetic=bool(study.report.synthetic),
    )


@dataclass(frozen=True)
class _Units:
    """Labels (labels,) and units (units,) of a table, labels as codes of its vocabulary, before a scale is chosen."""

    unit: Codes
    annotator: Codes
    label: Codes
    item: Codes
    country: Codes
    question: Codes
    judges: tuple[Judge, ...]


def _units(table: LabelTable) -> _Units:
    """Of a table that holds humans and judges under the same names of items, countries and questions."""
    human = table.valid & (table.kind == HUMAN)
    shape = (len(table.items), len(table.countries), len(table.questions))
    place = np.ravel_multi_index((table.item, table.country, table.question), shape)
    keys, unit = np.unique(place[human], return_inverse=True)
    item, country, question = (np.asarray(part, np.int64) for part in np.unravel_index(keys, shape))
    judges = []
    for code in np.unique(table.annotator[table.kind == JUDGE]):
        mine = np.flatnonzero((table.kind == JUDGE) & (table.annotator == code) & np.isin(place, keys))
        answers = np.full(len(keys), -1, np.int64)
        answers[np.searchsorted(keys, place[mine])] = table.label[mine]
        judges.append(Judge(table.annotators[code], answers))
    annotator, label = table.annotator[human].astype(np.int64), table.label[human].astype(np.int64)
    return _Units(unit, annotator, label, item, country, question, tuple(judges))


def _labels(
    name: str, units: _Units, table: LabelTable, chosen: Sequence[int], scale: tuple[str, ...], **rest: Any
) -> Labels:
    """The units of the `chosen` questions, their labels as places on `scale`."""
    place = np.full(len(table.labels) + 1, -1, np.int64)  # the last for a label of -1
    for number, label in enumerate(scale):
        place[table.labels.index(label)] = number
    found = Labels(
        name=name,
        item=units.item[units.unit],
        country=units.country[units.unit],
        annotator=units.annotator,
        question=units.question[units.unit],
        label=place[units.label],
        unit=units.unit,
        unit_item=units.item,
        unit_country=units.country,
        unit_question=units.question,
        scale=scale,
        countries=table.countries,
        questions=table.questions,
        judges=tuple(replace(judge, answers=place[judge.answers]) for judge in units.judges),
        **rest,
    )
    asked = np.isin(units.question, chosen)
    found = found if asked.all() else found.of_units(asked, "another question")
    named = np.array([country != "" for country in table.countries])[found.unit_country]
    return found.of_units(named, "no country") if named.any() and not named.all() else found


def _questions(
    names: Sequence[str], present: Codes, scales: Mapping[str, Sequence[str]], wanted: Sequence[str], where: str
) -> tuple[list[int], tuple[str, ...]]:
    """Codes of the questions that are fitted together, and their scale."""
    there = [names[code] for code in present]
    unknown = [name for name in wanted if name not in there]
    if unknown:
        has = listed(map(repr, there), most=20) if any(there) else "one, without a name: leave --question out"
        raise UserError(f"{where}: no question is called {unknown[0]!r}; it has {has}")
    there = list(wanted) or there
    by_scale: dict[tuple[str, ...], list[str]] = {}
    for name in there:
        by_scale.setdefault(tuple(scales[name]), []).append(name)
    if len(by_scale) > 1:
        said = "; ".join(f"{listed(some)}: {', '.join(scale)}" for scale, some in by_scale.items())
        raise UserError(
            f"{where}: its questions are answered on {len(by_scale)} scales ({said}), and a model has one; choose a "
            "question with --question NAME"
        )
    scale, there = next(iter(by_scale.items()), ((), []))
    return [list(names).index(name) for name in there], scale


def _dropped(human: LabelTable) -> dict[str, int]:
    """Humans' rows that hold no valid label, by why."""
    return {reason: count for reason, count in human.counts().items() if reason != "valid"}
