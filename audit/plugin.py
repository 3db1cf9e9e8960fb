"""pytest as a claims check: one test per claim, wherever a paper folder is collected.

    pytest claims                         in the checkout
    pytest --pyargs countback.claims      anywhere
    ... -k "culture-converse and t4"  -m "recount"  --countback-data DIR

A known finding is a strict xfail, so CI turns red when a verdict changes; unchecked is a skip with its reason; a paper
that collects fewer claims than its paper.toml requires fails. No network is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

KINDS = ("arithmetic", "recount", "model", "metadata", "asserted")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("countback", "claims of papers")
    group.addoption("--countback-data", metavar="DIR", help="a folder with released files, whatever their names")


def pytest_configure(config: pytest.Config) -> None:
    for kind in KINDS:
        config.addinivalue_line("markers", f"{kind}: claims of this kind")
    from countback.claims.registry import list_papers

    for folder in list_papers():
        marker = folder.name
        config.addinivalue_line("markers", f"{marker}: claims of the paper {marker.replace('_', '-')}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name == "claims.toml" and (file_path.parent / "paper.toml").exists():
        return ClaimsFile.from_parent(parent, path=file_path)
    return None


class ClaimsFile(pytest.File):
    """One paper: a test for its registry, then one per claim."""

    def collect(self) -> Iterator[pytest.Item]:
        from countback.claims.registry import load_paper
        from countback.fetch.errors import UserError

        try:
            paper = load_paper(self.path.parent)
        except UserError as error:
            raise self.CollectError(str(error)) from None
        self.config.addinivalue_line("markers", f"{paper.folder.name}: claims of the paper {paper.id}")
        yield RegistryItem.from_parent(self, name=f"{paper.id}/registry", paper=paper)
        for claim in paper.claims:
            yield ClaimItem.from_parent(self, name=claim.full_id, paper=paper, claim=claim)


class _Item(pytest.Item):
    def __init__(self, *, paper: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.paper = paper
        self.add_marker(paper.folder.name)

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

    def __init__(self, *, claim: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.add_marker(claim.kind)
        if claim.known is not None:
            self.add_marker(pytest.mark.xfail(reason=claim.known.why, raises=ClaimFailed, strict=True))

    def runtest(self) -> None:
        from countback.audit.run import judge
        from countback.audit.text import arithmetic
        from countback.claims.verdict import FINDINGS

        verdict = judge(self.paper, self.claim, _files(self.path.parent, self.config.getoption("--countback-data")))
        self.user_properties += [
            ("countback_id", self.claim.full_id),
            ("countback_kind", self.claim.kind),
            ("countback_verdict", verdict.verdict),
            ("countback_reported", self.claim.reported),
            ("countback_recounted", str(verdict.recounted)),
            ("countback_reason", verdict.reason),
        ]
        if verdict.verdict in ("unchecked", "uninformative"):
            pytest.skip(f"{verdict.verdict}: {verdict.reason}")
        if verdict.verdict in FINDINGS:
            if self.claim.known is not None and not verdict.known:
                # another finding than the recorded one must not hide behind the xfail
                raise AssertionError(
                    f"recorded as {self.claim.known.verdict}, is {verdict.verdict}: {arithmetic(verdict)}"
                )
            raise ClaimFailed(f"{verdict.verdict}: {arithmetic(verdict)}")


@cache
def _files(folder: Path, data: str | None) -> dict[str, Any]:
    from countback.audit.sources import Sources
    from countback.claims.registry import load_paper

    paper = load_paper(folder)
    if not any(claim.recipe for claim in paper.claims):
        return {}
    return dict(Sources(Path(data) if data else None, offline=True).locate(paper))
