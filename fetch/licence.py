"""Under which licence a host shows a project now: OSF and GitHub.

A Listing with one entry, or with none where the host says that there is no licence; what cannot be read is in
`unread`. arXiv's API and anonymous.4open.science show none.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, urlencode

import requests
from countback.fetch.ask import Listing, State, ask, decoded, take
from countback.fetch.outcome import Policy
from countback.fetch.release import redact


def osf_licence(
    node: str,
    *,
    view_only: str = "",
    base: str = "https://api.osf.io/v2",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[str]:
    """The licence of an OSF project, by the name that OSF gives it."""
    query = {"embed": "license"} | ({"view_only": view_only} if view_only else {})
    url = f"{base}/nodes/{quote(node)}/?{urlencode(query)}"
    return _asked(url, parse_osf_licence, session, policy)


def parse_osf_licence(body: bytes) -> tuple[list[str], list[str]]:
    """From one node of OSF API v2, its licence embedded: `node_license` is null where none was chosen."""
    unread: list[str] = []
    answer = decoded(body, dict, unread)
    attributes = None if unread else take(answer, "data.attributes", dict, "node", unread)
    if attributes is None or attributes.get("node_license", False) is None:
        return [], unread
    name = take(answer, "data.embeds.license.data.attributes.name", str, "node", unread)
    return ([name] if name else []), unread


def github_licence(
    repository: str,
    *,
    base: str = "https://api.github.com",
    session: requests.Session,
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Listing[str]:
    """The licence that GitHub recognises in a repository, by its SPDX id ("NOASSERTION": a text it does not know)."""
    return _asked(f"{base}/repos/{quote(repository)}", parse_github_licence, session, policy)


def parse_github_licence(body: bytes) -> tuple[list[str], list[str]]:
    """From GitHub's "get a repository": `license` is null where it found no licence file."""
    unread: list[str] = []
    answer = decoded(body, dict, unread)
    if unread or ("license" in answer and answer["license"] is None):
        return [], unread
    name = take(answer, "license.spdx_id", str, "repository", unread)
    return ([name] if name else []), unread


def _asked(
    url: str, parse: Callable[[bytes], tuple[list[str], list[str]]], session: requests.Session, policy: Policy
) -> Listing[str]:
    reply = ask(url, session, policy)
    if reply.state != "seen":
        return Listing(redact(url), reply.state, found=reply.found, complete=False, until=reply.until)
    found, unread = parse(reply.body)
    state: State = "unreadable" if unread else "seen"
    return Listing(redact(url), state, tuple(found), tuple(unread), complete=not unread)
