"""Two audit runs, side by side: new, gone and no longer checked claims, other verdicts, other values, other inputs.

A run is a file of verdicts (schema countback.verdicts/1) or an entry of the ledger: @12 is entry 12, @-1 the last
recorded run, @-2 the one before.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countback.audit import ledger
from countback.audit.predict_text import wrap
from countback.audit.run import Run
from countback.claims.spec import read_text
from countback.claims.verdict import UNCHECKED
from countback.fetch.errors import UserError

SCHEMA = "countback.verdicts/1"
VALUES = ("reported", "recounted", "recounted_interval", "gap", "n", "agrees", "known")
_KEPT = ("id", "verdict", "reason", *VALUES)
_SHAPE = {"verdicts": ("id", "verdict"), "inputs": ("paper", "release", "file")}
_ENTRY = re.compile(r"@(-?[0-9]{1,12})")


@dataclass(frozen=True)
class Moved:
    """One claim, or one input file, whose `what` was `was` and is `now`."""

    id: str
    what: str
    was: Any
    now: Any


@dataclass(frozen=True)
class Diff:
    """Every claim stands in at most one of the first five lists."""

    new: tuple[str, ...]
    gone: tuple[str, ...]
    not_run: tuple[Moved, ...]  # judged before, unchecked now; `now` is the reason
    verdict: tuple[Moved, ...]
    value: tuple[Moved, ...]
    inputs: tuple[Moved, ...]
    kit: tuple[Moved, ...]

    def __bool__(self) -> bool:
        """Whether anything but the kit's versions differs."""
        return any((self.new, self.gone, self.not_run, self.verdict, self.value, self.inputs))

    def as_json(self) -> dict[str, Any]:
        """Schema countback.diff/1."""
        lists = {
            name: [vars(moved) for moved in getattr(self, name)]
            for name in ("not_run", "verdict", "value", "inputs", "kit")
        }
        return {"schema": "countback.diff/1", "new": list(self.new), "gone": list(self.gone), **lists}


def recorded(run: Run) -> dict[str, Any]:
    """A run as the ledger keeps it: without words, evidence and pictures, which the registry and the files hold."""
    told = run.as_json(pictures=False)
    return told | {"verdicts": [{key: one[key] for key in _KEPT} for one in told["verdicts"]]}


def load_run(name: str, path: Path, which: str = "named") -> dict[str, Any]:
    """A run by file or by entry of the ledger at `path`. Raises UserError for anything that is none.

    `which` of the runs it is, first or second, for messages.
    """
    match = _ENTRY.fullmatch(name)
    if match is not None:
        return _checked(_from_ledger(int(match[1]), path, which), name)
    if not Path(name).exists():
        raise UserError(
            f"the {which} run, {name}: no such file; expected what countback check --json {name} writes, or @-1 for "
            "the last run that countback check --record kept"
        )
    try:
        told = json.loads(read_text(Path(name)), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name}: not JSON: {error}; expected the file of countback check --json") from None
    return _checked(told, name)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _from_ledger(number: int, path: Path, which: str) -> Any:
    chain = ledger.open_ledger(path)
    if number > 0:
        entry = chain.entry(number)
        if entry.kind != "check":
            raise UserError(
                f"@{number}: this is an entry of kind {entry.kind}; expected a run, kept by countback check --record"
            )
        return entry.body
    runs = chain.entries("check", newest_first=True)
    for back, entry in enumerate(runs, 1):
        if back == -number:
            return entry.body
    raise UserError(
        f"the {which} run, @{number}: {path} holds fewer recorded runs; run countback check --record, which keeps one "
        "more"
    )


def _checked(told: Any, name: str) -> dict[str, Any]:
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        found = told.get("schema") if isinstance(told, dict) else type(told).__name__
        raise UserError(f"{name}: found schema {found!r}; expected {SCHEMA!r}, as countback check --json writes it")
    verdicts, inputs = (_objects(told.get(key), *keys) for key, keys in _SHAPE.items())
    if verdicts is None or inputs is None or not isinstance(told.get("kit", {}), dict):
        raise UserError(
            f"{name}: expected lists of verdicts and inputs, and the kit's versions; write it anew with countback "
            "check --json"
        )
    ids = [one["id"] for one in verdicts]
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise UserError(f'{name}: the claim "{twice}" stands twice; expected each once')
    return told


def _objects(found: Any, *keys: str) -> list[dict[str, Any]] | None:
    """A list of objects with text under these keys, or None."""
    good = isinstance(found, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(key), str) for key in keys) for one in found
    )
    return found if good else None


def compare_runs(first: dict[str, Any], second: dict[str, Any]) -> Diff:
    """What the second run has otherwise than the first."""
    before, after = ({one["id"]: one for one in run["verdicts"]} for run in (first, second))
    not_run, verdict, value = [], [], []
    for name, now in after.items():
        was = before.get(name)
        if was is None:
            continue
        if was["verdict"] != now["verdict"]:
            if now["verdict"] == UNCHECKED:
                not_run.append(Moved(name, "verdict", was["verdict"], now.get("reason", "")))
            else:
                verdict.append(Moved(name, "verdict", was["verdict"], now["verdict"]))
        elif keys := [key for key in VALUES if not _same(was.get(key), now.get(key))]:
            value.append(Moved(name, ", ".join(keys), *({key: one.get(key) for key in keys} for one in (was, now))))
    return Diff(
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
        tuple(not_run),
        tuple(verdict),
        tuple(value),
        tuple(_inputs(first, second)),
        tuple(_kit(first, second)),
    )


def _same(was: Any, now: Any) -> bool:
    """Equal; floats within 1e-12, the noise of another machine's arithmetic."""
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return all(map(_same, was, now))
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=1e-12)
    return bool(was == now)


def _inputs(first: dict[str, Any], second: dict[str, Any]) -> Iterator[Moved]:
    def told(run: dict[str, Any]) -> dict[str, str]:
        return {
            f"{one['paper']}/{one['release']}: {one['file']}": f"{one.get('status')} {one.get('sha256') or ''}".strip()
            for one in run["inputs"]
        }

    before, after = told(first), told(second)
    for name in [*before, *(name for name in after if name not in before)]:
        was, now = before.get(name, "not used"), after.get(name, "not used")
        if was != now:
            yield Moved(name, "input", was, now)


def _kit(first: dict[str, Any], second: dict[str, Any]) -> Iterator[Moved]:
    before, after = (run.get("kit", {}) for run in (first, second))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Moved(name, "version", before.get(name, "none"), after.get(name, "none"))


# --- words --------------------------------------------------------------------------------------------------------

_HEADS = {
    "verdict": "VERDICT CHANGED",
    "value": "VALUE CHANGED, VERDICT THE SAME",
    "not_run": "NO LONGER CHECKED",
    "inputs": "INPUT CHANGED",
    "kit": "VERSIONS",
}


def present(found: Diff) -> str:
    """The whole answer of `countback diff`."""
    lines: list[str] = []
    for head, moved in ((head, getattr(found, name)) for name, head in _HEADS.items()):
        if moved:
            lines.append(f"{head} ({len(moved)})")
            lines += [wrap(f"{one.id}: {_side(one.was)} -> {_side(one.now)}", 2, 2) for one in moved]
    for head, names in (("NEW", found.new), ("GONE", found.gone)):
        if names:
            lines += [f"{head} ({len(names)})", *(f"  {name}" for name in names)]
    if not found:
        lines.append("no claim and no input differs")
    return "\n".join(lines)


def _side(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_side(one)}" for key, one in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)
