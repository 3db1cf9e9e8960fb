"""The pictures of an audit: each paper's own, and the results stored in its folder. Made when the JSON is asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countback.audit.recount import Data, Located, paper_module
from countback.claims.pictures import KINDS, Picture, Printed, Source, as_json, stamped
from countback.claims.registry import Paper
from countback.claims.stored import stored
from countback.fetch.errors import IntegrityError, UserError


class BrokenPictures(UserError):
    """pictures.py raised what no user can cause, or returned what are no pictures."""


@dataclass(frozen=True)
class _Unread:
    """Data that could not be used, for the pictures of printed numbers."""

    why: str

    def path(self, name: str) -> Path:
        raise UserError(f"{name}: {self.why}")


def collect(papers: Iterable[Paper], inputs: Iterable[Located]) -> list[dict[str, Any]]:
    """Entries of the JSON's list "pictures". Raises UserError for a pictures.py or a stored result that is broken."""
    located = list(inputs)
    return [as_json(picture) for paper in papers for picture in _of(paper, located)]


def _of(paper: Paper, located: list[Located]) -> Iterator[Picture]:
    if (paper.folder / "pictures.py").is_file():
        data = Data({each.pin.name: each for each in located if each.paper == paper.id})
        yield from _own(paper, data)
    yield from stored(paper.folder, paper.id)


def _own(paper: Paper, data: Data) -> list[Picture]:
    """What pictures.py of the folder draws; from printed numbers alone where data that no pin proves breaks it."""
    place = paper.folder / "pictures.py"
    try:
        found = _called(paper, data)
    except IntegrityError:
        raise
    except UserError as error:
        raise BrokenPictures(f"{place}: {error}; where data is absent, draw printed numbers") from None
    except (Exception, SystemExit) as error:
        if os.environ.get("COUNTBACK_DEBUG"):
            raise
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if all(each.status == "verified" for each in data.used):
            raise BrokenPictures(f"{place}: {told}; mend it (COUNTBACK_DEBUG=1 shows the traceback)") from None
        found = _called(paper, _Unread(f"the data could not be read: {told}"))
    wrong = next((each for each in found if not isinstance(each, tuple(KINDS.values()))), None)
    if wrong is not None:
        raise BrokenPictures(f"{place}: gave a {type(wrong).__name__}, expected pictures of countback.claims.pictures")
    used = [Source(each.pin.name, each.sha256, each.status) for each in data.used if each.path is not None]
    try:
        return [stamped(picture, paper.id, used) for picture in found]
    except ValueError as error:
        raise BrokenPictures(f"{place}: {error}") from None


def _called(paper: Paper, data: Data | _Unread) -> list[Any]:
    """Whatever it prints goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        return list(paper_module(paper.folder, "pictures").pictures(data, Printed(paper)))
