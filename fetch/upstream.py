"""What a host shows now: OSF file records, arXiv versions, GitHub commits, anonymous.4open.science files.

Each function asks the host and returns a Listing; each `parse_` function reads one recorded answer and asks nobody.
What an answer holds that cannot be read is said in `unread`, never guessed and never dropped in silence. Base
addresses are parameters: any server that speaks the same shapes will do.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import requests
from countback.fetch.ask import STATES, Listing, State, ask, decoded, gather, take
from countback.fetch.outcome import Policy
from countback.fetch.release import redact


@dataclass(frozen=True)
class OsfFile:
    """A file of an OSF project; None where the record does not say. `size` in bytes, `modified` as OSF prints it."""

    path: str
    size: int | None
    version: int | None
    modified: str | None
    md5: str | None
    sha256: str | None
    download: str | None


@dataclass(frozen=True)
class ArxivVersion:
    """A version of a preprint; `submitted` is an ISO time in UTC. A comment may say that it was withdrawn."""

    number: int
    submitted: str
    comment: str = ""


@dataclass(frozen=True)
class GithubCommit:
    """A commit that touched the path; `date` is the committer's, `title` the first line of the message."""

    sha: str
    date: str
    title: str


@dataclass(frozen=True)
class AnonymousFile:
    """A file of an anonymised repository; `sha` is what the host shows (shortened, and of its own making)."""

    path: str
    size: int | None
    sha: str | None


# --- OSF -----------------------------------------------------------------------------------------------------------


def osf_files(
    node: str,
    *,
    view_only: str = "",
    base: str = "https://api.osf.io/v2",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[OsfFile]:
    """Every file record of a project's OSF Storage, folders and pages followed; `view_only` goes with each call."""
    token = {"view_only": view_only} if view_only else {}
    start = f"{base}/nodes/{quote(node)}/files/osfstorage/?" + urlencode({"page[size]": 100, **token})

    def read(body: bytes) -> tuple[list[OsfFile], list[str], list[str]]:
        files, unread, links = parse_osf_files(body)
        return files, unread, [_with_query(link, token) for link in links]

    return gather(start, lambda url: ask(url, session, policy), read)


def _with_query(link: str, query: Mapping[str, str]) -> str:
    missing = {name: value for name, value in query.items() if f"{name}=" not in urlsplit(link).query}
    return link + ("&" if urlsplit(link).query else "?") + urlencode(missing) if missing else link


def parse_osf_files(body: bytes) -> tuple[list[OsfFile], list[str], list[str]]:
    """One page of an OSF API v2 file list: files, what could not be read, links to folders and to the next page."""
    files: list[OsfFile] = []
    unread: list[str] = []
    links: list[str] = []
    page = decoded(body, dict, unread)
    data = None if unread else take(page, "data", list, "answer", unread)
    for number, entry in enumerate(data or [], 1):
        label = f"entry {number}"
        kind = take(entry, "attributes.kind", str, label, unread)
        if kind == "folder":
            link = take(entry, "relationships.files.links.related.href", str, label, unread)
            links += [link] if link else []
        elif kind == "file":
            files += _osf_file(entry, label, unread)
        elif kind is not None:
            unread.append(f"{label}: attributes.kind: expected file or folder, found {kind!r:.60}")
    # A page that does not say whether it is the last is no whole list: what it lacks is not gone.
    following = {} if data is None else take(page, "links", dict, "answer", unread) or {}
    if following.get("next") is not None:
        link = take(following, "next", str, "answer: links", unread)
        links += [link] if link else []
    return files, unread, links


def _osf_file(entry: Any, label: str, unread: list[str]) -> list[OsfFile]:
    path = take(entry, "attributes.materialized_path", str, label, unread)
    if path is None:
        return []
    name = path.lstrip("/")
    size = take(entry, "attributes.size", int, name, unread)
    version = take(entry, "attributes.current_version", int, name, unread)
    modified = take(entry, "attributes.date_modified", str, name, unread)
    digests: dict[str, str | None] = {}
    for algorithm, digits in (("md5", 32), ("sha256", 64)):
        digest = take(entry, f"attributes.extra.hashes.{algorithm}", str, name, unread)
        if digest is not None and not re.fullmatch(rf"[0-9a-f]{{{digits}}}", digest):
            unread.append(f"{name}: {algorithm}: expected {digits} hex digits, found {digest!r:.80}")
            digest = None
        digests[algorithm] = digest
    download = take(entry, "links.download", str, name, unread)
    return [OsfFile(name, size, version, modified, digests["md5"], digests["sha256"], redact(download or "") or None)]


# --- arXiv ---------------------------------------------------------------------------------------------------------

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"


def arxiv_versions(
    identifier: str,
    *,
    api: str = "https://export.arxiv.org/api/query",
    site: str = "https://arxiv.org/abs",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[ArxivVersion]:
    """The versions of a preprint ("2610.02622", without a version).

    The API tells the first and the latest; with more between them the abstract page is read for all.
    """
    url = f"{api}?{urlencode({'id_list': identifier})}"
    reply = ask(url, session, policy)
    if reply.state != "seen":
        return Listing(url, reply.state, found=reply.found, complete=False, until=reply.until)
    if reply.body.strip() == b"Rate exceeded.":  # said with status 200
        return Listing(url, "rate-limited", found="Rate exceeded.", complete=False)
    versions, unread = parse_arxiv_atom(reply.body, identifier)
    if not versions:
        return Listing(url, "unreadable" if unread else "gone", (), tuple(unread), "no entry", complete=False)
    latest = versions[-1]
    if len(versions) < latest.number:
        page = ask(f"{site}/{identifier}", session, policy)
        history, problems = parse_arxiv_history(page.body)
        unread += problems if page.state == "seen" else [f"{site}/{identifier}: {page.state}, {page.found}"]
        known = {version.number: version for version in [*history, *versions]}
        versions = [known[number] for number in sorted(known)]
        missing = set(range(1, latest.number)) - set(known)
        unread += [f"v{number}: expected a date, found none" for number in sorted(missing)]
    return Listing(url, "seen", tuple(versions), tuple(unread), complete=not unread)


def parse_arxiv_atom(body: bytes, identifier: str) -> tuple[list[ArxivVersion], list[str]]:
    """The first and the latest version in an Atom answer of the arXiv API, and what could not be read."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        return [], ["answer: expected plain Atom, found a document type declaration"]
    try:
        feed = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        return [], [f"answer: expected Atom, found {body[:40]!r} ({error})"]
    unread: list[str] = []
    for entry in feed.iter(f"{_ATOM}entry"):
        text = {name: " ".join((entry.findtext(name) or "").split()) for name in _atom_names()}
        match = re.search(rf"/abs/{re.escape(identifier)}v(\d+)$", text[f"{_ATOM}id"])
        if match is None:  # an error is an entry too, and says so in its summary
            said = text[f"{_ATOM}summary"] or text[f"{_ATOM}title"]
            unread.append(f"entry: expected {identifier} with a version, found {text[f'{_ATOM}id']!r}: {said[:120]}")
            continue
        first, latest = text[f"{_ATOM}published"], text[f"{_ATOM}updated"]
        number, comment = int(match[1]), text[f"{_ARXIV}comment"]
        times = (("published", first), ("updated", latest))
        unread += [f"entry: {name}: expected a time, found none" for name, time in times if not time]
        earlier = [ArxivVersion(1, first)] if number > 1 else []
        return [*earlier, ArxivVersion(number, latest, comment)], unread
    return [], unread


def _atom_names() -> tuple[str, ...]:
    return (*(f"{_ATOM}{name}" for name in ("id", "title", "summary", "published", "updated")), f"{_ARXIV}comment")


def parse_arxiv_history(page: bytes) -> tuple[list[ArxivVersion], list[str]]:
    """Every version in the submission history of an abstract page, and what could not be read."""
    text = page.decode("utf-8", "replace")
    history = re.search(r'<div class="submission-history">(.*?)</div>', text, re.DOTALL)
    if history is None:
        return [], ["abstract page: expected a submission history, found none"]
    versions: list[ArxivVersion] = []
    unread: list[str] = []
    pieces = re.split(r"\[v(\d+)\]", re.sub(r"<[^>]+>", " ", history[1]))
    for number, said in zip(pieces[1::2], pieces[2::2], strict=True):
        match = re.match(r"\s*(\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d UTC)\s*(.*)", said, re.DOTALL)
        if match is None:
            unread.append(f"v{number}: expected a date, found {' '.join(said.split())[:60]!r}")
            continue
        when = parsedate_to_datetime(match[1].replace("UTC", "+0000"))
        versions.append(ArxivVersion(int(number), when.strftime("%Y-%m-%dT%H:%M:%SZ"), " ".join(match[2].split())))
    return versions, unread


# --- GitHub --------------------------------------------------------------------------------------------------------


def github_commits(
    repository: str,
    path: str = "",
    *,
    base: str = "https://api.github.com",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[GithubCommit]:
    """The latest 100 commits of the default branch that touch a path ("" for all); incomplete where there are more."""
    query = {"per_page": 100} | ({"path": path} if path else {})
    url = f"{base}/repos/{quote(repository)}/commits?{urlencode(query)}"
    reply = ask(url, session, policy, {**STATES, 409: "gone"})  # 409: a repository without any commit
    if reply.state != "seen":
        return Listing(url, reply.state, found=reply.found, complete=False, until=reply.until)
    commits, unread = parse_github_commits(reply.body)
    more = 'rel="next"' in (reply.headers or {}).get("Link", "")
    found = "" if commits or unread else f"no commit touches {path or 'anything'}"
    state: State = "unreadable" if unread and not commits else "seen"
    return Listing(url, state, tuple(commits), tuple(unread), found, complete=not (more or unread))


def parse_github_commits(body: bytes) -> tuple[list[GithubCommit], list[str]]:
    """The commits of one answer of GitHub's "list commits", latest first, and what could not be read."""
    commits: list[GithubCommit] = []
    unread: list[str] = []
    for number, entry in enumerate(decoded(body, list, unread), 1):
        sha = take(entry, "sha", str, f"commit {number}", unread)
        date = take(entry, "commit.committer.date", str, f"commit {number}", unread)
        title = take(entry, "commit.message", str, f"commit {number}", unread)
        if sha is not None and date is not None:
            commits.append(GithubCommit(sha, date, (title or "").partition("\n")[0]))
    return commits, unread


# --- anonymous.4open.science ---------------------------------------------------------------------------------------


def anonymous_files(
    repository: str,
    *,
    base: str = "https://anonymous.4open.science",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[AnonymousFile]:
    """Every file of an anonymised repository, one folder a call.

    410 is an expired repository, 425 one being prepared (asked again another day, not now), 403 one that is disabled;
    an expired one may also redirect to the repository it hid, which is "moved".
    """
    start = f"{base}/api/repo/{quote(repository)}/files/"
    states = {**STATES, 403: "disabled", 410: "expired", 425: "not ready"}

    def read(body: bytes) -> tuple[list[AnonymousFile], list[str], list[str]]:
        files, unread, folders = parse_anonymous_files(body)
        return files, unread, [f"{start}?{urlencode({'path': folder})}" for folder in folders]

    return gather(start, lambda url: ask(url, session, policy, states), read)


def parse_anonymous_files(body: bytes) -> tuple[list[AnonymousFile], list[str], list[str]]:
    """One folder's answer: its files, what could not be read, and its folders (entries with neither size nor sha)."""
    files: list[AnonymousFile] = []
    unread: list[str] = []
    folders: list[str] = []
    for number, entry in enumerate(decoded(body, list, unread), 1):
        name = take(entry, "name", str, f"entry {number}", unread)
        if name is None:
            continue
        parent = entry.get("path") or ""
        path = f"{parent}/{name}".lstrip("/")
        if entry.get("size") is None and entry.get("sha") is None:
            folders.append(path)
            continue
        size = take(entry, "size", int, path, unread)
        sha = take(entry, "sha", str, path, unread) if size != 0 else None  # the host shows none for an empty file
        files.append(AnonymousFile(path, size, sha))
    return files, unread, folders
