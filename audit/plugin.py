"""pytest as a claims check: one test per claim, wherever a paper folder is collected.

    pytest claims                         in the checkout
    pytest --pyargs countback.claims      anywhere
    ... -k "culture-converse and t4"  -m "recount"  --countback-data DIR

A known finding is a strict xfail, so CI turns red when a verdict changes; unchecked is a skip with its reason; a paper
that collects fewer claims than its paper.toml requires fails. No network is touched.

Every pytest run where countback is installed loads this module, so it imports the kit, and registers the markers, only
when it meets a paper.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KINDS = ("arithmetic", "recount", "model", "metadata", "asserted")
MEANT_BY_PYTEST = ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("countback", "claims of papers")
    group.addoption("--countback-data", metavar="DIR", help="a folder with released files, whatever their names")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name == "claims.toml" and (file_path.parent / "paper.toml").exists():
        return ClaimsFile.from_parent(parent, path=file_path)
    return None


def marker_of(paper_id: str) -> str:
    """The marker of a paper's tests: its id, with what a marker cannot hold as underscores."""
    name = paper_id.replace("-", "_").replace(".", "_")
    return f"paper_{name}" if name in (*MEANT_BY_PYTEST, *KINDS) else name


class ClaimsFile(pytest.File):
    """One paper: a test for its registry, then one per claim."""

    def collect(self) -> Iterator[pytest.Item]:
        from countback.claims.registry import load_paper
        from countback.fetch.errors import UserError

        try:
            paper = load_paper(self.path.parent)
        except UserError as error:
            raise self.CollectError(str(error)) from None
        self.config.addinivalue_line("markers", f"{marker_of(paper.id)}: claims of the paper {paper.id}")
        for kind in KINDS:
            self.config.addinivalue_line("markers", f"{kind}: claims of this kind")
        files = _Files(paper, self.config.getoption("--countback-data"))
        yield RegistryItem.from_parent(self, name=f"{paper.id}/registry", paper=paper)
        for claim in paper.claims:
            # given as text, the id is read as --lf will read it from its cache, where brackets stand for parameters
            nodeid = f"{self.nodeid}::{claim.full_id}"
            yield ClaimItem.from_parent(self, name=claim.full_id, nodeid=nodeid, paper=paper, claim=claim, files=files)


class _Files:
    """Where a paper's released files are, looked up once; what went wrong then goes wrong for every claim."""

    def __init__(self, paper: Any, data: str | None) -> None:
        self.paper, self.data = paper, Path(data) if data else None
        self.found: dict[str, Any] | Exception | None = None

    def get(self) -> dict[str, Any]:
        from countback.audit.sources import Sources
        from countback.fetch.errors import UserError

        if self.found is None:
            try:
                self.found = dict(Sources(self.data, offline=True).locate(self.paper))
            except UserError as error:
                self.found = error
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class _Item(pytest.Item):
    def __init__(self, *, paper: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.paper = paper
        self.add_marker(marker_of(paper.id))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from countback.fetch.errors import UserError

        if isinstance(excinfo.value, ClaimFailed | UserError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class ClaimFailed(Exception):
    """A verdict that is not expected; its message lays the arithmetic out."""


class RegistryItem(_Item):
    """The registry of a paper holds as many claims as its paper.toml requires."""

    def runtest(self) -> None:
        found, required = len(self.paper.claims), self.paper.spec.requires
        if found < required:
            raise ClaimFailed(f"{self.paper.id}: {found} claims collected, paper.toml requires {required}")


class ClaimItem(_Item):
    """One claim."""

    def __init__(self, *, claim: Any, files: _Files, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim, self.files = claim, files
        self.add_marker(claim.kind)
        if claim.known is not None:
            self.add_marker(pytest.mark.xfail(reason=claim.known.why, raises=ClaimFailed, strict=True))

    def runtest(self) -> None:
        from countback.audit.run import judge
        from countback.audit.text import arithmetic
        from countback.claims.verdict import FINDINGS, UNCHECKED, UNINFORMATIVE

        with warnings.catch_warnings():
            warnings.simplefilter("default")  # a project that makes errors of its warnings does not change a verdict
            verdict = judge(self.paper, self.claim, self.files.get() if self.claim.recipe else {})
        self.user_properties += [
            ("countback_id", self.claim.full_id),
            ("countback_kind", self.claim.kind),
            ("countback_verdict", verdict.verdict),
            ("countback_reported", self.claim.reported),
            ("countback_recounted", str(verdict.recounted)),
            ("countback_reason", verdict.reason),
        ]
        if verdict.known:
            raise ClaimFailed(f"{verdict.verdict}: {arithmetic(verdict)}")  # what the strict xfail waits for
        recorded = self.claim.known
        if recorded is not None and verdict.verdict in (*FINDINGS, UNINFORMATIVE):
            # another verdict than the recorded one must not hide behind the xfail
            raise AssertionError(f"recorded as {recorded.verdict}, is {verdict.verdict}: {arithmetic(verdict)}")
        if verdict.verdict in (UNCHECKED, UNINFORMATIVE):
            pytest.skip(f"{verdict.verdict}: {verdict.reason}")
        if verdict.verdict in FINDINGS:
            raise ClaimFailed(f"{verdict.verdict}: {arithmetic(verdict)}")
