"""`countback watch` against fake hosts: what is asked, what is kept, and what it takes to say that nothing changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from countback.audit.ledger import append, open_ledger
from countback.claims.registry import list_papers
from countback.fetch.outcome import Policy

from tests.functional import upstream_shapes as shapes
from tests.functional.fakehost import FakeHost, status
from tests.functional.inprocess import runner

QUICK = Policy(attempts=1, backoff=0.01)


@pytest.fixture
def host():
    with FakeHost() as server:
        shapes.quiet_world(server)
        yield server


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def watch(paper, host, tmp_path, ledger, monkeypatch):
    """`countback watch` of a made-up paper whose places are the fake host."""
    (paper / "upstream.toml").write_text(shapes.upstream_toml(host), encoding="utf-8")
    monkeypatch.setattr("countback.audit.watch_text.PATIENCE", QUICK)
    run = runner(tmp_path, ledger, monkeypatch)
    return lambda *options: run("watch", paper, *options)


def bodies(ledger: Path) -> list[dict]:
    return [entry.body for entry in open_ledger(ledger).entries("observation")]


def test_every_place_is_an_entry_and_no_secret_is_kept(watch, host, ledger):
    done = watch()
    assert (done.returncode, done.stderr) == (0, "")
    kept = bodies(ledger)
    assert [body["place"] for body in kept] == ["demo/osf", "demo/preprint", "demo/code", "demo/repository"]
    assert {body["state"] for body in kept} == {"seen"}
    assert kept[0]["shown"]["labels.zip"]["sha256"] == "a" * 64
    assert kept[0]["licence"] == ""
    assert kept[1]["shown"] == {"v1": {"submitted": "2026-10-02T17:00:00Z", "comment": ""}}
    assert list(kept[3]["shown"]) == ["1" * 40]
    asked = [path for path, _ in host.log]
    assert sum("view_only=0123456789abcdef" in path for path in asked) == 2  # files and licence
    assert b"0123456789abcdef" not in ledger.read_bytes()


def test_the_entry_is_what_the_first_look_is_compared_with(watch, host):
    """The archive changed between October and the first look: nobody has a ledger that could know."""
    host.on(shapes.OSF_FILES, shapes.osf_files(labels_zip=(427804, "f", "2026-11-11")))
    host.on(shapes.ARXIV, shapes.arxiv(2, "2026-11-20T08:00:00Z"))
    done = watch()
    assert done.returncode == 1
    for words in (
        "demo/osf (OSF project abcde): changed since 2026-10-07",
        "changed in place: labels.zip",
        "gone: scores.zip",
        "new: v2",
    ):
        assert words in done.stdout


def test_quiet_is_an_exit_code_and_an_entry(watch, host, ledger):
    done = watch("--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(bodies(ledger)) == 4
    host.on(shapes.ARXIV, shapes.arxiv(2, "2026-11-20T08:00:00Z"))
    done = watch("-q")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_down_is_said_each_time_and_what_changed_meanwhile_afterwards(watch, host, ledger):
    watch()
    host.on(shapes.OSF_FILES, status(500))
    for _ in range(2):
        done = watch()
        assert done.returncode == 3
        assert "demo/osf (OSF project abcde): could not look: server error" in done.stdout
        assert "nothing changed where it could be seen; 3 of 4 places seen in whole" in done.stdout
    assert [body["state"] for body in bodies(ledger) if body["place"] == "demo/osf"] == [
        "seen",
        "server error",
        "server error",
    ]
    files = {"labels_zip": (427804, "a", "2026-05-26"), "scores_zip": (17718164, "b", "2026-05-26")}
    host.on(shapes.OSF_FILES, shapes.osf_files(**files, france_zip=(1, "c", "2027-01-01")))
    done = watch()
    assert done.returncode == 1
    assert "new: france.zip" in done.stdout
    assert done.stdout.count("new:") == 1
    assert watch().returncode == 0


def test_a_licence_that_cannot_be_seen_is_not_a_missing_licence(watch, host):
    host.on(shapes.REPOSITORY, shapes.repository("MIT"))
    watch()
    host.on(shapes.REPOSITORY, status(500))
    done = watch()
    assert done.returncode == 3
    assert "demo/repository (GitHub repository owner/name): seen in part: licence: server error" in done.stdout
    host.on(shapes.REPOSITORY, shapes.repository("MIT"))
    assert watch().returncode == 0
    host.on(shapes.REPOSITORY, shapes.repository(None))
    done = watch()
    assert done.returncode == 1
    assert "licence: was MIT, is none" in done.stdout


def test_a_page_that_is_missing_hides_no_file_and_loses_none(watch, host):
    """The second page of the file list fails: its file is neither gone now nor new next time."""
    files = {"labels_zip": (427804, "a", "2026-05-26")}
    second = shapes.osf_files(scores_zip=(17718164, "b", "2026-05-26"))

    def first(handler):
        page = json.loads(_body(shapes.osf_files(**files)))
        page["links"]["next"] = host.url("/second/")
        shapes.as_json(page)(handler)

    host.on(shapes.OSF_FILES, first)
    host.on("/second/", second)
    assert watch().returncode == 0
    host.on("/second/", status(503))
    done = watch()
    assert done.returncode == 3
    assert "seen in part" in done.stdout
    assert "gone" not in done.stdout
    host.on("/second/", second)
    assert watch().returncode == 0
    host.on(shapes.OSF_FILES, shapes.osf_files(**files))
    assert "gone: scores.zip" in watch().stdout


def _body(answer) -> bytes:
    """What an answer would send."""

    class Catcher:
        def __init__(self):
            self.wfile, self.sent = self, b""

        def start(self, code, headers):
            pass

        def write(self, data):
            self.sent += data

    catcher = Catcher()
    answer(catcher)
    return catcher.sent


def test_no_place_to_look_at(paper, tmp_path, ledger, monkeypatch):
    done = runner(tmp_path, ledger, monkeypatch)("watch", paper)
    assert (done.returncode, done.stdout) == (2, "")
    assert "upstream.toml" in done.stderr
    assert not ledger.exists()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('host = "arxiv"', 'host = "ftp"', "place.1.host: expected"),
        ('base = "http', 'base = "ftp', "place.0.base"),
        ("since = 2026-10-07", 'since = "some day"', "place.0.since"),
        ('name = "abcde"', 'nmae = "abcde"', "unknown key 'nmae'"),
        ('id = "preprint"', 'id = "osf"', 'the id "osf" stands twice'),
    ],
)
def test_a_mistake_in_upstream_toml(old, new, sentence, watch, paper, ledger):
    file = paper / "upstream.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    done = watch()
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not ledger.exists()


def test_a_broken_ledger_stops_it_before_anybody_is_asked(watch, host, ledger):
    watch()
    asked = len(host.log)
    ledger.write_bytes(ledger.read_bytes().replace(b"labels.zip", b"lapels.zip"))
    done = watch()
    assert done.returncode == 4
    assert "entry 1 (line 1) was edited" in done.stderr
    assert len(host.log) == asked


@pytest.mark.parametrize(
    "change", [{"state": None}, {"shown": ["a"]}, {"shown": {"a": 7}}, {"unread": 7}, {"place": 7}, None]
)
def test_an_observation_that_watch_did_not_write(change, watch, host, ledger):
    watch()
    body = bodies(ledger)[-1]
    asked = len(host.log)
    append(ledger, "observation", {} if change is None else body | change)
    done = watch()
    assert (done.returncode, done.stdout) == (4, "")
    assert "entry 5 follows the chain and is not what countback writes" in done.stderr
    assert len(host.log) == asked


def test_every_paper_of_the_registry_has_places_that_read(tmp_path):
    from countback.audit.watch import baseline, load_places
    from countback.claims.registry import paper_releases

    places = {folder.name: load_places(folder) for folder in list_papers()}
    assert [place.id for place in places["cubes"]] == ["osf", "arxiv", "code", "bloom"]
    assert [place.name for place in places["alt_test"]] == ["nitaytech/AltTest"]
    shown = baseline("cubes", places["cubes"][0]).shown
    cubes = next(folder for folder in list_papers() if folder.name == "cubes")
    pins = {pin.path: pin for release in paper_releases(cubes) for pin in release.files if pin.path}
    assert set(shown) == set(pins)
    for name, told in shown.items():
        assert told["size"] == pins[name].size
        assert told.get("sha256") == pins[name].sha256
        assert re.search(r"view_only=(\w+)", pins[name].url)[1] == places["cubes"][0].view_only
