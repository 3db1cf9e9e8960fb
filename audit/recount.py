"""One recount: the files that a recipe may ask for, the recipe called, and its answer judged."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import numbers
import os
import sys
import traceback
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from countback.claims import verdict as v
from countback.claims.registry import PAPERS, Claim, Paper
from countback.claims.verdict import CannotRecount, Recount, Verdict
from countback.fetch.checksums import sha256_file
from countback.fetch.errors import IntegrityError, UserError
from countback.fetch.release import Pin


class Absent(UserError):
    """A released file that a recipe asked for is not here."""


class BrokenRecipe(UserError):
    """A recipe raised what no user can cause, or returned what is no recount."""


@dataclass(frozen=True)
class Located:
    """One file of a release. status: verified | partial (nothing contradicts the pin) | unverified | absent."""

    paper: str
    release: str
    pin: Pin
    path: Path | None
    sha256: str
    status: str
    why: str = ""  # for an absent file: what was tried

    def as_json(self) -> dict[str, Any]:
        return {
            "paper": self.paper,
            "release": self.release,
            "file": self.pin.name,
            "sha256": self.sha256,
            "status": self.status,
        }


@dataclass
class Data:
    """What a recipe is given: the paths of its release's files, by the name that releases.toml gives them.

    `used` collects what a recipe asked for: the evidence of its verdict.
    """

    files: dict[str, Located]
    used: list[Located] = field(default_factory=list)

    def path(self, name: str) -> Path:
        """The local file; raises Absent where there is none, UserError for a name that releases.toml does not have."""
        if name not in self.files:
            raise UserError(f'the recipe asks for "{name}", which releases.toml does not list: {sorted(self.files)}')
        located = self.files[name]
        self._use(located)
        if located.path is None:
            raise Absent(f"{name}: {located.why or 'not here'}")
        return located.path

    def beside(self, mapping: str, name: str) -> Path:
        """A file that the user's own mapping names, in the mapping's folder or below; nothing pins it."""
        path = self.path(mapping).parent / name
        self._use(_beside(self.files[mapping], name, path))
        return path

    def _use(self, located: Located) -> None:
        if located not in self.used:
            self.used.append(located)


@cache
def _beside(mapping: Located, name: str, path: Path) -> Located:
    try:
        pin = Pin(name)
    except ValueError as error:
        raise CannotRecount(f"{mapping.pin.name}: {error}") from None
    if not path.is_file():
        raise CannotRecount(f"{mapping.pin.name} names {name!r}, and {path.parent} has no such file; put it there")
    return replace(mapping, pin=pin, path=path, sha256=digest(path))


@cache
def digest(path: Path) -> str:
    """sha256 of a file that nothing pins, taken once a run."""
    return sha256_file(path)


def recount(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    """The verdict on one claim that a recipe recounts."""
    needed = [release for release in paper.releases if release.id in claim.needs]
    if needed and not any(release.files or release.mapping for release in needed):
        return v.unchecked(claim, v.NOT_RELEASED)
    data = Data(files)
    evidence: dict[str, Any] = {"recipe": claim.recipe, "with": dict(claim.arguments)}
    held = [located for located in files.values() if located.release in claim.needs]
    if held and all(located.path is None for located in held):  # recipes are not even imported: that takes time
        return v.unchecked(claim, f"{v.ABSENT}: {held[0].pin.name}: {held[0].why or 'not here'}", **evidence)
    try:
        found = _called(paper, claim, data)
    except Absent as error:
        return v.unchecked(claim, f"{v.ABSENT}: {error}", **evidence)
    except CannotRecount as error:
        return v.unchecked(claim, str(error), **evidence, files=_used(data))
    except (IntegrityError, BrokenRecipe):
        raise
    except UserError as error:
        return v.unchecked(claim, f"the data could not be read: {error}", **evidence, files=_used(data))
    evidence |= {"files": _used(data), "versions": kit()}
    drawn = [found.value, found.mc_error, *(found.low_high or ()), *(found.interval or ())]
    if any(isinstance(x, float) and not math.isfinite(x) for x in drawn):
        return v.unchecked(claim, "undefined for this data", **evidence)
    verdict = v.judge_recount(claim, found, evidence, paper.spec.rounding)
    if found.synthetic:
        return v.not_evidence(verdict, v.SYNTHETIC)
    if not data.used:
        return v.not_evidence(verdict, "the recipe asked for no released file")
    if any(located.status != "verified" for located in data.used):
        return v.not_evidence(verdict, v.UNVERIFIED)
    return verdict


def _called(paper: Paper, claim: Claim, data: Data) -> Recount:
    """What the recipe found. Whatever it prints goes to stderr; whatever it raises but a UserError is its own mistake,
    or that of data which no pin proves."""
    place = f'{paper.folder / "recipes.py"}: recipe "{claim.recipe}", claim {claim.full_id}'
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = getattr(_recipes(paper.folder), claim.recipe)(data, **dict(claim.arguments))
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        if os.environ.get("COUNTBACK_DEBUG"):
            raise
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith("recipes.py")]
        told = f"{type(error).__name__}{f' at line {lines[-1]}' if lines else ''}: {' '.join(str(error).split())}"
        if data.used and any(located.status != "verified" for located in data.used):
            raise CannotRecount(f"the data could not be read: {told}") from None
        raise BrokenRecipe(
            f"{place}: {told}; mend the recipe, or what claims.toml gives it (COUNTBACK_DEBUG=1 shows the traceback)"
        ) from None
    wrong = _wrong(found, claim)
    if wrong:
        raise BrokenRecipe(f"{place}: gave {wrong}; mend the recipe")
    assert isinstance(found, Recount)
    value = int(found.value) if isinstance(found.value, numbers.Integral) else found.value  # NumPy's would overflow
    undefined = [name for name, reading in found.readings.items() if not math.isfinite(reading)]
    return replace(
        found,
        value=value,
        n=None if found.n is None else int(found.n),
        readings={name: reading for name, reading in found.readings.items() if name not in undefined},
        notes=(*found.notes, *(f'undefined for this data: the reading "{name}"' for name in undefined)),
    )


def _wrong(found: object, claim: Claim) -> str:
    """What is wrong with what a recipe returned, or nothing."""
    if not isinstance(found, Recount):
        return f"a {type(found).__name__}, expected a Recount"
    if not isinstance(found.value, numbers.Rational | float | str):
        return f"a value of type {type(found.value).__name__}, expected an int, float, Fraction or word"
    if found.low_high is not None and len(claim.number.parts if claim.number else ()) < 2:
        return f'two ends, and the paper prints "{claim.reported}"'
    number = claim.number
    if found.low_high is None and number is not None and number.kind in ("range", "list"):
        if number.kind == "list" and [part.value for part in number.parts[1:]] == [found.n]:
            return ""  # "3 of 5", with its n
        return f'one value, and the paper prints "{claim.reported}"; low_high takes both (of "k of n", n the second)'
    return ""


def _used(data: Data) -> list[dict[str, str]]:
    return [{"file": f.pin.name, "sha256": f.sha256, "status": f.status} for f in data.used]


@cache
def _recipes(folder: Path) -> ModuleType:
    return paper_module(folder, "recipes")


def paper_module(folder: Path, name: str) -> ModuleType:
    """recipes, pictures or settle of a paper folder: a module of the kit, or a file of a folder of the user's own."""
    if folder.resolve().parent == PAPERS.resolve():
        return importlib.import_module(f"countback.claims.papers.{folder.resolve().name}.{name}")
    spec = importlib.util.spec_from_file_location(f"countback_{name}_{folder.name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass of the user's looks its module up
    spec.loader.exec_module(module)
    return module


@cache
def kit() -> dict[str, str]:
    """Name and version of the kit, and of what its numbers rest on."""
    from importlib.metadata import PackageNotFoundError, version  # 20 ms

    versions = {}
    for name in ("countback", "numpy", "scipy"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions
