"""Answers: what every reader ends in, and the one road from there to a validated LabelTable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from countback.fetch.codebook import MISSING, REASONS, STRINGIFIED, VALID, is_lost, reason_code, tidy
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable, repeated_keys
from countback.fetch.readers.columns import Column, concatenate, distinct
from countback.fetch.readers.countries import country_code
from countback.fetch.readers.duplicates import Keyed, parse_moments, settle
from countback.fetch.readers.expand import one_question_each
from countback.fetch.readers.matching import Matched, match_rows
from countback.fetch.readers.options import Options, per_file
from countback.fetch.readers.people import apply_people, check_attributes, hashed, namespaced, shown
from countback.fetch.readers.report import DuplicateReport, IngestReport, Tally
from countback.fetch.readers.source import Source
from numpy.typing import NDArray


@dataclass(frozen=True)
class Answers:
    """One row per answer, or per answer that is missing; every column has the same length n.

    state: int8, a reason that the reader knows already, 0 to match the label's text; time: ISO texts, "" unknown;
    attributes: what the file says about the annotator, to see whether an id stands for one person.
    """

    item: Column
    annotator: Column
    label: Column
    question: Column
    country: Column
    file: Column
    kind: NDArray[np.int8]
    state: NDArray[np.int8]
    seconds: NDArray[np.float64]
    time: Column
    attributes: dict[str, Column] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.label)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Answers:
        """Some of the rows."""
        texts = ("item", "annotator", "label", "question", "country", "file", "time")
        return replace(
            self,
            **{name: getattr(self, name).take(rows) for name in texts},
            **{name: getattr(self, name)[rows] for name in ("kind", "state", "seconds")},
            attributes={name: column.take(rows) for name, column in self.attributes.items()},
        )


def joined(parts: Sequence[Answers]) -> Answers:
    """The answers of several files, one after the other."""
    if len(parts) == 1:
        return parts[0]
    texts = ("item", "annotator", "label", "question", "country", "file", "time")
    columns: Any = {name: concatenate([getattr(part, name) for part in parts]) for name in texts}
    arrays: Any = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ("kind", "state", "seconds")}
    named = dict.fromkeys(name for part in parts for name in part.attributes)
    attributes = {
        name: concatenate([part.attributes.get(name, Column.constant("", len(part))) for part in parts])
        for name in named
    }
    return Answers(**columns, **arrays, attributes=attributes)


class Collector:
    """Gathers answers one at a time, for readers of nested files."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {
            name: [] for name in ("item", "annotator", "label", "question", "country", "file", "time")
        }
        self._kind: list[int] = []
        self._state: list[int] = []
        self._seconds: list[float] = []

    def add(
        self,
        item: str,
        annotator: str,
        label: str,
        *,
        file: str,
        question: str = "",
        country: str = "",
        judge: bool = False,
        state: str = "valid",
        seconds: object = None,
        time: object = None,
    ) -> None:
        """One answer. `state` is a reason the reader knows; "valid" leaves it to the codebook."""
        row = (item, annotator, label, question, country, file, time if isinstance(time, str) else "")
        for column, text in zip(self._texts.values(), row, strict=True):
            column.append(text)
        self._kind.append(JUDGE if judge else HUMAN)
        self._state.append(reason_code(state))
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e12
        self._seconds.append(float(seconds) if number else np.nan)  # type: ignore[arg-type]

    def answers(self) -> Answers:
        """All of them."""
        columns: Any = {name: Column.of(texts) for name, texts in self._texts.items()}
        return Answers(
            **columns,
            kind=np.array(self._kind, np.int8),
            state=np.array(self._state, np.int8),
            seconds=np.array(self._seconds, np.float64),
        )


def assemble(
    reader: str, answers: Answers, sources: Sequence[Source], options: Options, tally: Tally
) -> tuple[LabelTable, IngestReport]:
    """Cleans ids, matches labels, settles duplicates, hides people, and validates. See the modules that do each."""
    answers = _with_options(_clean_ids(answers, tally), options, tally)
    answers = _refuse_nameless(answers, tally)
    answers = _only_known_questions(answers, options, tally)
    if options.multi == "each":
        answers, options = one_question_each(answers, options)
    annotator = apply_people(answers.annotator, answers.kind, options)
    annotator = namespaced(annotator, answers.country, answers.file, answers.kind, options)
    if options.namespace != "global":
        check_attributes(annotator, answers.attributes, answers.kind != JUDGE)
    answers = replace(answers, annotator=annotator)
    matched = match_rows(answers.label, answers.question, answers.kind, answers.state, options, tally)
    reason, duplicates = _settle_duplicates(answers, matched, options)
    if not options.keep_pii:
        answers = replace(answers, annotator=hashed(annotator, answers.kind, sources, options))
    table = _table(answers, matched, reason)
    _note_thin_items(table, options, tally)
    return table, _report(reader, table, sources, options, tally, matched, duplicates)


def _clean_ids(answers: Answers, tally: Tally) -> Answers:
    cleaned: dict[str, Column] = {}
    for name in ("item", "annotator", "question", "country"):
        column: Column = getattr(answers, name)
        clean = [tidy(value) for value in column.values]
        for raw, value in zip(column.values, clean, strict=True):
            if is_lost(value):
                raise UserError(f"The {name} {raw!a} holds a character that was lost in decoding; name the encoding.")
            if value in STRINGIFIED and name in ("annotator", "country"):
                raise UserError(
                    f"The {name} {value!r} is most likely a missing value that was turned into a word; "
                    "leave such cells empty in the export."
                )
        changed = np.array([a != b for a, b in zip(column.values, clean, strict=True)], np.bool_)
        if changed.any():
            tally.repaired[f"{name}: white space or Unicode form"] += int(column.counts()[changed].sum())
            column = column.map(tidy)
        cleaned[name] = column
    return replace(answers, **cleaned)  # type: ignore[arg-type]


def _with_options(answers: Answers, options: Options, tally: Tally) -> Answers:
    """What was told beside the file: its annotator, its country, which annotators are judges."""
    changes: dict[str, object] = {}
    for name, option in (("annotator", options.annotator), ("country", options.country)):
        if option is not None:
            own = len([value for value in getattr(answers, name).values if value])
            if own:  # no names: they may be people's
                tally.notes.append(f"{name}={option!r} was taken in place of {own} that the file itself names")
            changes[name] = answers.file.map(lambda file, o=option, n=name: per_file(o, file, n) or "")  # type: ignore[misc]
    if options.country_names == "iso3":
        country = changes.get("country", answers.country)
        assert isinstance(country, Column)
        changes["country"] = country.map(lambda name: country_code(name) if name else "")
    if options.kind is not None:
        changes["kind"] = np.full(len(answers), JUDGE if options.kind == "judge" else HUMAN, np.int8)
    elif options.judges:
        absent = [j for j in options.judges if j not in answers.annotator.values]
        if absent:
            raise UserError(f"judges={list(options.judges)!r}: {absent[0]!r} is not among the annotators of the file.")
        named = np.array([v in options.judges for v in answers.annotator.values], np.bool_)
        changes["kind"] = np.where(named[answers.annotator.codes], JUDGE, answers.kind).astype(np.int8)
    return replace(answers, **changes)  # type: ignore[arg-type]


def _refuse_nameless(answers: Answers, tally: Tally) -> Answers:
    """Rows without an item or an annotator cannot be compared with anything; they are counted, not kept."""
    keep = np.ones(len(answers), np.bool_)
    for name, column in (("item", answers.item), ("annotator", answers.annotator)):
        if "" in column.values:
            empty = column.codes == column.values.index("")
            tally.refused[f"rows without {'an' if name[0] in 'ai' else 'a'} {name}"] += int((keep & empty).sum())
            keep &= ~empty
    if len(answers) and not keep.any():
        raise UserError(
            f"No row names both an item and an annotator ({', '.join(f'{k}: {n}' for k, n in tally.refused.items())}): "
            "there is no rater identity, so agreement cannot be computed. Export who answered, or say "
            "annotator='{file}' if every file is one person's."
        )
    return answers if keep.all() else answers.take(keep)


def _only_known_questions(answers: Answers, options: Options, tally: Tally) -> Answers:
    allowed = options.codebook.allowed
    if allowed is None:
        return answers
    unknown = np.array([q not in allowed for q in answers.question.values], np.bool_)
    if not unknown.any():
        return answers
    for question, n, out in zip(answers.question.values, answers.question.counts(), unknown, strict=True):
        if out:
            tally.set_aside[f"question {question!r}, which the codebook does not list"] += int(n)
    keep = ~unknown[answers.question.codes]
    if not keep.any():
        raise UserError(
            f"The codebook lists the questions {sorted(allowed)}; the file has {sorted(answers.question.values)}. "
            "Name the file's questions in the codebook."
        )
    return answers.take(keep)


def _settle_duplicates(
    answers: Answers, matched: Matched, options: Options
) -> tuple[NDArray[np.int8], DuplicateReport | None]:
    a = answers
    valid = matched.reason == VALID
    repeated = repeated_keys(a.item.codes, a.question.codes, a.country.codes, a.annotator.codes, valid)
    if not repeated.size:
        return matched.reason, None
    group = a.item.codes.astype(np.int64) * max(len(a.question.values), 1) + a.question.codes
    group = np.unique(group, return_inverse=True)[1] * max(len(a.country.values), 1) + a.country.codes
    rows = Keyed(group.astype(np.int64), a.annotator.codes, matched.label, matched.reason)

    def moments(asked: NDArray[np.int64]) -> NDArray[np.float64] | None:
        zones = [per_file(options.zone, a.file.values[code], "zone") for code in a.file.codes[asked].tolist()]
        return parse_moments(a.time, asked, zones)

    def describe(row: int) -> str:
        question = a.question.values[a.question.codes[row]]
        asked = f", question {question!r}" if question else ""
        who = shown(a.annotator.values[a.annotator.codes[row]])
        return f"item {a.item.values[a.item.codes[row]]!r}{asked}, annotator {who}"

    return settle(rows, repeated, options.duplicates, matched.labels, moments, describe)


def _table(answers: Answers, matched: Matched, reason: NDArray[np.int8]) -> LabelTable:
    a = answers
    texts = np.empty(len(a.label.values), dtype=object)
    texts[:] = a.label.values
    label = np.where(reason == VALID, matched.label, -1).astype(np.int16)
    return LabelTable(
        a.item.codes, a.question.codes, a.country.codes, a.annotator.codes, a.kind, label,
        texts[a.label.codes] if len(a) else np.empty(0, dtype=object), reason, a.seconds,
        a.item.values, a.question.values, a.country.values, a.annotator.values, matched.labels,
    )  # fmt: skip


def _note_thin_items(table: LabelTable, options: Options, tally: Tally) -> None:
    """Where the project promised several answers an item and the export holds fewer, some were lost on the way."""
    if options.expected is None or not len(table):
        return
    humans = table.kind == HUMAN
    width = max(len(table.annotators), 1)
    key = table.item[humans].astype(np.int64) * width + table.annotator[humans]
    held = np.bincount(distinct(key, width * len(table.items))[0] // width, minlength=len(table.items))
    thin = int((held < options.expected).sum())
    if thin:
        tally.notes.append(
            f"{thin} of {len(table.items)} items have fewer than the {options.expected} annotators expected (at most "
            f"{int(held.max())}): the export may have kept one of several responses"
        )


def _nonzero(counter: Counter[str]) -> dict[str, int]:
    return {what: n for what, n in counter.items() if n}


def _report(
    reader: str,
    table: LabelTable,
    sources: Sequence[Source],
    options: Options,
    tally: Tally,
    matched: Matched,
    duplicates: DuplicateReport | None,
) -> IngestReport:
    found = table.counts()
    counts: dict[str, int | None] = {reason: found.get(reason, 0) for reason in REASONS}
    for state in MISSING:
        if state in tally.hidden and not counts[state]:
            counts[state] = None
    humans = table.kind == HUMAN
    width = max(len(table.countries), 1)
    key = table.annotator[humans].astype(np.int64) * width + table.country[humans]
    seen, _ = distinct(key, width * len(table.annotators))
    per_country = np.bincount(seen % width, minlength=len(table.countries))
    return IngestReport(
        reader=reader,
        files=tuple(source.file for source in sources),
        columns=dict(tally.columns),
        read=_nonzero(tally.read),
        counts=counts,
        repaired=_nonzero(tally.repaired),
        repaired_forms=dict(matched.repaired),
        refused=_nonzero(tally.refused),
        set_aside=_nonzero(tally.set_aside),
        unmatched=dict(matched.unmatched),
        flags=_nonzero(tally.flags),
        unknown=tuple(tally.unknown),
        replies=dict(matched.replies),
        duplicates=duplicates,
        per_country={c: int(n) for c, n in zip(table.countries, per_country, strict=True)},
        pii_dropped=tuple(dict.fromkeys(tally.pii)),
        ignored_columns=tuple(dict.fromkeys(tally.ignored)),
        ids="as they stood" if options.keep_pii else "hashed",
        notes=tuple(tally.notes),
    )
