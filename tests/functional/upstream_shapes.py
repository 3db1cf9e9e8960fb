"""Answers of the four hosts in the shapes they are on record with, for fake hosts; the values are invented.

OSF API v2 (files, and a node with its licence embedded), the arXiv API's Atom, GitHub's "list commits" and "get a
repository", and the file list of anonymous_github.
"""

from __future__ import annotations

import json
from typing import Any

from tests.functional.fakehost import Answer, FakeHost, ok

OSF_FILES, OSF_NODE = "/nodes/abcde/files/osfstorage/", "/nodes/abcde/"
ARXIV = "/api/query"
COMMITS, REPOSITORY = "/repos/owner/name/commits", "/repos/owner/name"
ANONYMOUS = "/api/repo/Code-0000/files/"

UPSTREAM = """[[place]]
id = "osf"
host = "osf"
name = "abcde"
view_only = "0123456789abcdef"
base = "BASE"
since = 2026-10-07
licence = ""
shown = { "labels.zip" = { size = 427804, sha256 = "AAAA" }, "scores.zip" = { size = 17718164 } }

[[place]]
id = "preprint"
host = "arxiv"
name = "2610.99999"
base = "BASE"
since = 2026-10-07
shown = { "v1" = {} }

[[place]]
id = "code"
host = "anonymous"
name = "Code-0000"
base = "BASE"

[[place]]
id = "repository"
host = "github"
name = "owner/name"
base = "BASE"
"""


def upstream_toml(host: FakeHost) -> str:
    return UPSTREAM.replace("BASE", host.url("")).replace("AAAA", "a" * 64)


def as_json(value: Any) -> Answer:
    return ok(json.dumps(value).encode(), Content_Type="application/json")


def osf_files(**files: tuple[int, str, str]) -> Answer:
    """name (with _ for .) = (size, hex digit that its hashes repeat, date)."""
    data = [
        {
            "attributes": {
                "kind": "file",
                "materialized_path": "/" + name.replace("_", "."),
                "size": size,
                "date_modified": f"{day}T10:00:00.000000Z",
                "current_version": 1,
                "extra": {"hashes": {"md5": digit * 32, "sha256": digit * 64}},
            },
            "links": {"download": "https://osf.io/download/xyz/"},
        }
        for name, (size, digit, day) in files.items()
    ]
    return as_json({"data": data, "links": {"next": None}})


def osf_node(licence: str | None) -> Answer:
    attributes = {"title": "A project", "node_license": licence and {"copyright_holders": [], "year": "2027"}}
    embeds = {"license": {"data": {"attributes": {"name": licence, "url": "https://example.org"}}}} if licence else {}
    return as_json({"data": {"id": "abcde", "type": "nodes", "attributes": attributes, "embeds": embeds}})


def arxiv(version: int, updated: str) -> Answer:
    return ok(
        f"""<feed xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <entry><id>http://arxiv.org/abs/2610.99999v{version}</id><title>A title</title>
  <updated>{updated}</updated><published>2026-10-02T17:00:00Z</published></entry></feed>""".encode()
    )


def commits(*shas: str) -> Answer:
    """Latest first; each a hex digit that the sha repeats."""
    return as_json(
        [
            {"sha": digit * 40, "commit": {"committer": {"date": "2026-11-02T09:00:00Z"}, "message": f"change {digit}"}}
            for digit in shas
        ]
    )


def repository(licence: str | None) -> Answer:
    return as_json({"full_name": "owner/name", "license": licence and {"spdx_id": licence}})


def anonymous(**files: str) -> Answer:
    """name (with _ for .) = sha as shown."""
    return as_json(
        [{"name": name.replace("_", "."), "path": "", "size": 12, "sha": sha} for name, sha in files.items()]
    )


def quiet_world(host: FakeHost) -> None:
    """Every place shows what it showed in October 2026."""
    host.on(OSF_FILES, osf_files(labels_zip=(427804, "a", "2026-05-26"), scores_zip=(17718164, "b", "2026-05-26")))
    host.on(OSF_NODE, osf_node(None))
    host.on(ARXIV, arxiv(1, "2026-10-02T17:00:00Z"))
    host.on(COMMITS, commits("1", "0"))
    host.on(REPOSITORY, repository(None))
    host.on(ANONYMOUS, anonymous(README_md="0a1b2c3d", judge_py="11111111"))
