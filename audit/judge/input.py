"""Labels to be judged, read with as few questions as honesty allows; whatever was decided for the user is written down.

A file is read twice: first as texts, to see which labels there are, then with the codebook that those make or that the
user gave. A decision that the data leave open stops with a question; one that they settle is made and reported.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.judge.columns import MOST_LABELS, UNKNOWN, Question, draft, missing_columns, open_table, question
from countback.audit.judge.settings import Settings, in_options
from countback.fetch.codebook import reason_code, tidy
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, LabelTable, encode, repeated_keys
from countback.fetch.readers import IngestReport, read_labels
from countback.fetch.readers.tables import Grid
from numpy.typing import NDArray

SETTLED_DUPLICATES = 0.05  # up to this share of repeated labels is noise of the export; more is a wrong column
Codebook = Mapping[str, tuple[str, ...]]
_ANSWERED = ("not_in_codebook", "several_labels", "padded", "case", "number_form", "judge_failed", "valid")
_MEANING = ("multi", "duplicates", "aliases", "several", "normalise", "multi_separator", "expected", "salt", "keep_pii")
_FEWEST = 2
_NAMED = 6  # answers that are named where none is a label


@dataclass(frozen=True)
class Choice:
    """Something that was decided from the data: `kind` names it and `facts` are what the decision rests on."""

    kind: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Inputs:
    """Everything that was read. `texts` is the labels' table with its ids as they stood; it is never shown.

    `scales` are the ordered labels of each question; `ordered` says whether that order means anything. The judges'
    table is None without a file of its own, and then judges may be in the labels' table.
    """

    table: LabelTable
    report: IngestReport
    texts: LabelTable
    scales: Codebook
    ordered: bool
    choices: tuple[Choice, ...]
    judges: LabelTable | None
    judge_report: IngestReport | None


def read_inputs(labels: Path, judges: Path | None, settings: Settings) -> Inputs:
    """Reads both files. Raises UserError where a person has to decide, with the option that says what."""
    texts = _texts(labels, settings)
    asked = _asked_for_several(texts)
    options = dict(settings.options)
    choices: list[Choice] = []
    questions = set(texts.questions)
    if asked and "multi" not in options and options.get("several") is None:
        options["multi"] = "each" if set(asked) == questions else sorted(asked)
        choices.append(Choice("several labels", {"questions": asked, "read as": options["multi"]}))
    book, ordered = _codebook(texts, settings, options)
    if settings.codebook is None:
        choices.append(Choice("codebook", {"labels": book, "ordered": ordered}))
    repeats, answers = _repeats(texts)
    if repeats and "duplicates" not in options and repeats <= SETTLED_DUPLICATES * answers:
        options["duplicates"] = "drop-both"
        choices.append(Choice("duplicates", {"repeated": repeats, "labels": answers}))
    given = settings.codebook if settings.codebook is not None else _as_given(book)
    table, report = _read(labels, settings, codebook=given, reader=settings.reader, **options)
    scales = _scales(table, book, options.get("multi"))
    if not (table.valid & (table.kind == HUMAN)).any():
        if report.unmatched:
            found = ", ".join(f"{form!r} {n:,}" for form, n in list(report.unmatched.items())[:_NAMED])
            raise UserError(
                f"{labels.name}: none of the answers is one of the labels given: found {found}. Name theirs, from "
                "lowest to highest, with --labels LOW,...,HIGH."
            )
        raise UserError(_no_human(labels.name, report), exit_code=3)
    judge_table, judge_report = None, None
    if judges is not None:
        judge_table, judge_report, more = _read_judges(judges, settings, given, table)
        choices += more
    two = all(len(scale) <= _FEWEST for scale in scales.values())
    return Inputs(table, report, texts, scales, ordered or two, tuple(choices), judge_table, judge_report)


def _no_human(name: str, report: IngestReport) -> str:
    """That there is nothing to hold a judge against, with what there is instead."""
    if report.valid:
        found = f"all {report.valid:,} labels in it are models'"
    else:
        counted = [*report.read.items(), *report.set_aside.items(), *report.refused.items()]
        found = "found " + (", ".join(f"{what} {n:,}" for what, n in counted if n) or "nothing")
    return (
        f"{name} holds no label by a human: {found}. Judges can only be held against humans: give a file of their "
        "labels (choices, ratings or words for a whole item; spans and regions are none), and the judges' with "
        "--judges FILE."
    )


def write_draft(labels: Path, settings: Settings, config: Path) -> None:
    """A file of settings to edit, filled in as far as the labels can tell. Raises UserError where it cannot be."""
    grid, asked = _columns(labels, settings.options)
    found: list[str] = []
    ordered = False
    if asked is None:
        book, ordered = _codebook(_texts(labels, settings), settings, settings.options)
        if len(set(book.values())) == 1:
            found = list(next(iter(book.values())))
    elif isinstance(column := asked.guess.get("label"), str):
        assert grid is not None
        found, ordered = _in_order({v for v in grid.columns[grid.header.index(column)].values if v.strip()})
    try:
        with config.open("x", encoding="utf-8") as file:
            file.write(draft(grid, asked, settings, found, ordered=ordered))
    except OSError as error:
        raise UserError(f"{config} cannot be written: {error.strerror}.") from None


def _columns(path: Path, options: Mapping[str, Any]) -> tuple[Grid | None, Question | None]:
    opened = open_table(path, dict(options))
    return (None, None) if opened is None else (opened[0], missing_columns(*opened))


def _texts(path: Path, settings: Settings, *, judges: bool = False, **more: Any) -> LabelTable:
    """The labels as texts: no text is in this codebook, so every row keeps its own. Raises UserError with questions."""
    options = {**(settings.judge_options if judges else settings.options), **more}
    reader = options.pop("reader", None) if judges else settings.reader
    try:
        if reader in (None, "long") and not options.get("annotator"):
            _, asked = _columns(path, options)
            if asked is not None:
                raise question(asked, settings, judges=judges)
        kept = {name: value for name, value in options.items() if name not in _MEANING}
        table, _ = read_labels(path, codebook=[UNKNOWN], reader=reader, several="exclude", keep_pii=True, **kept)
    except UserError as error:
        raise in_options(error, settings, judges=judges) from None
    return table


def _read(
    path: Path, settings: Settings, *, of_judges: bool = False, **options: Any
) -> tuple[LabelTable, IngestReport]:
    try:
        return read_labels(path, **options)
    except UserError as error:
        raise in_options(error, settings, judges=of_judges) from None


def _answers(table: LabelTable) -> NDArray[np.bool_]:
    """Rows that hold some answer, whatever it means."""
    return np.isin(table.reason, [reason_code(reason) for reason in _ANSWERED])


def _found(table: LabelTable, rows: NDArray[np.bool_]) -> dict[str, Counter[str]]:
    """Texts of each question among some rows, with how often they come."""
    texts, code = encode(table.raw[rows].tolist(), "label")
    key, number = np.unique(table.question[rows].astype(np.int64) * len(texts) + code, return_counts=True)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for k, n in zip(key.tolist(), number.tolist(), strict=True):
        found[table.questions[k // len(texts)]][texts[k % len(texts)]] += n
    return found


def _members(text: str) -> list[str]:
    """The labels in a cell: several where it is a JSON list."""
    if text.startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            return [text]
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return value
    return [text]


def _asked_for_several(texts: LabelTable) -> dict[str, int]:
    """Questions in which humans gave several labels at once, and how often."""
    found = _found(texts, _answers(texts) & (texts.kind == HUMAN))
    several = {q: sum(n for text, n in forms.items() if len(_members(text)) > 1) for q, forms in found.items()}
    return {q: n for q, n in several.items() if n}


def _codebook(texts: LabelTable, settings: Settings, options: Mapping[str, Any]) -> tuple[Codebook, bool]:
    """Each question's labels in order, and whether the order means something. See `_in_order` for orders found."""
    if settings.codebook is not None:
        told = settings.codebook
        per_question = told if isinstance(told, dict) else dict.fromkeys(texts.questions, told)
        return {q: tuple(map(str, labels)) for q, labels in per_question.items()}, settings.ordered is not False
    aliases, missing = options.get("aliases", {}), options.get("missing", {})
    sets: dict[str, set[str]] = {}
    for q, forms in _found(texts, _answers(texts) & (texts.kind == HUMAN)).items():
        parts = (tidy(part) for text in forms if text.strip() for part in _members(text))
        sets[q] = {aliases.get(part, part) for part in parts if part not in missing}
    for q, labels in sets.items():
        if len(labels) > MOST_LABELS:
            raise UserError(
                f"The labels{f' of question {q!r}' if q else ''} have {len(labels)} different texts "
                f"({', '.join(sorted(labels)[:3])}, ...), too many for a set of labels. Which labels are there? Answer "
                f"with --labels LOWEST,...,HIGHEST, or name another column: {settings.command} --columns label=COLUMN"
            )
    orders = {q: _in_order(_whole_scale(labels, list(sets.values()))) for q, labels in sets.items() if labels}
    ordered = bool(orders) and all(known for _, known in orders.values())
    return {
        q: tuple(labels) for q, (labels, _) in orders.items()
    }, ordered if settings.ordered is None else settings.ordered


def _whole_scale(labels: set[str], sets: Sequence[set[str]]) -> set[str]:
    """A question's labels, or those of a question whose labels hold all of them where no other question has the same.

    On a few items a label of the scale may just not have come up; a scale that two questions share is their own.
    """
    larger = [other for other in sets if labels < other]
    return min(larger, key=len) if larger and sets.count(labels) == 1 else labels


def _in_order(labels: Iterable[str]) -> tuple[list[str], bool]:
    """Numbers in their order, whole ones with the gaps filled; other texts by the alphabet, which is no order."""
    texts = sorted(labels)
    try:
        numbers = sorted(texts, key=float)
    except ValueError:
        return texts, False
    if all(text.isdecimal() and text == str(int(text)) for text in numbers):
        low, high = int(numbers[0]), int(numbers[-1])
        if high - low < MOST_LABELS:
            numbers = [str(n) for n in range(low, high + 1)]
    return numbers, True


def _as_given(book: Codebook) -> list[str] | dict[str, list[str]]:
    orders = set(book.values())
    return list(orders.pop()) if len(orders) == 1 else {q: list(labels) for q, labels in book.items()} or [UNKNOWN]


def _scales(table: LabelTable, book: Codebook, multi: Any) -> Codebook:
    """The labels of each question of the table that was read; sets of labels, where they occur, come last."""
    if multi == "each":
        return dict.fromkeys(table.questions, table.labels)
    plain = {label for labels in book.values() for label in labels}
    sets = tuple(label for label in table.labels if label not in plain)
    several = multi if isinstance(multi, list) else []
    return {q: book.get(q, table.labels) + (sets if q in several or multi is True else ()) for q in table.questions}


def _repeats(texts: LabelTable) -> tuple[int, int]:
    """Answers that repeat an earlier one's item, question, country and annotator, and all answers."""
    answered = _answers(texts) & (texts.raw != "")
    again = repeated_keys(texts.item, texts.question, texts.country, texts.annotator, answered)
    return int(again.size), int(answered.sum())


def _read_judges(
    path: Path, settings: Settings, codebook: Any, humans: LabelTable
) -> tuple[LabelTable, IngestReport, list[Choice]]:
    """The judges' file, with the humans' codebook. Whole numbers with a decimal are read where nothing else can be."""
    more: dict[str, Any] = {"kind": "judge"}
    choices = []
    options = dict(settings.judge_options)
    opened = open_table(path, options)
    if opened is not None:
        asked = missing_columns(*opened)
        if asked is not None and asked.missing == ("annotator",):
            more["annotator"] = "{file}"
            choices.append(Choice("one judge", {"file": path.name}))
    texts = _texts(path, settings, judges=True, **more)
    reader = options.pop("reader", None)
    aliases = _number_forms(_found(texts, _answers(texts)), humans.labels)
    if aliases:
        options["aliases"] = {**aliases, **options.get("aliases", {})}
        choices.append(Choice("number forms", {"forms": aliases}))
    table, report = _read(path, settings, of_judges=True, codebook=codebook, reader=reader, **options, **more)
    if opened is not None:
        choices += _country_columns(opened[0], report, humans)
    return table, report, choices


def _number_forms(found: Mapping[str, Counter[str]], labels: Sequence[str]) -> dict[str, str]:
    """Texts such as "2.0" that can only mean the label "2": the judges never wrote "2" itself, so nothing is merged."""
    texts = {text for forms in found.values() for text in forms}
    meant: dict[str, str] = {}
    for label in labels:
        if label.isdecimal() and label not in texts:
            forms = [
                text for text in texts if text.partition(".")[0] == label and text.partition(".")[2].strip("0") == ""
            ]
            if len(forms) == 1:
                meant[forms[0]] = label
    return meant


def _country_columns(grid: Grid, report: IngestReport, humans: LabelTable) -> list[Choice]:
    """Columns of the judges' file that were not read and hold names of the humans' countries."""
    if "country" in report.columns or len(humans.countries) < _FEWEST:
        return []
    found = []
    for name, column in zip(grid.header, grid.columns, strict=True):
        values = {value for value in column.values if value.strip()}
        if name in report.ignored_columns and values and values <= set(humans.countries):
            found.append(Choice("country column", {"column": name, "values": sorted(values)}))
    return found
