"""A thousand random edits, swaps, deletions and truncations of a ledger: all found, and the entry named."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from countback.audit.ledger import append, verify
from countback.fetch.errors import IntegrityError

ENTRIES = 25
KINDS = ("check", "resolution", "amendment", "observation", "registration")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "ledger.jsonl"
    rng = random.Random(7)
    for number in range(ENTRIES):
        deep = {"number": number, "text": 'äöü }} {{ " ' * rng.randrange(4), "list": [[{"a": {}}]] * rng.randrange(3)}
        append(path, KINDS[number % 5], deep)
    assert len(verify(path).lines) == ENTRIES
    return path


def damage(data: bytes, rng: random.Random) -> tuple[str, bytes, set[int]]:
    """One change, and the entries that may rightly be named for it."""
    lines = data.split(b"\n")[:-1]
    kind = rng.choice(["edit", "drop byte", "swap", "delete", "truncate"])
    if kind in ("edit", "drop byte"):
        place = rng.randrange(len(data))
        n = data[:place].count(b"\n") + 1
        byte = b"" if kind == "drop byte" else bytes([rng.choice([b for b in range(256) if b != data[place]])])
        return kind, data[:place] + byte + data[place + 1 :], {n}
    if kind == "truncate":
        place = rng.randrange(len(data))
        return kind, data[:place], {data[:place].count(b"\n") + 1}
    if kind == "delete":
        n = rng.randrange(1, ENTRIES + 1)
        return kind, b"".join(line + b"\n" for line in lines[: n - 1] + lines[n:]), {n}
    one, two = sorted(rng.sample(range(ENTRIES), 2))
    lines[one], lines[two] = lines[two], lines[one]
    return kind, b"".join(line + b"\n" for line in lines), {one + 1, two + 1}


def named(message: str) -> set[int]:
    """The numbers of the entries that a message names, ends of a range included."""
    found = re.search(r"entr(?:y|ies) (\d+)(?: to (\d+))?", message)
    assert found is not None, message
    return {int(found[1]), *range(int(found[1]), int(found[2] or found[1]) + 1)}


def test_a_thousand_random_changes_are_found_and_named(whole, tmp_path):
    data = whole.read_bytes()
    path = tmp_path / "ledger.jsonl"
    path.with_name("ledger.jsonl.head").write_bytes(whole.with_name("ledger.jsonl.head").read_bytes())
    rng = random.Random(20261129)
    seen = dict.fromkeys(["edit", "drop byte", "swap", "delete", "truncate"], 0)
    for _ in range(1000):
        kind, changed, entries = damage(data, rng)
        path.write_bytes(changed)
        with pytest.raises(IntegrityError) as error:
            verify(path)
        assert named(str(error.value)) & entries, (kind, entries, str(error.value))
        seen[kind] += 1
    assert min(seen.values()) > 150
    path.write_bytes(data)
    assert len(verify(path).lines) == ENTRIES


def test_every_byte_of_the_head_matters(whole, tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(whole.read_bytes())
    head = whole.with_name("ledger.jsonl.head").read_bytes()
    for place in range(len(head)):
        for byte in (b"0", b"1", b" ", b"\n", b""):
            if byte != head[place : place + 1]:
                path.with_name("ledger.jsonl.head").write_bytes(head[:place] + byte + head[place + 1 :])
                with pytest.raises(IntegrityError):
                    verify(path)
