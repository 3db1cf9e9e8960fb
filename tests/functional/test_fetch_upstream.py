"""What four hosts show, in the shapes that they are on record with, served from 127.0.0.1.

The shapes: OSF API v2 (api/files/serializers.py of CenterForOpenScience/osf.io), the arXiv API user's manual and its
abstract pages, GitHub's REST documentation of "list commits", and the routes of tdurieux/anonymous_github. The values
are invented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from countback.fetch.ask import Listing
from countback.fetch.outcome import Policy
from countback.fetch.upstream import (
    AnonymousFile,
    ArxivVersion,
    GithubCommit,
    OsfFile,
    anonymous_files,
    arxiv_versions,
    github_commits,
    osf_files,
    parse_arxiv_atom,
)

from tests.functional.fakehost import Answer, FakeHost, Handler, ok, redirect, status

TOKEN = "0123456789abcdef"
QUICK = Policy(attempts=2, backoff=0.01)
UPPER = "B" * 64
OSF = "/v2/nodes/abcde/files/osfstorage/"


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost() as server:
        yield server


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as opened:
        yield opened


def _json(value: Any) -> Answer:
    return ok(json.dumps(value).encode(), Content_Type="application/json")


# --- OSF -----------------------------------------------------------------------------------------------------------


def _osf_file(path: str, **changes: Any) -> dict[str, Any]:
    attributes = {
        "guid": None,
        "checkout": None,
        "name": path.rpartition("/")[2],
        "kind": "file",
        "path": "/6a16",
        "size": 427804,
        "provider": "osfstorage",
        "materialized_path": path,
        "last_touched": None,
        "date_modified": "2026-05-26T10:00:00.000000Z",
        "date_created": "2026-05-26T10:00:00.000000Z",
        "extra": {"hashes": {"md5": "a" * 32, "sha256": "b" * 64}, "downloads": 3},
        "tags": [],
        "current_user_can_comment": False,
        "current_version": 2,
        "delete_allowed": False,
    }
    links = {"info": "x", "download": f"https://osf.io/download/9ez2n/?view_only={TOKEN}"}
    return {"id": "6a16", "type": "files", "attributes": attributes | changes, "links": links}


def _osf_folder(href: str) -> dict[str, Any]:
    related = {"links": {"related": {"href": href, "meta": {}}}}
    return {"attributes": {"kind": "folder", "name": "raw"}, "relationships": {"files": related}}


def _osf_page(*entries: dict[str, Any], following: str | None = None) -> Answer:
    return _json({"data": entries, "links": {"next": following}, "meta": {"total": len(entries), "per_page": 10}})


def _osf(host: FakeHost, session: requests.Session) -> Listing[OsfFile]:
    return osf_files("abcde", view_only=TOKEN, base=host.url("/v2"), session=session, policy=QUICK)


def test_osf_files_of_all_folders_and_pages(host: FakeHost, session: requests.Session) -> None:
    folder, second = host.url(f"{OSF}6b/"), host.url("/v2/second/")
    host.on(OSF, _osf_page(_osf_file("/a.zip"), _osf_folder(folder), following=second))
    host.on("/v2/second/", _osf_page(_osf_file("/b.zip", size=1)))
    host.on(f"{OSF}6b/", _osf_page(_osf_file("/raw/c.csv")))
    listing = _osf(host, session)
    assert (listing.state, listing.unread, listing.complete) == ("seen", (), True)
    assert listing.entries[0] == OsfFile(
        "a.zip",
        427804,
        2,
        "2026-05-26T10:00:00.000000Z",
        "a" * 32,
        "b" * 64,
        "https://osf.io/download/9ez2n/?view_only=REDACTED",
    )
    assert [file.path for file in listing.entries] == ["a.zip", "raw/c.csv", "b.zip"]
    assert all(f"view_only={TOKEN}" in path for path, _ in host.log)
    assert TOKEN not in repr(listing)


def test_osf_says_what_it_could_not_read(host: FakeHost, session: requests.Session) -> None:
    host.on(
        OSF,
        _osf_page(
            _osf_file("/a.zip", size="427804", current_version=True, extra={"hashes": {"md5": None, "sha256": UPPER}}),
            _osf_file("/b.zip", kind="symlink"),
            {"attributes": {"kind": "file"}},
            _osf_folder("http://127.0.0.1:1/elsewhere/"),
        ),
    )
    listing = _osf(host, session)
    (file,) = listing.entries
    assert (file.path, file.size, file.version, file.md5, file.sha256) == ("a.zip", None, None, None, None)
    said = "\n".join(listing.unread)
    for expected in (
        "a.zip: attributes.size: expected int, found '427804'",
        "a.zip: attributes.current_version: expected int, found True",
        "a.zip: attributes.extra.hashes.md5: expected str, found None",
        "a.zip: sha256: expected 64 hex digits",
        "entry 2: attributes.kind: expected file or folder, found 'symlink'",
        "entry 3: attributes.materialized_path: expected str, found None",
        "http://127.0.0.1:1/elsewhere/?view_only=REDACTED: a link to another host",
    ):
        assert expected in said
    assert not listing.complete


@pytest.mark.parametrize("body", [b"<html>login</html>", b"{}", b"[]", b'{"data": {}}', b"", b"[" * 100_000])
def test_an_osf_answer_of_another_shape_is_unreadable_and_not_empty(
    body: bytes, host: FakeHost, session: requests.Session
) -> None:
    host.on(OSF, ok(body))
    listing = _osf(host, session)
    assert (listing.state, listing.entries, listing.complete) == ("unreadable", (), False)
    assert "expected" in listing.unread[0]


@pytest.mark.parametrize("links", [{}, {"links": None}, {"links": []}, {"links": {"next": 7}}, {"links": {"next": {}}}])
def test_an_osf_page_that_does_not_say_whether_it_is_the_last_is_a_part(
    links: dict[str, Any], host: FakeHost, session: requests.Session
) -> None:
    host.on(OSF, _json({"data": [_osf_file("/a.zip")], **links}))
    listing = _osf(host, session)
    assert (listing.state, len(listing.entries), listing.complete) == ("seen", 1, False)
    assert "links" in listing.unread[0]


def test_an_empty_osf_project_is_seen(host: FakeHost, session: requests.Session) -> None:
    host.on(OSF, _osf_page())
    listing = _osf(host, session)
    assert (listing.state, listing.entries, listing.complete) == ("seen", (), True)


def test_osf_pages_in_a_circle_end(host: FakeHost, session: requests.Session) -> None:
    start = f"{host.url(OSF)}?page%5Bsize%5D=100&view_only={TOKEN}"
    host.on(OSF, _osf_page(_osf_file("/a.zip"), following=start))
    assert (len(_osf(host, session).entries), len(host.log)) == (1, 1)


def test_a_page_that_fails_later_is_said(host: FakeHost, session: requests.Session) -> None:
    host.on(OSF, _osf_page(_osf_file("/a.zip"), following=host.url("/v2/second/")))
    host.on("/v2/second/", status(500))
    listing = _osf(host, session)
    assert (listing.state, len(listing.entries), listing.complete) == ("seen", 1, False)
    assert "server error" in listing.unread[0]


# --- states, the same for all hosts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "state", "requests_made"),
    [
        (401, "not authorised", 1),
        (403, "not authorised", 1),
        (404, "gone", 1),
        (410, "gone", 1),
        (429, "rate-limited", 1),
        (500, "server error", 2),
        (418, "unreadable", 1),
    ],
)
def test_a_status_is_a_state(
    code: int, state: str, requests_made: int, host: FakeHost, session: requests.Session
) -> None:
    host.on(OSF, status(code, b'{"errors": [{"detail": "No such node."}]}'))
    listing = _osf(host, session)
    assert (listing.state, listing.complete, len(host.log)) == (state, False, requests_made)
    assert "(No such node.)" in listing.found


def test_a_host_that_is_not_there(session: requests.Session) -> None:
    with FakeHost() as gone:
        base = gone.url("/v2")
    listing = osf_files("abcde", view_only=TOKEN, base=base, session=session, policy=QUICK)
    assert listing.state == "unreachable"
    assert TOKEN not in repr(listing)


def test_a_passing_fault_is_tried_again(host: FakeHost, session: requests.Session) -> None:
    host.on(OSF, status(502), _osf_page())
    assert _osf(host, session).state == "seen"


def test_an_answer_without_end_is_unreadable(host: FakeHost, session: requests.Session) -> None:
    host.on(OSF, ok(b" " * (9 << 20)))
    assert _osf(host, session).state == "unreadable"


# --- arXiv ---------------------------------------------------------------------------------------------------------


def _atom(number: int, identifier: str = "2610.02622", comment: str = "") -> bytes:
    said = f"<arxiv:comment>{comment}</arxiv:comment>" if comment else ""
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
  xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/xyz</id><title>arXiv Query</title><updated>2026-11-11T18:34:08Z</updated>
  <opensearch:totalResults>1</opensearch:totalResults>
  <entry><id>http://arxiv.org/abs/{identifier}v{number}</id><title>A
  title</title><updated>2026-1{number % 3}-03T00:00:00Z</updated><published>2026-10-02T17:00:00Z</published>{said}
  <link href="https://arxiv.org/abs/{identifier}v{number}" rel="alternate" type="text/html"/></entry>
</feed>""".encode()


HISTORY = b"""<html><div class="submission-history"><h2>Submission history</h2> From: A [<a href="/">view email</a>]
<strong><a href="/abs/2610.02622v1" rel="nofollow">[v1]</a></strong> Fri, 2 Oct 2026 17:00:00 UTC (1,102 KB)<br/>
<strong><a href="/abs/2610.02622v2" rel="nofollow">[v2]</a></strong> Mon, 12 Oct 2026 07:05:09 UTC (1,104 KB)<br/>
<strong>[v3]</strong> soon <em>(withdrawn)</em><br/></div></html>"""


def _arxiv(host: FakeHost, session: requests.Session) -> Listing[ArxivVersion]:
    return arxiv_versions("2610.02622", api=host.url("/api"), site=host.url("/abs"), session=session, policy=QUICK)


def test_one_version(host: FakeHost, session: requests.Session) -> None:
    host.on("/api", ok(_atom(1, comment="Under\n review")))
    listing = _arxiv(host, session)
    assert listing.entries == (ArxivVersion(1, "2026-11-03T00:00:00Z", "Under review"),)
    assert (listing.state, listing.unread, len(host.log)) == ("seen", (), 1)


def test_two_versions_need_no_second_call(host: FakeHost, session: requests.Session) -> None:
    host.on("/api", ok(_atom(2)))
    listing = _arxiv(host, session)
    assert listing.entries == (ArxivVersion(1, "2026-10-02T17:00:00Z"), ArxivVersion(2, "2026-12-03T00:00:00Z"))
    assert len(host.log) == 1


def test_versions_between_come_from_the_abstract_page(host: FakeHost, session: requests.Session) -> None:
    host.on("/api", ok(_atom(3)))
    host.on("/abs/2610.02622", ok(HISTORY))
    listing = _arxiv(host, session)
    assert [(entry.number, entry.submitted) for entry in listing.entries] == [
        (1, "2026-10-02T17:00:00Z"),
        (2, "2026-10-12T07:05:09Z"),
        (3, "2026-10-03T00:00:00Z"),
    ]
    assert listing.unread == ("v3: expected a date, found 'soon (withdrawn)'",)


def test_without_the_abstract_page_the_gap_is_said(host: FakeHost, session: requests.Session) -> None:
    host.on("/api", ok(_atom(4)))
    listing = _arxiv(host, session)
    assert [entry.number for entry in listing.entries] == [1, 4]
    assert [line.partition(":")[0] for line in listing.unread[1:]] == ["v2", "v3"]
    assert not listing.complete


@pytest.mark.parametrize(
    ("body", "state", "said"),
    [
        (b"Rate exceeded.", "rate-limited", ""),
        (_atom(1).replace(b"<entry>", b"<!--").replace(b"</entry>", b"-->"), "gone", ""),
        (_atom(1, "2610.99999"), "unreadable", "expected 2610.02622 with a version"),
        (_atom(1).replace(b"abs/2610.02622v1</id>", b"api/errors#bad</id>"), "unreadable", "A title"),
        (b"<html>maintenance", "unreadable", "expected Atom"),
        (b'<!DOCTYPE feed [<!ENTITY a "aaaa">]><feed>&a;</feed>', "unreadable", "document type"),
    ],
)
def test_arxiv_answers_that_are_no_version(
    body: bytes, state: str, said: str, host: FakeHost, session: requests.Session
) -> None:
    host.on("/api", ok(body))
    listing = _arxiv(host, session)
    assert (listing.state, listing.entries) == (state, ())
    assert said in " ".join(listing.unread)


def test_a_missing_time_is_said() -> None:
    body = _atom(1).replace(b"<published>2026-10-02T17:00:00Z</published>", b"")
    versions, unread = parse_arxiv_atom(body, "2610.02622")
    assert [version.number for version in versions] == [1]
    assert unread == ["entry: published: expected a time, found none"]


# --- GitHub --------------------------------------------------------------------------------------------------------


def _commit(sha: str, message: str) -> dict[str, Any]:
    person = {"name": "A", "email": "a@example.org", "date": "2026-11-02T09:00:00Z"}
    return {"sha": sha, "commit": {"author": person, "committer": person, "message": message}, "parents": []}


COMMITS = "/repos/owner/name/commits"


def _github(host: FakeHost, session: requests.Session, path: str = "data/wax") -> Listing[GithubCommit]:
    return github_commits("owner/name", path, base=host.url(""), session=session, policy=QUICK)


def test_commits_of_a_path(host: FakeHost, session: requests.Session) -> None:
    host.on(COMMITS, _json([_commit("b" * 40, "Add data\n\nBody"), _commit("a" * 40, "Start")]))
    listing = _github(host, session)
    assert listing.entries == (
        GithubCommit("b" * 40, "2026-11-02T09:00:00Z", "Add data"),
        GithubCommit("a" * 40, "2026-11-02T09:00:00Z", "Start"),
    )
    assert (listing.complete, host.log[0][0]) == (True, f"{COMMITS}?per_page=100&path=data%2Fwax")


def test_more_commits_than_one_page(host: FakeHost, session: requests.Session) -> None:
    link = f'<{host.url(COMMITS)}?page=2>; rel="next", <{host.url(COMMITS)}?page=9>; rel="last"'
    host.on(COMMITS, ok(json.dumps([_commit("b" * 40, "x")]).encode(), Link=link))
    listing = _github(host, session)
    assert (listing.state, listing.complete, listing.unread) == ("seen", False, ())


def test_a_path_that_no_commit_touches(host: FakeHost, session: requests.Session) -> None:
    host.on(COMMITS, ok(b"[]"))
    listing = _github(host, session)
    assert (listing.state, listing.entries, listing.found) == ("seen", (), "no commit touches data/wax")


def test_a_renamed_repository_is_followed_on_the_same_host(host: FakeHost, session: requests.Session) -> None:
    host.on(COMMITS, redirect("/repositories/1/commits"))
    host.on("/repositories/1/commits", _json([_commit("b" * 40, "x")]))
    assert len(_github(host, session).entries) == 1


def test_githubs_rate_limit_says_until_when(host: FakeHost, session: requests.Session) -> None:
    ends = datetime.now(UTC) + timedelta(minutes=30)
    headers = {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": str(int(ends.timestamp()))}
    host.on(COMMITS, status(403, b'{"message": "API rate limit exceeded"}', **headers))
    listing = _github(host, session)
    assert listing.state == "rate-limited"
    assert listing.until is not None
    assert abs(listing.until - ends) < timedelta(seconds=5)


@pytest.mark.parametrize(
    ("answer", "state"),
    [(status(409, b'{"message": "Git Repository is empty."}'), "gone"), (ok(b'{"message": "odd"}'), "unreadable")],
)
def test_github_answers_that_are_no_list(answer: Answer, state: str, host: FakeHost, session: requests.Session) -> None:
    host.on(COMMITS, answer)
    assert _github(host, session, "").state == state


def test_a_commit_that_cannot_be_read_is_said(host: FakeHost, session: requests.Session) -> None:
    host.on(COMMITS, _json([_commit("b" * 40, "x"), {"sha": "c"}, "?"]))
    listing = _github(host, session)
    assert (len(listing.entries), listing.complete) == (1, False)
    assert "commit 2: commit.committer.date: expected str, found None" in listing.unread
    assert "commit 3: sha: expected str, found None" in listing.unread


# --- anonymous.4open.science ---------------------------------------------------------------------------------------

FILES = "/api/repo/CuBE-0000/files/"


def _anonymous(host: FakeHost, session: requests.Session) -> Listing[AnonymousFile]:
    return anonymous_files("CuBE-0000", base=host.url(""), session=session, policy=QUICK)


def _tree(folders: dict[str, list[dict[str, Any]]]) -> Answer:
    """One folder a call, as ?path= names it."""

    def answer(handler: Handler) -> None:
        path = handler.path.partition("?path=")[2].replace("%2F", "/")
        _json(folders[path])(handler)

    return answer


def test_anonymous_files_one_folder_a_call(host: FakeHost, session: requests.Session) -> None:
    host.on(
        FILES,
        _tree(
            {
                "": [{"name": "README.md", "path": "", "size": 12, "sha": "0a1b2c3d"}, {"name": "src", "path": ""}],
                "src": [{"name": "empty.py", "path": "src", "size": 0}, {"name": "deep", "path": "src"}],
                "src/deep": [{"name": "a.py", "path": "src/deep", "size": "9", "sha": "ffffffff"}, {"path": "?"}],
            }
        ),
    )
    listing = _anonymous(host, session)
    assert listing.entries == (
        AnonymousFile("README.md", 12, "0a1b2c3d"),
        AnonymousFile("src/empty.py", 0, None),
        AnonymousFile("src/deep/a.py", None, "ffffffff"),
    )
    assert listing.unread == (
        "src/deep/a.py: size: expected int, found '9'",
        "entry 2: name: expected str, found None",
    )
    assert [path for path, _ in host.log] == [FILES, f"{FILES}?path=src", f"{FILES}?path=src%2Fdeep"]


@pytest.mark.parametrize(
    ("code", "error", "state"),
    [
        (410, "repository_expired", "expired"),
        (425, "repository_not_ready", "not ready"),
        (403, "repository_disabled", "disabled"),
        (404, "repo_not_found", "gone"),
        (401, "not_connected", "not authorised"),
    ],
)
def test_the_states_of_an_anonymous_repository(
    code: int, error: str, state: str, host: FakeHost, session: requests.Session
) -> None:
    host.on(FILES, status(code, json.dumps({"error": error}).encode()))
    listing = _anonymous(host, session)
    assert (listing.state, len(host.log)) == (state, 1)
    assert error in listing.found


def test_an_expired_repository_that_gives_itself_away_has_moved(host: FakeHost, session: requests.Session) -> None:
    with FakeHost() as elsewhere:
        host.on(FILES, redirect(elsewhere.url("/owner/name")))
        listing = _anonymous(host, session)
        assert (listing.state, elsewhere.log) == ("moved", [])
        assert elsewhere.url("/owner/name") in listing.found


def test_the_older_shape_of_a_tree_is_unreadable(host: FakeHost, session: requests.Session) -> None:
    host.on(FILES, _json({"README.md": {"size": 12, "sha": "0a"}}))
    assert _anonymous(host, session).state == "unreadable"
