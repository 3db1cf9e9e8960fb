"""Delimited text as coded columns: the distinct texts of a column once, and an integer for every row.

Two ways to the same answer. Where quotes only stand around whole cells, every cell is cut and numbered by NumPy on
the bytes; anywhere else Python's csv module reads. Neither shifts a column: a row that is too long or too short stops
the reading.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from numpy.typing import NDArray

_CHUNK = 50_000  # rows held as Python texts at a time
_COUNTED = 1_000_000  # keys up to which counting every key that could occur is cheaper than sorting
_BLOCK = 1 << 20  # bytes cut at a time, so that the arrays of a block stay in the processor's cache
_LONGEST = 64  # bytes of a cell that are compared as eight-byte words; columns with longer cells are cut one by one
_PRIMES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class Column:
    """values: the distinct texts in order of first appearance; codes: int32, shape (n,), positions in values."""

    values: tuple[str, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Column:
        """From one text per row."""
        column = list(texts)
        seen = {value: code for code, value in enumerate(dict.fromkeys(column))}
        return cls(tuple(seen), np.fromiter(map(seen.__getitem__, column), np.int32, len(column)))

    @classmethod
    def constant(cls, text: str, n: int) -> Column:
        """The same text in every row."""
        return cls((text,) if n else (), np.zeros(n, np.int32))

    def __len__(self) -> int:
        return int(self.codes.size)

    def counts(self) -> NDArray[np.int64]:
        """Shape (len(values),): rows per distinct text."""
        return np.bincount(self.codes, minlength=len(self.values)).astype(np.int64)

    def map(self, change: Callable[[str], str]) -> Column:
        """Every text changed; texts that become the same share a code, first appearance first."""
        new = Column.of(map(change, self.values))
        return Column(new.values, new.codes[self.codes] if len(self) else self.codes)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Column:
        """Some rows, with a vocabulary of only what they hold, in order of first appearance."""
        codes = self.codes[rows]
        present, first = np.unique(codes, return_index=True)
        order = present[np.argsort(first, kind="stable")]
        position = np.zeros(len(self.values), np.int32)
        position[order] = np.arange(order.size, dtype=np.int32)
        return Column(tuple(self.values[i] for i in order), position[codes])

    def texts(self) -> list[str]:
        """One text per row."""
        return [self.values[code] for code in self.codes.tolist()]


def distinct(key: NDArray[Any], bound: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values of `key` (integers from 0 to below `bound`), ascending, and the rows of each."""
    if bound <= _COUNTED:
        counted = np.bincount(key, minlength=1)
        present = np.flatnonzero(counted)
        return present.astype(np.int64), counted[present].astype(np.int64)
    present, rows = np.unique(key, return_counts=True)
    return present.astype(np.int64), rows.astype(np.int64)


def concatenate(parts: Sequence[Column]) -> Column:
    """The rows of several columns, one after the other, under one vocabulary."""
    if len(parts) == 1:
        return parts[0]
    joint = {value: code for code, value in enumerate(dict.fromkeys(v for part in parts for v in part.values))}
    codes = [np.fromiter((joint[v] for v in p.values), np.int32, len(p.values))[p.codes] for p in parts if len(p)]
    return Column(tuple(joint), np.concatenate(codes) if codes else np.zeros(0, np.int32))


def paired(left: Column, right: Column, join: Callable[[str, str], str]) -> Column:
    """One column out of two of the same length, by the texts of each pair that occurs."""
    key = left.codes.astype(np.int64) * max(len(right.values), 1) + right.codes
    present, codes = np.unique(key, return_inverse=True)
    texts = Column.of(join(left.values[k // len(right.values)], right.values[k % len(right.values)]) for k in present)
    return Column(texts.values, texts.codes[codes]) if len(left) else Column((), left.codes)


def read_delimited(text: str, delimiter: str, name: str) -> tuple[list[str], list[Column]]:
    """The header and one Column for each of its names. Raises UserError for a ragged row, with its line.

    `text` is the file decoded; `name` is how errors call it.
    """
    fast = _cut(text, delimiter)
    return fast if fast is not None else _by_csv_module(text, delimiter, name)


def _by_csv_module(text: str, delimiter: str, name: str) -> tuple[list[str], list[Column]]:
    limit = csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document; the default of 128 KiB is too small
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = next((row for row in reader if row), [])
        seen: list[dict[str, int]] = [{} for _ in header]
        parts: list[list[NDArray[np.int32]]] = [[] for _ in header]
        while chunk := list(islice(reader, _CHUNK)):
            rows = [row for row in chunk if row]
            if any(len(row) != len(header) for row in rows):
                raise _ragged(text, delimiter, name, len(header))
            for index, cells in enumerate(zip(*rows, strict=True)):
                codes = seen[index]
                for value in dict.fromkeys(cells):
                    codes.setdefault(value, len(codes))
                parts[index].append(np.fromiter(map(codes.__getitem__, cells), np.int32, len(cells)))
    except csv.Error as error:
        raise UserError(
            f"{name}, line {reader.line_num}: {error}. A delimited file with balanced quotes was expected; "
            "mend that line or export the file again."
        ) from None
    finally:
        csv.field_size_limit(limit)
    empty = np.zeros(0, np.int32)
    return header, [
        Column(tuple(codes), np.concatenate(part) if part else empty) for codes, part in zip(seen, parts, strict=True)
    ]


def _ragged(text: str, delimiter: str, name: str, width: int) -> UserError:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    row = next(row for row in reader if row and len(row) != width)
    return UserError(
        f"{name}, line {reader.line_num}: the row has {len(row)} cells and the header {width}. Most likely a cell "
        f"holds an unquoted {delimiter!r}; no column is shifted to make it fit. Export the file again with quotes, "
        "or mend that line."
    )


def _cut(text: str, delimiter: str) -> tuple[list[str], list[Column]] | None:
    """The same by NumPy; None where quotes hold more than one plain cell, or the rows are not all of one length."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" in text or "\0" in text or not text or text[0] == "\n" or not delimiter.isascii():
        return None
    data = text.encode("utf-8", "surrogatepass")
    data += b"" if data.endswith(b"\n") else b"\n"
    start = data.index(b"\n") + 1
    line = data[: start - 1].decode("utf-8", "surrogatepass")
    try:
        header = next(csv.reader([line], delimiter=delimiter, strict=True), [""])
    except csv.Error:  # quotes that are wrong, or a name that goes on in the next line
        return None
    parts: list[list[Column]] = []
    while start < len(data):
        stop = data.find(b"\n", min(start + _BLOCK, len(data) - 1)) + 1
        block = _cut_block(data[start:stop], ord(delimiter), len(header))
        if block is None:
            return None
        parts.append(block)
        start = stop
    columns = [concatenate([part[j] for part in parts]) for j in range(len(header))] if parts else None
    return header, columns or [Column((), np.zeros(0, np.int32)) for _ in header]


def _cut_block(data: bytes, delimiter: int, width: int) -> list[Column] | None:
    buffer = np.frombuffer(data + b"\0" * (_LONGEST + 8), np.uint8)
    newline = buffer[: len(data)] == 10
    stops = np.flatnonzero(newline | (buffer[: len(data)] == delimiter))
    if stops.size % width:
        return None
    ends = stops.reshape(-1, width)
    if (buffer[ends[:, -1]] != 10).any() or np.count_nonzero(newline) != len(ends):
        return None
    starts = np.concatenate(([0], stops[:-1] + 1)).reshape(-1, width)
    if width == 1 and (ends == starts).any():  # an empty line is no row, which is for the csv module to say
        return None
    quoted = buffer[starts] == 34
    marks = np.count_nonzero(buffer == 34)
    if marks:  # each quoted cell needs its two marks at its ends; if that is all of them, no cell hides a delimiter
        if marks != 2 * np.count_nonzero(quoted) or (buffer[ends - 1] != 34)[quoted].any():
            return None
        if (ends - starts)[quoted].min() < 2:
            return None
        starts, ends = starts + quoted, ends - quoted
    return [_number(data, buffer, starts[:, j], ends[:, j]) for j in range(width)]


def _number(data: bytes, buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Column:
    """Numbers the cells data[start:end] of one column by exact comparison of their bytes."""
    length = ends - starts
    n = starts.size
    if n == 0 or length.max() > _LONGEST:
        return Column.of(data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True))
    words = _words(buffer, starts, length)
    first = _first_rows(words, n)
    is_first = first == np.arange(n)
    position = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    rows = np.flatnonzero(is_first)
    values = tuple(data[starts[r] : ends[r]].decode("utf-8", "surrogatepass") for r in rows.tolist())
    return Column(values, position[first])


def _words(buffer: NDArray[np.uint8], starts: NDArray[np.int64], length: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
    """Each cell as eight-byte words, zero after its end (no cell holds a byte zero: see _cut)."""
    window = np.ndarray((buffer.size - 7,), np.dtype("<u8"), buffer, strides=(1,))
    keep = np.array([(1 << 8 * m) - 1 for m in range(8)] + [2**64 - 1], np.uint64)
    shortest, longest = int(length.min()), int(length.max())
    needed = max(1, -(-longest // 8))
    words = []
    for k in range(needed):
        word = window[starts + 8 * k if k else starts]
        if shortest == longest:
            word &= keep[min(longest - 8 * k, 8)]
        elif shortest < 8 * k + 8:
            word &= keep[np.clip(length - 8 * k, 0, 8)]
        words.append(word)
    return words


def _first_rows(words: list[NDArray[np.uint64]], n: int) -> NDArray[np.intp]:
    """For every row the first row that holds the same cell: rounds of hashing, each checked word by word.

    A round settles every cell whose hash no earlier cell has; the table starts small enough for the processor's
    cache, because most columns hold few distinct texts, and grows with every round.
    """
    first, rows, all_words = np.empty(n, np.intp), np.arange(n), words
    for attempt in count():
        bits = min(16 + 2 * attempt, 22)
        prime = np.uint64(_PRIMES[attempt % 4] + 2 * (attempt // 4))
        hashed = words[0] * prime
        for word in words[1:]:
            hashed ^= hashed >> np.uint64(31)
            hashed += word
            hashed *= prime
        slot = (hashed >> np.uint64(64 - bits)).astype(np.intp)
        table = np.empty(1 << bits, np.intp)
        table[slot[::-1]] = rows[::-1]  # of repeated positions the last one written stays: the first row
        leader = table[slot]
        same = words[0] == all_words[0][leader]
        for word, everywhere in zip(words[1:], all_words[1:], strict=True):
            same &= word == everywhere[leader]
        if same.all():
            first[rows] = leader
            return first
        first[rows[same]] = leader[same]
        rows = rows[~same]
        words = [word[~same] for word in words]
    raise AssertionError("unreachable: every round settles at least one row")
