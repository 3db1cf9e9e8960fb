"""What counts as a change between two looks, and what does not."""

from __future__ import annotations

import pytest
from countback.audit.watch import Change, History, Observation, carried, compare, histories
from countback.fetch.licence import parse_github_licence, parse_osf_licence

A = {"size": 10, "sha256": "a" * 64, "modified": "2026-05-26"}
B = {"size": 20, "sha256": "b" * 64, "modified": "2026-05-26"}


def seen(shown: dict | None = None, **more: object) -> Observation:
    return Observation("demo/osf", "seen", shown=shown or {}, **more)


def after(before: Observation, now: Observation) -> list[Change]:
    return compare(now, History(before, before))


def kinds(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.what) for change in changes]


def test_nothing_changed():
    assert after(seen({"a": A}, licence=""), seen({"a": dict(A)}, licence="")) == []


def test_new_and_gone():
    assert kinds(after(seen({"a": A}), seen({"b": B}))) == [("new", "b"), ("gone", "a")]


@pytest.mark.parametrize("key", ["size", "sha256"])
def test_other_bytes_under_the_same_name(key):
    (change,) = after(seen({"a": A}), seen({"a": A | {key: B[key], "modified": "2027-01-01"}}))
    assert (change.kind, change.what) == ("bytes", "a")
    assert str(B[key])[:12] in change.now


def test_another_date_alone_is_a_detail():
    (change,) = after(seen({"a": A}), seen({"a": A | {"modified": "2027-01-01"}}))
    assert change == Change("details", "a", "modified 2026-05-26", "modified 2027-01-01")


@pytest.mark.parametrize("unknown", [None, "absent"])
def test_what_one_side_does_not_know_is_no_change(unknown):
    partly = {"size": 10} if unknown == "absent" else A | {"sha256": None}
    assert after(seen({"a": partly}), seen({"a": A})) == []
    assert after(seen({"a": A}), seen({"a": partly})) == []


def test_a_file_under_another_name():
    assert kinds(after(seen({"a.zip": A}), seen({"data/b.zip": A}))) == [("renamed", "data/b.zip")]
    size = {"size": 10}
    assert kinds(after(seen({"a.zip": size}), seen({"data/a.zip": A}))) == [("renamed", "data/a.zip")]
    # the same size alone does not make two names one file, and nothing known makes none
    assert kinds(after(seen({"a.zip": size}), seen({"b.zip": A}))) == [("new", "b.zip"), ("gone", "a.zip")]
    assert kinds(after(seen({"a": {}}), seen({"b/a": {}}))) == [("new", "b/a"), ("gone", "a")]
    # two new names for one old file: one is it, the other is new
    assert kinds(after(seen({"a": A}), seen({"b": A, "c": A}))) == [("renamed", "b"), ("new", "c")]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [("", "MIT", ("none", "MIT")), ("MIT", "", ("MIT", "none")), ("MIT", "CC0", ("MIT", "CC0"))],
)
def test_a_licence(was, now, said):
    assert after(seen(licence=was), seen(licence=now)) == [Change("licence", "licence", *said)]


@pytest.mark.parametrize(("was", "now"), [(None, "MIT"), ("MIT", None), (None, None), ("MIT", "MIT"), ("", "")])
def test_no_change_of_licence(was, now):
    assert after(seen(licence=was), seen(licence=now)) == []


def test_a_partial_look_claims_nothing_gone_and_is_kept_with_what_was_known():
    before = seen({"a": A, "b": B}, licence="MIT")
    now = seen({"a": A}, unread=("page 2: server error",))
    history = History(before, before)
    assert compare(now, history) == []
    kept = carried(now, history)
    assert (kept.shown, kept.licence, kept.unread) == ({"a": A, "b": B}, "MIT", now.unread)
    assert after(kept, seen({"a": A, "b": B}, licence="MIT")) == []
    assert kinds(after(kept, seen({"a": A}, licence="MIT"))) == [("gone", "b")]


def test_a_digest_that_a_host_withholds_for_a_day_is_not_forgotten():
    """Else a file whose bytes changed on that very day would never be said to have changed."""
    before = seen({"a": A})
    without = seen({"a": A | {"sha256": None}, "b": B | {"size": None}}, unread=("a: extra.hashes.sha256: none",))
    kept = carried(without, History(before, before))
    assert kept.shown == {"a": A, "b": B | {"size": None}}
    assert kinds(after(kept, seen({"a": A | {"sha256": "c" * 64}, "b": B}))) == [("bytes", "a")]
    assert after(kept, seen({"a": A, "b": B})) == []


def test_the_first_look_has_nothing_to_compare_with():
    assert compare(seen({"a": A}), None) == []
    assert compare(Observation("demo/osf", "gone"), None) == []


PASSING = ("unreachable", "server error", "rate-limited", "unreadable", "not ready")
SETTLED = ("gone", "expired", "disabled", "moved", "not authorised")


@pytest.mark.parametrize("state", SETTLED)
def test_a_settled_state_is_a_change_once(state):
    before, lost = seen({"a": A}), Observation("demo/osf", state)
    assert kinds(after(before, lost)) == [("state", "")]
    assert compare(lost, History(before, lost)) == []
    back = compare(seen({"a": B}), History(before, lost))
    assert [(change.kind, change.was, change.now) for change in back[:1]] == [("state", state, "seen")]
    assert kinds(back[1:]) == [("bytes", "a")]


@pytest.mark.parametrize("state", PASSING)
def test_a_passing_state_is_never_a_change_and_never_unchanged(state):
    before, now = seen({"a": A}), Observation("demo/osf", state)
    assert after(before, now) == []
    assert not now.whole
    history = histories([now, before], [])["demo/osf"]
    assert history == History(before, before)
    assert kinds(compare(seen({"b": B}), history)) == [("new", "b"), ("gone", "a")]


def test_a_history_is_made_of_the_newest():
    old, new, lost, down = (
        seen({"a": A}),
        seen({"b": B}),
        Observation("demo/osf", "gone"),
        Observation("demo/osf", "unreachable"),
    )
    baseline = seen({"c": B})
    assert histories([down, lost, new, old], [baseline]) == {"demo/osf": History(new, lost)}
    assert histories([down], [baseline]) == {"demo/osf": History(baseline, baseline)}
    assert histories([down], []) == {}
    assert histories([lost], []) == {"demo/osf": History(None, lost)}


def test_a_later_commit_is_new_and_the_one_before_is_not_gone():
    before = seen({"1" * 40: {"date": "2026-01-01", "title": "x"}})
    now = seen({"2" * 40: {"date": "2026-01-02", "title": "y"}})
    assert kinds(after(before, now)) == [("new", "2" * 40)]


@pytest.mark.parametrize(
    ("body", "found", "unread"),
    [
        (b'{"data": {"attributes": {"node_license": null}}}', [], 0),
        (
            b'{"data": {"attributes": {"node_license": {"year": "1"}}, '
            b'"embeds": {"license": {"data": {"attributes": {"name": "MIT License"}}}}}}',
            ["MIT License"],
            0,
        ),
        (b'{"data": {"attributes": {"node_license": {"year": "1"}}}}', [], 1),
        (b'{"data": {"attributes": {}}}', [], 1),
        (b'{"data": []}', [], 1),
        (b"<html>", [], 1),
    ],
)
def test_the_licence_of_an_osf_project(body, found, unread):
    assert (parse_osf_licence(body)[0], len(parse_osf_licence(body)[1])) == (found, unread)


@pytest.mark.parametrize(
    ("body", "found", "unread"),
    [
        (b'{"license": null}', [], 0),
        (b'{"license": {"key": "mit", "spdx_id": "MIT"}}', ["MIT"], 0),
        (b'{"license": {"key": "other", "spdx_id": "NOASSERTION"}}', ["NOASSERTION"], 0),
        (b"{}", [], 1),
        (b'{"license": "MIT"}', [], 1),
        (b"[]", [], 1),
    ],
)
def test_the_licence_of_a_repository(body, found, unread):
    assert (parse_github_licence(body)[0], len(parse_github_licence(body)[1])) == (found, unread)
