"""Raw cells into labels: every distinct cell is understood once, and every row is then looked up.

A cell may hold one label, several labels as JSON, or, from a judge, a whole reply.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from countback.fetch.codebook import SET_SEPARATOR, VALID, Match, is_lost, reason_code
from countback.fetch.errors import UserError
from countback.fetch.labels import JUDGE
from countback.fetch.readers.columns import Column, distinct
from countback.fetch.readers.judge_replies import parse_reply
from countback.fetch.readers.options import Options
from countback.fetch.readers.report import Tally
from numpy.typing import NDArray

_LONGEST_LABEL = 200  # characters; a longer cell of a judge is a reply, where a lost character is not a lost label
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec"
_DATE = re.compile(
    rf"\d{{1,2}}[-/ ](?:{_MONTHS})[a-z]*(?:[-/ ]\d{{2,4}})?|(?:{_MONTHS})[a-z]*[-/ ]\d{{1,4}}"
    r"|\d{4}-\d{2}-\d{2}(?:[ T].*)?|\d{1,2}/\d{1,2}/\d{2,4}",
    re.IGNORECASE,
)
_SERIAL = re.compile(r"[2-6]\d{4}(?:\.0)?")  # days since 1900, from about 1954 to 2090
_RANGE = re.compile(r"\d+\s*[-–/]\s*\d+")


@dataclass
class Matched:
    """label int16 and reason int8, shape (n,); labels: the codebook's, then the sets of labels that occurred."""

    label: NDArray[np.int16]
    reason: NDArray[np.int8]
    labels: tuple[str, ...]
    repaired: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)
    replies: Counter[str] = field(default_factory=Counter)


def match_rows(
    raw: Column,
    question: Column,
    kind: NDArray[np.int8],
    state: NDArray[np.int8],
    options: Options,
    tally: Tally,
) -> Matched:
    """Labels and reasons of all rows. `state` overrules the cell where it is not 0 (valid).

    Raises UserError for two labels in a single-choice field (unless told to exclude them), for a label with U+FFFD, and
    for a column in which a spreadsheet turned labels into dates.
    """
    width = max(len(raw.values), 1)
    key = (question.codes.astype(np.int64) * 2 + kind) * width + raw.codes
    key[state != VALID] = -1
    present, n_rows = distinct(key + 1, width * 2 * max(len(question.values), 1) + 1)
    present -= 1
    book = Book(options)
    codes, reasons = np.full(present.size, -1, np.int16), np.zeros(present.size, np.int8)
    out = Matched(codes, reasons, ())
    for i, k in enumerate(present.tolist()):
        if k < 0:
            continue
        text, name = raw.values[k % width], question.values[k // (2 * width)]
        n = int(n_rows[i])
        match = book.judge(text, name, n, out) if k // width % 2 == JUDGE else book.cell(text, name, tally)
        codes[i], reasons[i] = match.label, reason_code(match.reason)
        if match.repair:
            tally.repaired[f"label: {match.repair}"] += n
            out.repaired[f"{text!a} -> {book.labels[match.label] if match.label >= 0 else match.reason!r}"] += n
        if match.reason in ("not_in_codebook", "case", "padded", "number_form"):
            out.unmatched[text] += n
    _refuse_spreadsheet_damage(out.unmatched, options.codebook.labels, tally.columns.get("label", "label"))
    _say_what_helps(out, options, tally)
    position = np.searchsorted(present, key)
    out.label = codes[position]
    out.reason = np.where(state != VALID, state, reasons[position]).astype(np.int8)
    out.labels = tuple(book.labels)
    return out


class Book:
    """The codebook of one reading, which learns the sets of labels that occur in questions that take several."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.codebook = options.codebook
        self.labels = list(options.codebook.labels)

    def cell(self, text: str, question: str, tally: Tally) -> Match:
        """One human cell."""
        several = self.options.takes_several(question)
        match = self.codebook.match(text, question)
        if match.reason == "valid" and not several:
            return match
        parts = self.parts(text, several) if match.reason in ("valid", "not_in_codebook") else None
        if parts is None:
            return match
        found = list(dict.fromkeys(parts))
        if len(found) < len(parts):
            tally.flags["a label repeated in one list"] += 1
        matches = [self.codebook.match(part, question) for part in found]
        if not found:
            return Match(-1, "blank")
        if len(found) == 1:
            return matches[0]
        if not several:
            return self._several(text, question)
        return self._set(matches)

    def parts(self, text: str, several: bool) -> list[str] | None:
        """The labels in a cell that holds JSON, or that a declared separator divides; None for a plain cell."""
        stripped = text.strip()
        if stripped[:1] in ("{", "["):
            try:
                value = json.loads(stripped)
            except (ValueError, RecursionError):
                return None
            if isinstance(value, dict):
                value = next(iter(value.values())) if len(value) == 1 else None
            if isinstance(value, str):
                return [value]
            flat = isinstance(value, list) and all(isinstance(v, str | int | float) for v in value)
            return [v if isinstance(v, str) else json.dumps(v) for v in value] if flat else None
        if several and self.options.multi_separator:
            return [part for part in text.split(self.options.multi_separator) if part.strip()]
        return [text] if several else None

    def _several(self, text: str, question: str) -> Match:
        if self.options.several == "exclude":
            return Match(-1, "several_labels")
        raise UserError(
            f"Multi-choice in a single-choice field: {text!r}"
            f"{f' in question {question!r}' if question else ''} holds two labels. Say multi=[{question!r}] if the "
            "question takes several, or several='exclude' to keep such rows out and count them."
        )

    def _set(self, matches: list[Match]) -> Match:
        bad = next((m for m in matches if m.label < 0), None)
        if bad is not None:
            return bad
        codes = sorted({m.label for m in matches})
        parts = [self.codebook.labels[code] for code in codes]
        if any(SET_SEPARATOR in part for part in parts):
            raise UserError(f"The labels {parts} cannot be joined into a set: {SET_SEPARATOR!r} is part of one.")
        name = SET_SEPARATOR.join(parts)
        if name not in self.labels:
            if len(self.labels) >= np.iinfo(np.int16).max:
                raise UserError("More than 32,767 different sets of labels occur; read them with multi='each'.")
            self.labels.append(name)
        return Match(self.labels.index(name), repair=next((m.repair for m in matches if m.repair), ""))

    def judge(self, text: str, question: str, rows: int, out: Matched) -> Match:
        """One judge's cell: a label as it stands, or a reply to be parsed."""
        if len(text) <= _LONGEST_LABEL:
            plain_match = self.codebook.match(text, question)
            if plain_match.reason not in ("not_in_codebook", "blank"):
                return plain_match

        def is_label(part: str) -> str:
            match = Match(-1, "blank") if is_lost(part) else self.codebook.match(part, question)
            return self.codebook.labels[match.label] if match.reason == "valid" else ""

        reply = parse_reply(text, is_label, key=self.options.reply_key, pattern=self.options.reply_pattern)
        out.replies[reply.method] += rows
        return Match(self.codebook.labels.index(reply.label)) if reply.label else Match(-1, "judge_failed")


def _refuse_spreadsheet_damage(unmatched: Counter[str], labels: tuple[str, ...], column: str) -> None:
    if not any(_RANGE.fullmatch(label) for label in labels):
        return
    for form in unmatched:
        if _DATE.fullmatch(form.strip()) or _SERIAL.fullmatch(form.strip()):
            raise UserError(
                f"Column {column!r} mixes ranges such as {next(x for x in labels if _RANGE.fullmatch(x))!r} with "
                f"dates or serial numbers such as {form!r}: likely spreadsheet damage. What the cell held cannot be "
                "recovered; go back to the file before the spreadsheet opened it."
            )


def _say_what_helps(out: Matched, options: Options, tally: Tally) -> None:
    book = options.codebook
    number_forms = [f for f in out.unmatched if book.match(f).reason == "number_form"]
    if number_forms:
        pairs = ", ".join(f"{f!r}: {f.strip().partition('.')[0]!r}" for f in number_forms[:5])
        tally.notes.append(f"whole numbers written with a decimal were not merged; aliases={{{pairs}}} would do so")
