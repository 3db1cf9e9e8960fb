"""Where the released files of a paper are (a folder, the cache, their host), and what is proved of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from countback.audit.recount import Located, digest
from countback.claims.registry import Paper
from countback.fetch.errors import IntegrityError, UserError
from countback.fetch.obtain import cache_folder, fetch_releases, find_local
from countback.fetch.outcome import Outcome, Policy
from countback.fetch.release import Pin


@dataclass(frozen=True)
class Sources:
    """How to look. data: a folder as it is, searched first (then the cache, never the network); unverified: take a file
    that has a pin's name but not its bytes; offline: touch no socket; tell: where progress lines go; quiet: no bar."""

    data: Path | None = None
    offline: bool = False
    unverified: bool = False
    cache: Path | None = None
    tell: Callable[[str], None] = lambda line: None
    quiet: bool = False

    def locate(self, paper: Paper) -> dict[str, Located]:
        """Every file of the paper's releases by name. Raises IntegrityError for bytes that contradict a pin."""
        pins = {pin.name: (release.id, pin) for release in paper.releases for pin in release.files}
        found = self._in_folder(paper, pins) if self.data is not None else {}
        rest = {name for name in pins if name not in found}
        if rest:
            for outcome in self._in_cache(paper):
                if outcome.pin.name in rest:
                    found[outcome.pin.name] = self._kept(paper, outcome)
        return {name: found[name] for name in pins} | self._mappings(paper)

    def _in_folder(self, paper: Paper, pins: dict[str, tuple[str, Pin]]) -> dict[str, Located]:
        assert self.data is not None
        local = find_local([pin for _, pin in pins.values()], self.data)
        if local.unreadable:
            raise UserError(f"{local.unreadable[0]}: cannot be read; check its permissions, or point --data elsewhere")
        if local.missing and local.closed:  # a folder that cannot be looked into may hold what is missing
            closed = local.closed[0]
            raise UserError(
                f"{closed.filename}: cannot be looked into ({closed.strerror}); check its permissions, or point "
                "--data elsewhere"
            )
        wrong = [file for file in local.wrong if file.pin.name not in local.found]  # the right one may lie beside it
        if wrong and not self.unverified:
            raise IntegrityError(
                f"{wrong[0].message}; get the released file, or recount this one with --unverified "
                "(its verdicts stay unchecked)"
            )
        files = {file.pin.name: file for file in wrong} | local.found
        return {
            name: Located(
                paper.id,
                pins[name][0],
                file.pin,
                file.path,
                file.sha256,
                "unverified" if file.status == "mismatch" else file.status,
            )
            for name, file in files.items()
        }

    def _mappings(self, paper: Paper) -> dict[str, Located]:
        """The mappings that a user wrote, directly in the folder: theirs, so never verified."""
        why = (
            f"not in {self.data or 'a folder named with --data'}; nothing of the release is pinned, so it must say "
            "what your copy's files and columns are called; mapping.toml in the paper's folder shows how"
        )
        found = {}
        for release in paper.releases:
            if release.mapping:
                located = Located(paper.id, release.id, Pin(release.mapping), None, "", "absent", why)
                path = self.data / release.mapping if self.data is not None else None
                if path is not None and path.is_file():
                    located = replace(located, path=path, sha256=digest(path), status="unverified", why="")
                found[release.mapping] = located
        return found

    def _in_cache(self, paper: Paper) -> list[Outcome]:
        cache = self.cache or cache_folder()
        offline = self.offline or self.data is not None
        return fetch_releases(
            paper.releases,
            cache,
            offline=offline,
            verify_only=offline,
            tell=self.tell,
            policy=Policy(attempts=1),  # a check does not wait for a host that is down; `countback fetch` does
            progress=False if offline or self.quiet else None,  # without a transfer there is none to show
        )

    def _kept(self, paper: Paper, outcome: Outcome) -> Located:
        if outcome.exit_code == 4:
            raise IntegrityError(outcome.message)
        return Located(
            paper.id,
            outcome.release,
            outcome.pin,
            outcome.path,
            outcome.sha256,
            outcome.status or "absent",
            outcome.found,
        )
