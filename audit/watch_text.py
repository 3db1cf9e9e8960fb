"""`countback watch`: look everywhere, keep what was seen in the ledger, and tell what changed and what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import requests
from countback.audit import ledger
from countback.audit.watch import (
    Change,
    History,
    Observation,
    Place,
    baseline,
    carried,
    compare,
    histories,
    load_places,
    look,
    short,
)
from countback.claims.spec import PaperSpec, read_toml
from countback.fetch.errors import UserError
from countback.fetch.outcome import Policy

PATIENCE = Policy(attempts=2, backoff=1.0)
HOSTS = {
    "osf": "OSF project",
    "arxiv": "arXiv preprint",
    "github": "GitHub repository",
    "anonymous": "anonymised repository",
}


@dataclass(frozen=True)
class Look:
    """One place, what it shows now, and what that changes."""

    paper: str
    place: Place
    now: Observation
    changes: tuple[Change, ...]
    history: History | None

    @property
    def first(self) -> bool:
        return self.history is None


def watch(
    folders: list[Path],
    path: Path,
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Look]:
    """Ask every place of the papers and append an observation of each to the ledger at `path`."""
    places = [
        (read_toml(folder / "paper.toml", PaperSpec).id, place) for folder in folders for place in load_places(folder)
    ]
    if not places:
        raise UserError("none of these papers has an upstream.toml with a [[place]]; expected one place to look at")
    known = _histories(path, places)
    looks = []
    with requests.Session() as session:
        for paper, place in places:
            tell(f"looking at {paper}/{place.id}")
            history = known.get(f"{paper}/{place.id}")
            now = look(paper, place, session, PATIENCE)
            looks.append(Look(paper, place, now, tuple(compare(now, history)), history))
    for one in looks:
        ledger.append(path, "observation", carried(one.now, one.history).as_json(), tell)
    return looks


def _histories(path: Path, places: list[tuple[str, Place]]) -> dict[str, History]:
    chain = ledger.open_ledger(path)
    entries = chain.entries("observation", newest_first=True)
    shown = (baseline(paper, place) for paper, place in places)
    wanted = {f"{paper}/{place.id}" for paper, place in places}

    def until_all_seen() -> Iterator[Observation]:
        missing = set(wanted)
        for entry in entries:
            if not missing:
                return
            try:
                one = Observation.from_entry(entry)
            except ValueError as error:
                raise ledger.foreign(path, entry.n, f"{type(error).__name__}") from None
            yield one
            if one.state == "seen":
                missing.discard(one.place)

    return histories(until_all_seen(), (one for one in shown if one is not None))


def exit_code(looks: list[Look]) -> int:
    """1 something changed; else 3 where a place could not be looked at, or only in part; else 0."""
    if any(one.changes for one in looks):
        return 1
    return 0 if all(one.now.whole for one in looks) else 3


# --- words --------------------------------------------------------------------------------------------------------


def present(looks: list[Look]) -> str:
    """What changed and what it means, what could not be looked at, and how many places were."""
    lines = [line for one in looks for line in _one(one)]
    seen = sum(one.now.whole for one in looks)
    changed = sum(bool(one.changes) for one in looks)
    places = "1 place" if len(looks) == 1 else f"{len(looks)} places"
    summary = f"{changed} changed" if changed else "nothing changed"
    if seen < len(looks):
        summary += f" where it could be seen; {seen} of {places} seen in whole"
    else:
        summary += f"; {places} seen"
    return "\n".join([*lines, summary])


def _one(one: Look) -> Iterator[str]:
    name = f"{one.paper}/{one.place.id} ({HOSTS[one.place.host]} {one.place.name})"
    since = one.history.seen.at if one.history and one.history.seen else ""
    if one.changes:
        yield f"{name}: changed since {since or 'the last look'}"
        for change, following in zip(one.changes, [*one.changes[1:], None], strict=True):
            yield f"  {_change(change)}"
            means = meaning(one.paper, one.place.host, change)
            if following is None or means != meaning(one.paper, one.place.host, following):
                yield f"    {means}"  # once for several alike
    elif one.now.state != "seen":
        last = f"; last seen {since}" if since else "; never seen"
        yield f"{name}: could not look: {one.now.state}: {one.now.found or '; '.join(one.now.unread)}{last}"
    elif one.first:
        licence = "" if one.now.licence is None else f", licence: {one.now.licence or 'none'}"
        yield f"{name}: first look: {_count(one.place.host, len(one.now.shown))}{licence}"
    if one.now.state == "seen" and one.now.unread:
        yield f"{name}: seen in part: {'; '.join(one.now.unread[:3])}"


def _count(host: str, n: int) -> str:
    noun = {"osf": "file", "anonymous": "file", "arxiv": "version", "github": "latest commit"}[host]
    return f"{n} {noun}" if n == 1 or host == "github" else f"{n} {noun}s"


def _change(change: Change) -> str:
    if change.kind == "state":
        return f"was {change.was}, is {change.now}" + (f": {change.what}" if change.what else "")
    label = {"bytes": "changed in place", "details": "told differently"}.get(change.kind, change.kind)
    if change.kind == "licence":
        return f"licence: was {change.was}, is {change.now}"
    if change.kind == "renamed":
        return f"renamed: {change.was} -> {change.what} ({change.now})"
    told = " -> ".join(part for part in (change.was, change.now) if part)
    return f"{label}: {short(change.what)}" + (f" ({told})" if told else "")


_NEW = {
    "osf": "labels for more countries? pin it in releases.toml, then run: countback fetch {paper}, "
    "countback predict {paper}",
    "arxiv": "a new version: its numbers may differ from those in the registry, and it may report what a prediction "
    "waits for; read it, then run: countback predict {paper}",
    "github": "new commits: see whether released files changed, then run: countback fetch {paper}",
    "anonymous": "code or data was added: see whether it says how the paper's numbers were made",
}
_LOST = (
    "the address no longer gives what it gave: keep the verified copy (countback fetch {paper} --verify), and look at "
    "the landing page for a new one"
)


def meaning(paper: str, host: str, change: Change) -> str:
    """What a change means for who follows the paper, and the next step."""
    if change.kind == "new":
        text = _NEW[host]
    elif change.kind == "bytes":
        text = (
            "the same name with other bytes: a pin on it no longer holds; countback fetch {paper} replaces nothing and "
            "sets the new file aside: compare both before trusting either"
            if host == "osf"
            else "the same name with other content: see what changed in it"
        )
    elif change.kind == "renamed":
        text = "the same bytes under another name, so pins hold; their address may not"
    elif change.kind == "licence":
        text = "the terms of use changed: read them before the data is used or passed on"
    elif change.kind == "details":
        text = "the content is the same as far as can be told, what is said of it is not"
    elif change.kind == "state" and change.now == "seen":
        text = "it can be seen again; whatever else changed in the meantime is listed here too"
    else:
        text = _LOST
    return text.format(paper=paper)
