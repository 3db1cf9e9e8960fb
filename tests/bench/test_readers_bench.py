"""Speed of reading, as a ratio against pandas on the same file in the same run."""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from countback.fetch.readers import read_labels


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7) -> None:
    """Prints the median time of each and their ratio; turns are taken, so that both meet the same machine."""
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    spread = sorted(x / y for x, y in pairs)
    print(f"\n{name}: {a:.3f} s, pandas.read_csv(dtype=str) {b:.3f} s, ratio {a / b:.2f} "
          f"(rounds {spread[0]:.2f} to {spread[-1]:.2f})")  # fmt: skip


@pytest.mark.bench
def test_623376_labels_into_a_validated_table(shared: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = shared / "data" / "rtp_lx" / "labels_full.csv.gz"
    table, _ = read_labels(path, codebook=list("12345"))
    assert len(table) == 623_376
    ratio("gzip CSV", lambda: read_labels(path, codebook=list("12345")), lambda: pandas.read_csv(path, dtype=str))


@pytest.mark.bench
def test_the_same_labels_unpacked_and_quoted(shared: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text = gzip.decompress((shared / "data" / "rtp_lx" / "labels_full.csv.gz").read_bytes())
    plain, quoted = tmp_path / "plain.csv", tmp_path / "quoted.csv"
    plain.write_bytes(text)
    quoted.write_bytes(b'"' + text.strip().replace(b",", b'","').replace(b"\n", b'"\n"') + b'"\n')
    for name, path in (("plain CSV", plain), ("CSV with every cell quoted", quoted)):
        assert len(read_labels(path, codebook=list("12345"))[0]) == 623_376
        ratio(
            name,
            lambda path=path: read_labels(path, codebook=list("12345")),  # type: ignore[misc]
            lambda path=path: pandas.read_csv(path, dtype=str),  # type: ignore[misc]
            rounds=3,
        )
