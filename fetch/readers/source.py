"""Bytes of an export into text: gzip, byte-order mark, strict decoding."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.readers.report import SourceFile

AnyPath = str | PathLike[str]
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A file's name and its bytes, unpacked where it was gzip; `file` describes it as it lies on the disk.

    `secret` is a hash of the bytes that is printed nowhere: who has it has the file.
    """

    name: str
    data: bytes
    file: SourceFile
    secret: bytes

    @cached_property
    def value(self) -> Any:
        """The value of a JSON file, or the list of values of a file with one JSON value on each line."""
        return _load_json(self)

    def text(self, encoding: str = "utf-8") -> tuple[str, bool]:
        """The text and whether a byte-order mark was removed. Raises UserError with the offset of a wrong byte."""
        if self.data.startswith(_WIDE_MARKS) and encoding.lower().replace("-", "") == "utf8":
            raise UserError(
                f"{self.name} begins with a UTF-16 byte-order mark, and utf-8 was expected; say encoding='utf-16'."
            )
        try:
            text = self.data.decode(encoding)
        except UnicodeDecodeError as error:
            raise UserError(
                f"{self.name}: byte {error.start} (0x{self.data[error.start]:02X}) is not {encoding}. Name the "
                "encoding the file was written in, encoding='cp1252' for many spreadsheets."
            ) from None
        except (LookupError, ValueError) as error:
            raise UserError(f"{self.name} cannot be decoded as {encoding!r}: {error}.") from None
        return text.removeprefix("\ufeff"), text.startswith("\ufeff")


def stem(name: str) -> str:
    """A file's name without its last ending and without .gz: "za" for "za.csv.gz"."""
    bare = name.removesuffix(".gz")
    return bare.rpartition(".")[0] or bare


def open_source(path: Path, name: str) -> Source:
    """Reads one file. Raises UserError where it is absent, unreadable or a broken gzip file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; expected a file of labels.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    file = SourceFile(name, len(data), hashlib.sha256(data).hexdigest())
    secret = hashlib.blake2b(data, person=b"countback ids").digest()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(f"{path} is a broken gzip file ({error}); get it again.") from None
    return Source(name, data, file, secret)


def open_all(paths: Sequence[Path]) -> list[Source]:
    """Reads several files. Two of the same name take their folders' names with them, so that both can be told apart."""
    whole = [path.resolve() for path in paths]
    twice = next((path for path in whole if whole.count(path) > 1), None)
    if twice is not None:
        raise UserError(f"{twice.name} was given twice; its labels would count double.")
    depth, names = 1, [path.name for path in paths]
    while len(set(names)) < len(names):
        depth += 1
        names = ["/".join(path.parts[-depth:]) for path in whole]
    return [open_source(path, name) for path, name in zip(paths, names, strict=True)]


def as_paths(path: AnyPath | Sequence[AnyPath]) -> list[Path]:
    """One path or several. Raises UserError for none."""
    paths = [Path(path)] if isinstance(path, (str, PathLike)) else [Path(p) for p in path]
    if not paths:
        raise UserError("No file was given; expected at least one export of labels.")
    return paths


def _load_json(source: Source) -> Any:
    text, _ = source.text()
    try:
        return json.loads(text, object_pairs_hook=once)
    except RecursionError:
        raise UserError(f"{source.name} is nested too deeply to be an export of labels.") from None
    except ValueError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise UserError(f"{source.name} is not JSON: {whole}. Export it again, or get the whole file.") from None
        return list(_json_lines(source.name, text))


def _json_lines(name: str, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line, object_pairs_hook=once)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{name}, line {number}: not JSON ({error}); expected one value a line.") from None


class DoubledKeyError(ValueError):
    """A JSON object that gives one key twice: which of two answers stands, it does not say."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON (object_pairs_hook). Raises DoubledKeyError."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise DoubledKeyError(f"an object has the key {next(n for n in names if names.count(n) > 1)!r} twice")
    return made


def plain(value: object) -> str:
    """A JSON value as the text it would have in a cell: 1 is "1", 1.0 stays "1.0", null is empty, a list is JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def as_object(value: object, where: str) -> dict[str, Any]:
    """A JSON object, or a UserError that says where something else was found."""
    if not isinstance(value, dict):
        raise UserError(f"{where} is {_kind(value)}; expected an object in braces.")
    return value


def as_list(value: object, where: str) -> list[Any]:
    """A JSON list (null counts as empty), or a UserError that says where something else was found."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise UserError(f"{where} is {_kind(value)}; expected a list in brackets.")
    return value


def _kind(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return f"{type(value).__name__} {text if len(text) < 40 else text[:40] + '...'}"
