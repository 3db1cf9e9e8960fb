"""Members of the CuBEs archives as text and JSON; an error says what stands where something else was expected."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from countback.fetch.archive import open_archive
from countback.fetch.errors import UserError

MARKER = "SYNTHETIC.txt"  # its presence says that an archive is a stand-in and no release


def members(path: Path, wanted: Sequence[str]) -> dict[str, bytes]:
    """The wanted files of a zip or folder, wherever in it they lie, and a synthetic one's marker if it is there."""
    if path.is_dir():
        names = [str(p.relative_to(path)) for p in sorted(path.rglob("*")) if p.is_file()]
        return {base: read_file(path / name) for base, name in _places(path, names, wanted).items()}
    with open_archive(path) as archive:
        return {base: archive.read(name) for base, name in _places(path, archive.names, wanted).items()}


def _places(path: Path, names: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """The one place of each wanted base name."""
    found = {}
    for base in (*wanted, MARKER):
        places = [name for name in names if name.split("/")[-1] == base]
        if len(places) > 1 or (not places and base != MARKER):
            held = ", ".join(places or sorted(names)[:12]) or "nothing"
            raise UserError(f"{path} holds {held}; expected one file called {base}.")
        if places:
            found[base] = places[0]
    return found


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; check its name and permissions.") from error


def utf8(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{source} is not UTF-8 at byte {error.start}; expected UTF-8 as JSON and the release use it."
        ) from error


def load_json(data: bytes, source: str) -> dict[str, Any]:
    def refuse(word: str) -> Any:
        raise UserError(f"{source} holds the number {word}; expected JSON without NaN or infinity.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = Counter(key for key, _ in pairs)
        if twice := [key for key, n in keys.items() if n > 1]:
            raise UserError(f"{source} has the key {twice[0]!r} twice in one object; expected it once.")
        return dict(pairs)

    try:
        loaded = json.loads(utf8(data, source), parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise UserError(f"{source} is not JSON: {error}. Fetch the archive again.") from error
    except RecursionError as error:
        raise UserError(f"{source} is nested too deeply to be the release; fetch the archive again.") from error
    if not isinstance(loaded, dict) or not loaded:
        raise UserError(f"{source} holds a {shape(loaded)}; expected an object with one key per country.")
    return loaded


def shape(value: object) -> str:
    if isinstance(value, dict):
        return "object with the keys " + (", ".join(map(repr, list(value)[:8])) or "(none)")
    if isinstance(value, list):
        return f"list of {len(value)}"
    return "null" if value is None else f"{type(value).__name__} {value!r:.60}"


def get(task: Mapping[str, Any], path: Sequence[str], kind: type, where: str) -> Any:
    """The value at a path of keys; UserError with what stands there where it is absent or of another type."""
    value: Any = task
    for key in path:
        if not isinstance(value, dict) or key not in value:
            raise UserError(f"{where}: a {shape(value)} stands where {'.'.join(path)} was expected.")
        value = value[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UserError(f"{where}: {'.'.join(path)} is a {shape(value)}; expected a {kind.__name__}.")
    return value


def is_synthetic(path: Path) -> bool:
    """Whether a zip carries the marker of a stand-in."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.split("/")[-1] == MARKER for name in archive.namelist())
