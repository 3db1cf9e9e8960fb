"""Hashing and downloading beside what the system offers, in the same run; the ratio is printed, never asserted."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from countback.fetch.archive import open_archive
from countback.fetch.checksums import sha256_file
from countback.fetch.obtain import obtain
from countback.fetch.release import Pin

from tests.functional.fakehost import FakeHost, ok

pytestmark = pytest.mark.bench
SIZE = 256 << 20


def _best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


@pytest.fixture(scope="module")
def blob(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blob") / "blob.bin"
    path.write_bytes(os.urandom(1 << 20) * (SIZE >> 20))
    return path


def test_sha256_beside_sha256sum(blob: Path) -> None:
    ours = _best(lambda: sha256_file(blob))
    theirs = _best(lambda: subprocess.run(["sha256sum", blob], check=True, capture_output=True))
    print(f"\nsha256 of {SIZE >> 20} MiB: {ours:.2f} s, sha256sum {theirs:.2f} s, ratio {ours / theirs:.2f}")
    assert sha256_file(blob) == subprocess.run(["sha256sum", blob], capture_output=True, text=True).stdout[:64]


def test_download_beside_curl(blob: Path, tmp_path: Path) -> None:
    """Ours also hashes, syncs to the disk and renames; curl writes the file and no more."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl as the peer")
    pin = Pin("blob.bin", sha256_file(blob), size=SIZE)
    with FakeHost() as host:
        pin = Pin(pin.name, pin.sha256, size=SIZE, url=host.on("/blob", ok(blob.read_bytes())))

        def fetch() -> None:
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
            assert obtain(pin, tmp_path / "cache").kind == "ok"

        ours = _best(fetch)
        hashing = _best(lambda: sha256_file(blob))
        theirs = _best(lambda: subprocess.run(["curl", "-sSf", "-o", tmp_path / "curl", pin.url], check=True))
    print(
        f"\ndownload of {SIZE >> 20} MiB: {ours:.2f} s, of which hashing {hashing:.2f} s; curl {theirs:.2f} s, "
        f"ratio {ours / theirs:.2f}, with sha256 after curl {ours / (theirs + hashing):.2f}"
    )


def test_archive_beside_zipfile(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    line = b'{"annotator": 17, "choice": "A", "lead_time_seconds": %d}\n'
    text = b"".join(line % number for number in range(1_000_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.json", text)

    def read() -> bytes:
        with open_archive(path) as archive:
            return archive.read("labels.json")

    def peer() -> bytes:
        with zipfile.ZipFile(path) as archive:
            return archive.read("labels.json")

    assert read() == peer()
    ours, theirs = _best(read), _best(peer)
    size = len(text) >> 20
    print(f"\nreading {size} MiB from a zip: {ours:.2f} s, zipfile {theirs:.2f} s, ratio {ours / theirs:.2f}")
