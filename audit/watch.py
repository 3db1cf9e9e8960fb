"""What the hosts of a paper show now, beside what they showed last time.

Each paper folder may hold an upstream.toml:

    [[place]]
    id        = "osf"
    host      = "osf"                  # osf, arxiv, github or anonymous (anonymous.4open.science)
    name      = "mjkcr"                # project, preprint, owner/repository, repository
    view_only = "..."                  # osf: the view-only key
    path      = "data"                 # github: only commits that touch it
    base      = "https://..."          # another address of the same shapes; arxiv: the abstract pages lie there too
    since     = 2026-10-07             # when it showed what follows: what the first look is compared with
    licence   = ""                     # "": none stated
    shown     = { "a.zip" = { size = 427804, sha256 = "..." } }

A look becomes an Observation, which the ledger keeps. `compare` says what changed since the last look at which the
host showed its content; a place that cannot be looked at is an observation of its own and never "unchanged".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import requests
from countback.audit.ledger import Entry
from countback.claims.spec import Id, Words, read_toml
from countback.fetch import upstream
from countback.fetch.ask import Listing
from countback.fetch.errors import UserError
from countback.fetch.licence import github_licence, osf_licence
from countback.fetch.outcome import Policy
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter

# The host answered, and what it said will still hold tomorrow; every other state but "seen" may pass by itself.
SETTLED = ("gone", "expired", "disabled", "moved", "not authorised")
BYTES = ("sha256", "md5", "sha", "size")  # what a host may say of a file's content
Shown = dict[str, dict[str, str | int | None]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(_Strict):
    """Where to look, and what it showed when the paper was entered."""

    id: Id
    host: Literal["osf", "arxiv", "github", "anonymous"]
    name: Words
    view_only: StrictStr = ""
    path: StrictStr = ""
    base: Annotated[str, Field(pattern=r"^https?://[^?#]*[^/?#]$")] | None = None
    since: date | None = None
    licence: StrictStr | None = None
    shown: dict[str, dict[str, StrictStr | StrictInt]] = {}


class PlacesSpec(_Strict):
    place: list[Place] = []


@dataclass(frozen=True)
class Observation:
    """One look at one place ("cubes/osf"). `shown`: files, versions or commits with what the host says of each.

    `licence` is None where the host shows none or was not understood, "" where it says that there is none. With
    `unread` lines the look was partial, and `shown` also holds what the last one saw. `at` is the day of the look.
    """

    place: str
    state: str
    source: str = ""
    found: str = ""
    shown: Shown = field(default_factory=dict)
    licence: str | None = None
    unread: tuple[str, ...] = ()
    at: str = ""

    @property
    def whole(self) -> bool:
        """Whether everything there was to see was seen."""
        return self.state == "seen" and not self.unread

    def as_json(self) -> dict[str, Any]:
        """The body of a ledger entry, which has a time of its own."""
        return {key: value for key, value in asdict(self).items() if key != "at"}

    @classmethod
    def from_entry(cls, entry: Entry) -> Observation:
        return _OBSERVATION.validate_python(entry.body | {"at": entry.at.date().isoformat()})


_OBSERVATION = TypeAdapter(Observation)


@dataclass(frozen=True)
class Change:
    """kind: state | licence | new | gone | renamed | bytes (name kept) | details (anything else)."""

    kind: str
    what: str
    was: str = ""
    now: str = ""


def load_places(folder: Path) -> list[Place]:
    """The places of a paper folder; none where it has no upstream.toml. Raises UserError for two of one id."""
    path = folder / "upstream.toml"
    places = read_toml(path, PlacesSpec).place if path.exists() else []
    ids = [place.id for place in places]
    for name in ids:
        if ids.count(name) > 1:
            raise UserError(f'{path}: the id "{name}" stands twice; each place needs one of its own')
    return places


def baseline(paper: str, place: Place) -> Observation | None:
    """What the paper's entry says that the place showed; None where it says nothing."""
    if place.since is None:
        return None
    shown: Shown = {name: dict(told) for name, told in place.shown.items()}
    day = place.since.isoformat()
    return Observation(f"{paper}/{place.id}", "seen", "upstream.toml", shown=shown, licence=place.licence, at=day)


def look(paper: str, place: Place, session: requests.Session, policy: Policy) -> Observation:
    """Ask the host; every failure is a state of the observation."""
    listing, licence = _ASK[place.host](place, session, policy)
    name = f"{paper}/{place.id}"
    if listing.state != "seen":
        return Observation(name, listing.state, listing.source, listing.found, unread=listing.unread)
    unread, terms = listing.unread, None
    if licence is not None and licence.state == "seen":
        terms = licence.entries[0] if licence.entries else ""
    elif licence is not None:
        unread = (*unread, f"licence: {licence.state}, {'; '.join(licence.unread) or licence.found}")
    entries = [_entry(entry) for entry in listing.entries]
    if place.host == "github":
        entries = entries[:1]  # the latest commit says whether there are later ones
    return Observation(name, "seen", listing.source, listing.found, dict(entries), terms, unread)


def _options(place: Place, session: requests.Session, policy: Policy) -> dict[str, Any]:
    return {"session": session, "policy": policy} | ({"base": place.base} if place.base else {})


Asked = tuple[Listing[Any], Listing[str] | None]


def _osf(place: Place, session: requests.Session, policy: Policy) -> Asked:
    options = _options(place, session, policy) | {"view_only": place.view_only}
    listing = upstream.osf_files(place.name, **options)
    return listing, osf_licence(place.name, **options) if listing.state == "seen" else None


def _arxiv(place: Place, session: requests.Session, policy: Policy) -> Asked:
    bases = {"api": f"{place.base}/api/query", "site": f"{place.base}/abs"} if place.base else {}
    return upstream.arxiv_versions(place.name, session=session, policy=policy, **bases), None


def _github(place: Place, session: requests.Session, policy: Policy) -> Asked:
    options = _options(place, session, policy)
    listing = upstream.github_commits(place.name, place.path, **options)
    return listing, github_licence(place.name, **options) if listing.state == "seen" else None


def _anonymous(place: Place, session: requests.Session, policy: Policy) -> Asked:
    return upstream.anonymous_files(place.name, **_options(place, session, policy)), None


_ASK: dict[str, Callable[[Place, requests.Session, Policy], Asked]] = {
    "osf": _osf,
    "arxiv": _arxiv,
    "github": _github,
    "anonymous": _anonymous,
}


def _entry(entry: object) -> tuple[str, dict[str, str | int | None]]:
    """The name by which an entry is known again, and what the host says of it."""
    match entry:
        case upstream.OsfFile():
            return entry.path, {k: getattr(entry, k) for k in ("size", "version", "modified", "md5", "sha256")}
        case upstream.ArxivVersion():
            return f"v{entry.number}", {"submitted": entry.submitted, "comment": entry.comment}
        case upstream.GithubCommit():
            return entry.sha, {"date": entry.date, "title": entry.title}
        case upstream.AnonymousFile():
            return entry.path, {"size": entry.size, "sha": entry.sha}
    raise TypeError(f"{entry!r}")


# --- what changed -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class History:
    """Of one place: the last observation with content, and the last that says for certain whether there is any."""

    seen: Observation | None
    settled: Observation | None


def histories(newest_first: Iterable[Observation], baselines: Iterable[Observation]) -> dict[str, History]:
    """The history of every place, from its observations and, where there is none, from its baseline."""
    seen: dict[str, Observation] = {}
    settled: dict[str, Observation] = {}
    for one in (*newest_first, *baselines):
        if one.state == "seen":
            seen.setdefault(one.place, one)
        if one.state == "seen" or one.state in SETTLED:
            settled.setdefault(one.place, one)
    return {place: History(seen.get(place), settled[place]) for place in settled}


def carried(now: Observation, history: History | None) -> Observation:
    """A partial look with what the last one saw kept beside it, so that nothing unseen looks new next time."""
    if now.state != "seen" or not now.unread or history is None or history.seen is None:
        return now
    before = history.seen
    licence = before.licence if now.licence is None else now.licence
    shown = before.shown | {name: _known(before.shown.get(name, {}), told) for name, told in now.shown.items()}
    return replace(now, shown=shown, licence=licence)


def _known(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of an entry now, and what was said before in the place of what could not be read."""
    return {key: before.get(key) if value is None else value for key, value in now.items()}


def compare(now: Observation, history: History | None) -> list[Change]:
    """What changed since the last look; nothing at the first look, and nothing for a state that may pass by itself."""
    if history is None:
        return []
    changes = []
    last = history.settled
    if last is not None and now.state != last.state and (now.state == "seen" or now.state in SETTLED):
        changes.append(Change("state", now.found, last.state, now.state))
    if now.state != "seen" or history.seen is None:
        return changes
    before = history.seen
    if None not in (before.licence, now.licence) and before.licence != now.licence:
        changes.append(Change("licence", "licence", before.licence or "none", now.licence or "none"))
    new = [name for name in now.shown if name not in before.shown]
    lost = [name for name in before.shown if name not in now.shown]
    for name in new:
        old = next((o for o in lost if _same_file(o, before.shown[o], name, now.shown[name])), None)
        if old is not None:
            lost.remove(old)
        changes.append(Change("renamed" if old else "new", name, old or "", _said(now.shown[name])))
    if not now.unread and not _only_latest(now):
        changes += [Change("gone", name, _said(before.shown[name])) for name in lost]
    for name, told in now.shown.items():
        changes += _differences(name, before.shown.get(name, {}), told)
    return changes


def _same_file(old: str, before: Mapping[str, Any], new: str, now: Mapping[str, Any]) -> bool:
    """Whether a file went from one name or folder to another: what is known of its bytes agrees, and something is."""
    known = [key for key in BYTES if before.get(key) is not None and now.get(key) is not None]
    if not known or any(before[key] != now[key] for key in known):
        return False
    return known != ["size"] or old.rpartition("/")[2] == new.rpartition("/")[2]


def _only_latest(now: Observation) -> bool:
    return any("title" in told for told in now.shown.values())


def _differences(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    both = [key for key in now if before.get(key) is not None and now[key] is not None]
    other = {key for key in both if before[key] != now[key]}
    if not other:
        return []
    bytes_ = other & set(BYTES)
    keys = [key for key in both if key in (bytes_ or other)]
    was, new = ({key: told[key] for key in keys} for told in (before, now))
    return [Change("bytes" if bytes_ else "details", name, _said(was), _said(new))]


def _said(told: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {short(str(value))}"
        for key, value in told.items()
        if value not in (None, "") and not (key == "md5" and told.get("sha256"))
    )


def short(text: str) -> str:
    """A digest by its first digits, anything else as it is."""
    return f"{text[:12]}..." if re.fullmatch(r"[0-9a-f]{20,}", text) else text
