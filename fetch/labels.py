"""LabelTable: what every reader ends in and every estimator starts from.

One row per (item, question, country, annotator). Texts are kept once, in vocabularies, and rows hold integer
codes into them, so that a table of a million labels is a few arrays. A label that is not valid keeps its raw
text and a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
from countback.fetch.codebook import REASONS, VALID, Codebook, Match, reason_code
from countback.fetch.errors import UserError
from numpy.typing import ArrayLike, NDArray

HUMAN, JUDGE = 0, 1
KINDS = ("human", "judge")


@dataclass(frozen=True)
class LabelTable:
    """Rows of labels as integer codes; see the module's docstring. Every array has the same length n.

    item, question, country, annotator: int32 codes; kind: int8 (0 human, 1 judge); label: int16, -1 when not
    valid; raw: object array of the text as it stood; reason: int8 code into `reasons` (0 valid); seconds:
    float64, NaN unknown. Raises UserError where lengths or codes do not fit, or two valid rows have one key.
    """

    item: NDArray[np.int32]
    question: NDArray[np.int32]
    country: NDArray[np.int32]
    annotator: NDArray[np.int32]
    kind: NDArray[np.int8]
    label: NDArray[np.int16]
    raw: NDArray[np.object_]
    reason: NDArray[np.int8]
    seconds: NDArray[np.float64]
    items: tuple[str, ...]
    questions: tuple[str, ...]
    countries: tuple[str, ...]
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    reasons: tuple[str, ...] = REASONS

    def __post_init__(self) -> None:
        _check_arrays(self)
        twice = repeated_keys(self.item, self.question, self.country, self.annotator, self.valid)
        if twice.size:
            row = int(twice[0])
            raise UserError(
                f"{twice.size} valid rows repeat a key, the first at row {row}: "
                f"item {self.items[self.item[row]]!r}, question {self.questions[self.question[row]]!r}, "
                f"country {self.countries[self.country[row]]!r}, "
                f"annotator {self.annotators[self.annotator[row]]!r}. One valid label per key was expected; "
                "choose which to keep and give the others the reason 'duplicate'."
            )

    @classmethod
    def from_arrays(
        cls,
        *,
        item: Iterable[str],
        annotator: Iterable[str],
        label: Iterable[str | None],
        codebook: Sequence[str] | Mapping[str, Sequence[str]] | Codebook,
        question: Iterable[str] | None = None,
        country: Iterable[str] | None = None,
        kind: ArrayLike | None = None,
        reason: Iterable[str] | None = None,
        seconds: ArrayLike | None = None,
    ) -> Self:
        """From columns of text. `label` is raw (None: blank), matched exactly unless a Codebook says otherwise.

        A `reason` other than "valid" or "" overrules the match; `question` and `country` default to one
        nameless value.
        """
        book = Codebook.of(codebook)
        raws = list(label)
        n = len(raws)
        items, item_codes = encode(item, "item")
        annotators, annotator_codes = encode(annotator, "annotator")
        questions, question_codes = encode([""] * n if question is None else question, "question")
        countries, country_codes = encode([""] * n if country is None else country, "country")
        if question_codes.size != n:
            raise UserError(f"{question_codes.size} questions were given for {n} labels; expected one for each.")
        codes, reasons = _match_all(raws, question_codes, questions, book)
        if reason is not None:
            given = np.fromiter((reason_code(r or "valid") for r in reason), np.int8)
            reasons = np.where(given > VALID, given, reasons).astype(np.int8)
            codes = np.where(reasons == VALID, codes, -1).astype(np.int16)
        raw = np.empty(n, dtype=object)
        raw[:] = ["" if r is None else r for r in raws]
        return cls(
            item_codes, question_codes, country_codes, annotator_codes,
            np.zeros(n, np.int8) if kind is None else np.asarray(kind, dtype=np.int8),
            codes, raw, reasons,
            np.full(n, np.nan) if seconds is None else np.asarray(seconds, dtype=np.float64),
            items, questions, countries, annotators, book.labels,
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self.label.size)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Shape (n,): the rows that hold a label of the codebook."""
        return np.equal(self.reason, VALID)

    def where(
        self,
        *,
        item: str | Iterable[str] | None = None,
        question: str | Iterable[str] | None = None,
        country: str | Iterable[str] | None = None,
        annotator: str | Iterable[str] | None = None,
        label: str | Iterable[str] | None = None,
        kind: Literal["human", "judge"] | None = None,
        reason: str | Iterable[str] | None = None,
    ) -> NDArray[np.bool_]:
        """Shape (n,): the rows that meet every criterion. Raises UserError for a name the table lacks."""
        keep = np.ones(len(self), dtype=np.bool_)
        wanted = (
            ("item", item, self.item, self.items),
            ("question", question, self.question, self.questions),
            ("country", country, self.country, self.countries),
            ("annotator", annotator, self.annotator, self.annotators),
            ("label", label, self.label, self.labels),
            ("kind", kind, self.kind, KINDS),
            ("reason", reason, self.reason, self.reasons),
        )
        for name, value, codes, vocabulary in wanted:
            if value is not None:
                keep &= np.isin(codes, _positions(name, value, vocabulary))
        return keep

    def mask(self, keep: NDArray[np.bool_]) -> Self:
        """The rows where `keep` (shape (n,)) is true; vocabularies and codes stay as they are."""
        return replace(self, **{name: getattr(self, name)[keep] for name in ARRAYS})

    def require_pairs(self) -> None:
        """Raises UserError where no item has valid labels of two annotators on one question: nothing to compare."""
        key = self.item[self.valid].astype(np.int64) * max(len(self.questions), 1) + self.question[self.valid]
        order = np.argsort(key, kind="stable")
        key, who = key[order], self.annotator[self.valid][order]
        if not ((key[1:] == key[:-1]) & (who[1:] != who[:-1])).any():
            raise UserError(
                f"No item has labels of two annotators ({np.unique(who).size} annotators, {key.size} valid labels), "
                "so there is no agreement to compute. Check which column is the annotator and which the item."
            )

    def counts(self) -> dict[str, int]:
        """How many rows have each reason, "valid" among them; reasons with no row are left out."""
        counted = np.bincount(self.reason, minlength=len(self.reasons))
        return {reason: int(n) for reason, n in zip(self.reasons, counted, strict=True) if n}


ARRAYS = tuple(f.name for f in fields(LabelTable) if f.name not in
               ("items", "questions", "countries", "annotators", "labels", "reasons"))  # fmt: skip
_BITMAP = 1 << 26  # keys up to which one byte for each key that could occur is cheaper than sorting
_DTYPES: dict[str, Any] = {
    "item": np.int32, "question": np.int32, "country": np.int32, "annotator": np.int32, "kind": np.int8,
    "label": np.int16, "raw": np.object_, "reason": np.int8, "seconds": np.float64,
}  # fmt: skip


def encode(values: Iterable[str], name: str) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The distinct values in order of appearance, and the codes, shape (n,). UserError for a non-text."""
    column = list(values)
    seen: dict[str, int] = {value: code for code, value in enumerate(dict.fromkeys(column))}
    for value in seen:
        if not isinstance(value, str):
            raise UserError(f"The {name} {value!r} is {type(value).__name__}; expected text for every row.")
    return tuple(seen), np.fromiter(map(seen.__getitem__, column), np.int32, len(column))


def repeated_keys(
    item: NDArray[np.int32],
    question: NDArray[np.int32],
    country: NDArray[np.int32],
    annotator: NDArray[np.int32],
    among: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Rows (ascending) of `among` whose (item, question, country, annotator) an earlier row of it has."""
    rows = np.flatnonzero(among).astype(np.int64)
    if rows.size < 2:
        return rows[:0]
    key = np.zeros(rows.size, dtype=np.int64)
    span = 1
    for codes in (item, question, country, annotator):
        chosen = codes if rows.size == codes.size else codes[rows]
        width = int(chosen.max()) + 1
        if width == 1:
            continue
        if span * width >= 2**62:  # the product of four vocabularies can leave 64 bits: compress it so far
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max()) + 1
        key *= width
        key += chosen
        span *= width
    if span <= _BITMAP:
        held = np.zeros(span, np.bool_)
        held[key] = True
        if np.count_nonzero(held) == rows.size:
            return rows[:0]
    order = np.argsort(key, kind="stable")
    again = order[1:][key[order][1:] == key[order][:-1]]
    return np.sort(rows[again])


def _match_all(
    raws: list[str | None], question: NDArray[np.int32], questions: tuple[str, ...], book: Codebook
) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
    """Label codes and reason codes, shape (n,) each; every distinct (question, text) is matched once."""
    meaning: dict[tuple[int, str | None], Match] = {}
    codes, reasons = np.empty(len(raws), np.int16), np.empty(len(raws), np.int8)
    for row, key in enumerate(zip(question.tolist(), raws, strict=True)):
        if key not in meaning:
            meaning[key] = book.match(key[1], questions[key[0]])
        codes[row], reasons[row] = meaning[key].label, reason_code(meaning[key].reason)
    return codes, reasons


def _check_arrays(table: LabelTable) -> None:
    n = table.label.size
    for name in ARRAYS:
        array = getattr(table, name)
        if not isinstance(array, np.ndarray) or array.shape != (n,) or array.dtype != np.dtype(_DTYPES[name]):
            found = f"{getattr(array, 'dtype', type(array).__name__)} {getattr(array, 'shape', '')}"
            raise UserError(f"LabelTable.{name} is {found}; expected {np.dtype(_DTYPES[name])} ({n},).")
    if not n:
        return
    bounds = (
        ("item", table.items, 0), ("question", table.questions, 0), ("country", table.countries, 0),
        ("annotator", table.annotators, 0), ("kind", KINDS, 0), ("label", table.labels, -1),
        ("reason", table.reasons, 0),
    )  # fmt: skip
    for name, vocabulary, lowest in bounds:
        codes = getattr(table, name)
        if codes.min() < lowest or codes.max() >= len(vocabulary):
            raise UserError(
                f"LabelTable.{name} holds codes {codes.min()} to {codes.max()}; "
                f"expected {lowest} to {len(vocabulary) - 1}."
            )
    if ((table.label >= 0) != (table.reason == VALID)).any():
        raise UserError("A row of the LabelTable has a label and a reason against it, or neither of them.")


def _positions(name: str, value: str | Iterable[str], vocabulary: tuple[str, ...]) -> list[int]:
    names = [value] if isinstance(value, str) else list(value)
    unknown = [x for x in names if x not in vocabulary]
    if unknown:
        shown = ", ".join(map(repr, vocabulary[:12])) + (", ..." if len(vocabulary) > 12 else "")
        raise UserError(f"No {name} is called {unknown[0]!r}; the table holds {shown or 'none'}.")
    return [vocabulary.index(x) for x in names]
