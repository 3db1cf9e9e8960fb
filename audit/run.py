"""One audit: plan, locate the releases, recount, judge. Words nothing and prints nothing.

folders -> Paper -> Sources (which released files are here, and what is proved of them) -> Verdict per claim
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from countback.claims import verdict as v
from countback.claims.registry import PAPERS, Claim, Paper, find_papers, load_paper
from countback.claims.verdict import CannotRecount, Recount, Verdict
from countback.fetch.checksums import sha256_file
from countback.fetch.errors import IntegrityError, UserError
from countback.fetch.release import Pin

KINDS = ("arithmetic", "recount", "model", "metadata", "asserted")


class Absent(UserError):
    """A released file that a recipe asked for is not here."""


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


@dataclass(frozen=True)
class Run:
    """The result of one audit. `short` names papers that collected fewer claims than their paper.toml requires."""

    papers: tuple[Paper, ...]
    verdicts: tuple[Verdict, ...]
    inputs: tuple[Located, ...]
    short: tuple[str, ...] = ()

    def exit_code(self, *, strict: bool = False) -> int:
        """0 all that was checked agrees or is known; 1 something unexpected; 3 incomplete."""
        if any(not verdict.expected for verdict in self.verdicts):
            return 1
        if self.short or (strict and any(verdict.verdict == v.UNCHECKED for verdict in self.verdicts)):
            return 3
        return 0

    def as_json(self) -> dict[str, Any]:
        """The stable form, schema countback.verdicts/1."""
        return {
            "schema": "countback.verdicts/1",
            "kit": kit(),
            "inputs": [located.as_json() for located in self.inputs],
            "summary": v.summary(self.verdicts),
            "verdicts": [verdict.as_json() for verdict in self.verdicts],
        }


Obtain = Callable[[Paper], dict[str, Located]]


def audit(folders: Iterable[Path], obtain: Obtain, *, kinds: tuple[str, ...] = ()) -> Run:
    """Audit paper folders; `obtain` says where each paper's released files are. `kinds` keeps only those claims."""
    papers = tuple(load_paper(folder) for folder in folders)
    verdicts: list[Verdict] = []
    inputs: list[Located] = []
    for paper in papers:
        files = obtain(paper) if any(claim.recipe for claim in paper.claims) else {}
        inputs.extend(files.values())
        verdicts.extend(judge(paper, claim, files) for claim in paper.claims if not kinds or claim.kind in kinds)
    short = () if kinds else tuple(p.id for p in papers if len(p.claims) < p.spec.requires)
    return Run(papers, tuple(verdicts), tuple(inputs), short)


def judge(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    """The verdict on one claim."""
    verdict = _judge(paper, claim, files)
    if claim.drafts:
        more = f" and {len(claim.drafts) - 1} more" if claim.drafts[1:] else ""
        return v.not_evidence(verdict, f"{v.UNCONFIRMED}: {claim.drafts[0]}{more}")
    return verdict


def _judge(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    if claim.check is not None:
        return v.judge_relation(claim, paper.spec.rounding)
    if claim.asserted:
        return v.unchecked(claim, f"{v.ASSERTED}: {claim.asserted}")
    return _recount(paper, claim, files)


def _recount(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    needed = [release for release in paper.releases if release.id in claim.needs]
    if needed and not any(release.files or release.mapping for release in needed):
        return v.unchecked(claim, v.NOT_RELEASED)
    data = Data(files)
    evidence: dict[str, Any] = {"recipe": claim.recipe, "with": dict(claim.arguments)}
    held = [located for located in files.values() if located.release in claim.needs]
    if held and all(
        located.path is None for located in held
    ):  # recipes are not even imported: they are what takes time
        return v.unchecked(claim, f"{v.ABSENT}: {held[0].pin.name}: {held[0].why or 'not here'}", **evidence)
    try:
        recipe = getattr(_recipes(paper.folder), claim.recipe)
        found = recipe(data, **dict(claim.arguments))
    except Absent as error:
        return v.unchecked(claim, f"{v.ABSENT}: {error}", **evidence)
    except CannotRecount as error:
        return v.unchecked(claim, str(error), **evidence, files=_used(data))
    except IntegrityError:
        raise
    except UserError as error:
        return v.unchecked(claim, f"the data could not be read: {error}", **evidence, files=_used(data))
    if not isinstance(found, Recount):
        raise UserError(f"{claim.full_id}: recipe {claim.recipe} must return a Recount, found {type(found).__name__}")
    evidence |= {"files": _used(data), "versions": kit()}
    verdict = v.judge_recount(claim, found, evidence, paper.spec.rounding)
    if found.synthetic:
        return v.not_evidence(verdict, v.SYNTHETIC)
    if any(located.status != "verified" for located in data.used):
        return v.not_evidence(verdict, v.UNVERIFIED)
    return verdict


def _used(data: Data) -> list[dict[str, str]]:
    return [{"file": f.pin.name, "sha256": f.sha256, "status": f.status} for f in data.used]


@cache
def _recipes(folder: Path) -> ModuleType:
    """The recipes of a paper folder: a module of the kit, or recipes.py of a folder of the user's own."""
    if folder.resolve().parent == PAPERS.resolve():
        return importlib.import_module(f"countback.claims.papers.{folder.resolve().name}.recipes")
    spec = importlib.util.spec_from_file_location(f"countback_recipes_{folder.name}", folder / "recipes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass of the user's looks its module up
    spec.loader.exec_module(module)
    return module


@cache
def kit() -> dict[str, str]:
    """Name and version of the kit, and of what its numbers rest on."""
    versions = {}
    for name in ("countback", "numpy", "scipy"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions


__all__ = ["Absent", "Data", "Located", "Run", "audit", "find_papers", "judge", "kit"]
