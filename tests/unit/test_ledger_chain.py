"""The ledger's chain: what an entry looks like, what an interrupted append leaves behind, and what is damage."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from countback.audit import ledger
from countback.audit.ledger import append, open_ledger, verify
from countback.fetch.errors import IntegrityError, UserError


def quiet(line: str) -> None:
    """Nothing is told where nothing is expected."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def fill(path: Path, count: int) -> None:
    for number in range(1, count + 1):
        append(path, "observation", {"number": number}, quiet)


def bodies(path: Path) -> list[int]:
    return [entry.body["number"] for entry in open_ledger(path).entries("observation")]


def test_the_form_of_a_line(path):
    append(path, "check", {"b": 1, "a": "ä\n"}, quiet)
    append(path, "resolution", {}, quiet)
    first, second, rest = path.read_bytes().split(b"\n")
    assert rest == b""
    digest = hashlib.sha256(first).hexdigest()
    stamp = r'"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"'
    assert re.fullmatch(
        r'\{"prev":"0{64}","n":1,' + stamp + r',"kind":"check","body":\{"b":1,"a":"\\u00e4\\n"\}\}', first.decode()
    )
    assert re.fullmatch(
        r'\{"prev":"' + digest + r'","n":2,' + stamp + r',"kind":"resolution","body":\{\}\}', second.decode()
    )
    head = json.loads((path.parent / "ledger.jsonl.head").read_text())
    assert head == {"n": 2, "sha256": hashlib.sha256(second).hexdigest()}


def test_entries_are_chosen_by_kind_at_any_number(path):
    """The kind is looked for where it stands, which moves with the digits of n; a body cannot pass for one."""
    for number in range(1, 102):
        kind = "amendment" if number in (1, 9, 10, 99, 100, 101) else "check"
        append(path, kind, {"number": number, "kind": "resolution"}, quiet)
    chain = open_ledger(path)
    assert [entry.n for entry in chain.entries("amendment")] == [1, 9, 10, 99, 100, 101]
    assert [entry.n for entry in chain.entries("amendment", newest_first=True)] == [101, 100, 99, 10, 9, 1]
    assert list(chain.entries("resolution")) == []
    assert len(list(chain.entries("check", "amendment"))) == 101
    assert chain.entry(7).body["number"] == 7


@pytest.mark.parametrize("number", [0, 4, -1])
def test_no_such_entry(number, path):
    fill(path, 3)
    with pytest.raises(UserError, match="it holds 3"):
        open_ledger(path).entry(number)


def test_no_ledger(path):
    assert open_ledger(path).lines == ()
    with pytest.raises(UserError, match="no ledger there"):
        verify(path)
    assert list(path.parent.iterdir()) == []


def test_the_place(monkeypatch, tmp_path):
    monkeypatch.setenv("COUNTBACK_LEDGER", str(tmp_path / "own.jsonl"))
    assert ledger.ledger_path(None) == tmp_path / "own.jsonl"
    assert ledger.ledger_path(tmp_path / "given.jsonl") == tmp_path / "given.jsonl"
    monkeypatch.delenv("COUNTBACK_LEDGER")
    assert ledger.ledger_path(None).name == "ledger.jsonl"


def test_a_body_that_json_does_not_know(path):
    fill(path, 1)
    with pytest.raises(ValueError, match="JSON"):
        append(path, "check", {"x": float("nan")}, quiet)
    assert verify(path).torn == b""


# --- an append that was interrupted -------------------------------------------------------------------------------


class Crash(BaseException):
    """What kill -9 would be, at one chosen point."""


def crash_at(monkeypatch: pytest.MonkeyPatch, function: str, call: int) -> None:
    """The `call`-th use of os.`function` from now on does not happen, nor anything after it."""
    real: Callable[..., object] = getattr(os, function)
    calls = iter(range(1, 99))

    def stop(*arguments: object, **options: object) -> object:
        if next(calls) == call:
            raise Crash
        return real(*arguments, **options)

    monkeypatch.setattr(os, function, stop)


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize(
    ("function", "call"),
    [("fsync", 1), ("fsync", 2), ("fsync", 3), ("replace", 1), ("fsync", 4), ("fsync", 5), ("replace", 2)],
)
def test_a_crash_at_every_step_loses_nothing_reported(function, call, before, path, monkeypatch):
    fill(path, before)
    with monkeypatch.context() as patch:
        crash_at(patch, function, call)
        try:
            append(path, "observation", {"number": before + 1}, quiet)
            crashed = False
        except Crash:
            crashed = True
    kept = bodies(path)
    assert kept[:before] == list(range(1, before + 1))
    assert len(kept) == before + 1 or (crashed and len(kept) == before)
    fill_from = len(kept) + 1
    append(path, "observation", {"number": fill_from}, quiet)
    assert bodies(path) == list(range(1, fill_from + 1))
    assert verify(path).adopted is False


def test_the_first_steps_do_crash(path, monkeypatch):
    """The test above would pass if nothing ever crashed."""
    fill(path, 1)
    for function, call in (("fsync", 1), ("fsync", 2), ("replace", 1), ("fsync", 3)):
        with monkeypatch.context() as patch:
            crash_at(patch, function, call)
            with pytest.raises(Crash):
                append(path, "observation", {"number": 0}, quiet)


def test_a_whole_line_beyond_the_head_is_kept_and_said(path, monkeypatch):
    fill(path, 2)
    with monkeypatch.context() as patch:
        crash_at(patch, "replace", 1)
        with pytest.raises(Crash):
            fill(path, 1)
    chain = verify(path)
    assert (chain.adopted, len(chain.lines)) == (True, 3)
    told: list[str] = []
    append(path, "check", {}, told.append)
    assert told == [f"{path}: entry 3 was written whole and never reported; it is kept"]
    assert (verify(path).adopted, len(verify(path).lines)) == (False, 4)


def next_line(path: Path, kind: str = "resolution", body: str = '{"outcome":"confirmed"}') -> bytes:
    """A line that chains to the last one, as anybody can write it."""
    last = path.read_bytes().split(b"\n")[-2]
    prev, n = hashlib.sha256(last).hexdigest(), json.loads(last)["n"] + 1
    return f'{{"prev":"{prev}","n":{n},"at":"2026-11-29T10:00:00Z","kind":"{kind}","body":{body}}}\n'.encode()


def test_a_line_that_chains_and_that_no_append_announced_was_inserted(path, monkeypatch):
    """The ledger's file alone was edited: by a line of another's making, after whole appends or a crashed one."""
    fill(path, 2)
    whole = path.read_bytes()
    path.write_bytes(whole + next_line(path))
    for use in (verify, open_ledger, lambda path: append(path, "check", {}, quiet)):
        with pytest.raises(IntegrityError, match="entry 3 stands beyond the head and no append announced it"):
            use(path)
    path.write_bytes(whole)
    with monkeypatch.context() as patch:
        crash_at(patch, "fsync", 3)  # announced; its line is the third to be synchronised
        with pytest.raises(Crash):
            fill(path, 1)
    assert verify(path).adopted
    path.write_bytes(whole)  # the announced line is gone
    path.write_bytes(whole + next_line(path))
    with pytest.raises(IntegrityError, match="entry 3 stands beyond the head"):
        verify(path)
    path.write_bytes(whole)
    fill(path, 1)
    assert verify(path).head.n == 3


@pytest.mark.parametrize(
    "line",
    [
        '"at":"2026-11-29T10:00:00Z","kind":"check","body":{]}}',
        '"at":"2026-11-29T10:00:00Z","kind":"check","body":[{}]}}',
        '"at":"2026-11-29T10:00:00Z","kind":"check","body":7,"x":{}}',
        '"at":"2026-13-29T10:00:00Z","kind":"check","body":{}}',
        '"at":"2026-11-29T10:00:00Q","kind":"check","body":{}}',
        '"at":"2026-11-29T10:00:00Z","kind":"check","body":' + '{"a":' * 100_000 + "}}",
    ],
)
def test_a_line_that_chains_and_is_no_entry(line, path):
    """Both files were written by hand."""
    text = f'{{"prev":"{"0" * 64}","n":1,{line}'
    path.write_text(text + "\n")
    head = {"n": 1, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    path.with_name("ledger.jsonl.head").write_text(json.dumps(head) + "\n")
    chain = open_ledger(path)
    for read in (lambda: chain.entry(1), lambda: list(chain.entries("check"))):
        with pytest.raises(IntegrityError, match="entry 1 follows the chain and is not what countback writes"):
            read()


def test_a_line_torn_at_any_byte_is_moved_aside_and_said(path):
    fill(path, 2)
    whole = path.read_bytes()
    head = path.with_name("ledger.jsonl.head").read_bytes()
    fill(path, 1)
    line = path.read_bytes()[len(whole) : -1]
    for cut in range(1, len(line) + 1):
        path.write_bytes(whole + line[:cut])
        path.with_name("ledger.jsonl.head").write_bytes(head)
        chain = verify(path)
        assert (chain.torn, len(chain.lines)) == (line[:cut], 2)
        told: list[str] = []
        assert append(path, "check", {}, told.append).n == 3
        assert told == [
            f"{path}: an append that was interrupted left {cut} bytes; they were moved to ledger.jsonl.torn-3"
        ]
        assert path.with_name("ledger.jsonl.torn-3").read_bytes() == line[:cut]
        assert verify(path).torn == b""


def test_a_torn_first_line(path):
    fill(path, 1)
    line = path.read_bytes()
    path.with_name("ledger.jsonl.head").write_text('{"n": 0, "sha256": "' + "0" * 64 + '"}\n')
    path.write_bytes(line[:30])
    assert verify(path).torn == line[:30]
    append(path, "observation", {"number": 1}, quiet)
    assert bodies(path) == [1]


# --- damage -------------------------------------------------------------------------------------------------------


def damaged(path: Path, lines: list[bytes]) -> str:
    """What verify says of a ledger of these lines."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with pytest.raises(IntegrityError) as error:
        verify(path)
    assert error.value.exit_code == 4
    return str(error.value)


@pytest.fixture
def lines(path: Path) -> list[bytes]:
    fill(path, 9)
    return path.read_bytes().split(b"\n")[:-1]


@pytest.mark.parametrize("n", range(1, 10))
def test_an_edited_body(n, path, lines):
    lines[n - 1] = lines[n - 1].replace(b'"number"', b'"nombre"')
    assert f"entry {n} (line {n}) was edited" in damaged(path, lines)


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("mark", [b'"prev":"', b'"n":', b'"at":"', b'"kind":"', b'"body":'])
def test_an_edit_in_any_field(mark, n, path, lines):
    place = lines[n - 1].index(mark) + len(mark)
    byte = b"7" if lines[n - 1][place : place + 1] != b"7" else b"8"
    lines[n - 1] = lines[n - 1][:place] + byte + lines[n - 1][place + 1 :]
    assert f"entry {n} (line {n}) was edited" in damaged(path, lines)


@pytest.mark.parametrize("n", range(1, 10))
def test_a_missing_entry(n, path, lines):
    said = damaged(path, lines[: n - 1] + lines[n:])
    assert f"entry {n} is missing" in said
    assert ("cut off after entry 8" in said) == (n == 9)


def test_several_missing_entries(path, lines):
    assert "entries 3 to 5 are missing" in damaged(path, lines[:2] + lines[5:])
    assert "entries 1 to 8 are missing" in damaged(path, lines[8:])
    assert "entries 7 to 9 are missing from its end: it was cut off after entry 6" in damaged(path, lines[:6])


@pytest.mark.parametrize("n", range(1, 9))
def test_two_neighbours_swapped(n, path, lines):
    lines[n - 1], lines[n] = lines[n], lines[n - 1]
    assert f"entry {n} is out of order: it stands on line {n + 1}, and line {n} holds entry {n + 1}" in damaged(
        path, lines
    )


def test_an_entry_moved_to_the_end(path, lines):
    lines.append(lines.pop(3))
    assert "entry 4 is out of order: it stands on line 9" in damaged(path, lines)


@pytest.mark.parametrize("n", range(1, 10))
def test_an_inserted_line(n, path, lines):
    for strange in (b"{}", b"", lines[0], lines[-1].replace(b"9", b"8")):
        said = damaged(path, [*lines[: n - 1], strange, *lines[n - 1 :]])
        assert (
            f"line {n} was inserted" in said
            or f"entry {n} is out of order" in said
            or f"line {n + 1} was inserted" in said
        )


def test_lines_after_the_last(path, lines):
    assert "line 10 was inserted" in damaged(path, [*lines, lines[8]])
    assert "entry 10 (line 10) was edited" in damaged(path, [*lines, b"{}"])


def test_a_head_that_was_rolled_back(path, lines):
    """One line beyond the head is an append that was never reported; two are not."""
    fill(path, 2)
    head = {"n": 9, "sha256": hashlib.sha256(lines[8]).hexdigest()}
    path.with_name("ledger.jsonl.head").write_text(json.dumps(head) + "\n")
    with pytest.raises(IntegrityError, match="entries 10 to 11 stand beyond the head, which says 9"):
        verify(path)


def test_a_line_break_that_was_edited(path, lines):
    for n in range(1, 10):
        data = b"".join(line + b"\n" for line in lines)
        place = len(b"\n".join(lines[:n]))
        path.write_bytes(data[:place] + b" " + data[place + 1 :])
        with pytest.raises(IntegrityError, match=rf"entry {n} \(line {n}\) was edited"):
            verify(path)


def test_an_entry_broken_in_two(path, lines):
    for n in range(1, 10):
        for place in (30, lines[n - 1].index(b'"body":{') + 8):
            changed = [*lines]
            changed[n - 1] = lines[n - 1][:place] + b"\n" + lines[n - 1][place + 1 :]
            assert f"entry {n} (line {n}) was edited" in damaged(path, changed)


def test_an_entry_broken_in_two_where_its_first_half_looks_whole(path):
    """A body that holds "}}" may be cut right behind it."""
    for number in range(3):
        append(path, "check", {"deep": {"deeper": {}}, "number": number}, quiet)
    lines = path.read_bytes().split(b"\n")[:-1]
    for n in (1, 2, 3):
        place = lines[n - 1].index(b"}},") + 2
        changed = [*lines]
        changed[n - 1] = lines[n - 1][:place] + b"\n" + lines[n - 1][place + 1 :]
        assert f"entry {n} (line {n}) was edited" in damaged(path, changed)


def test_an_append_stops_at_damage_it_meets(path, lines):
    path.write_bytes(path.read_bytes().replace(b'"number":9', b'"number":8'))
    with pytest.raises(IntegrityError, match="entry 9"):
        append(path, "check", {}, quiet)


@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.jsonl.head"])
def test_one_of_the_two_files_is_gone(name, path, lines):
    path.with_name(name).unlink()
    with pytest.raises(IntegrityError, match="missing"):
        verify(path)
    with pytest.raises(IntegrityError, match="missing"):
        append(path, "check", {}, quiet)


@pytest.mark.parametrize("text", ["", "{}", '{"n": 9}', '{"n": 9, "sha256": "00"}\n', "\x00" * 80, "[1]"])
def test_a_head_that_cannot_be_read(text, path, lines):
    path.with_name("ledger.jsonl.head").write_text(text)
    with pytest.raises(IntegrityError, match="head"):
        verify(path)


def test_an_empty_ledger_that_lost_all(path, lines):
    path.write_bytes(b"")
    with pytest.raises(IntegrityError, match="entries 1 to 9 are missing"):
        verify(path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(UserError, match="cannot be written"):
        append(folder / "ledger.jsonl", "check", {}, quiet)


def test_a_folder_in_the_place_of_the_ledger(tmp_path):
    with pytest.raises(UserError, match=r"cannot be (read|written)"):
        append(tmp_path, "check", {}, quiet)


# --- timestamp proofs ---------------------------------------------------------------------------------------------


def test_proofs_are_told_with_their_entry(path, lines):
    """The files that `ots stamp` makes start with this magic, version 1, the mark of sha256 and the digest."""
    magic = bytes.fromhex("004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294") + b"\x01\x08"
    head = f'{{"n": 4, "sha256": "{hashlib.sha256(lines[3]).hexdigest()}"}}\n'
    path.with_name("ledger.jsonl.head.2026.ots").write_bytes(
        magic + hashlib.sha256(head.encode()).digest() + b"\xf0\x10"
    )
    now = path.with_name("ledger.jsonl.head").read_bytes()
    path.with_name("ledger.jsonl.head.ots").write_bytes(magic + hashlib.sha256(now).digest())
    path.with_name("ledger.jsonl.other.ots").write_bytes(b"nothing of the kind")
    found = {proof.path.name: proof.n for proof in ledger.proofs(verify(path))}
    assert found == {"ledger.jsonl.head.2026.ots": 4, "ledger.jsonl.head.ots": 9, "ledger.jsonl.other.ots": None}


def test_no_proof_is_needed(path, lines):
    assert ledger.proofs(verify(path)) == []
