"""Damaged archives: whatever happens to the bytes of a good one, reading ends in the data or in an error for users."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from countback.fetch.archive import open_archive
from countback.fetch.errors import UserError
from hypothesis import given, settings
from hypothesis import strategies as st

MEMBERS = {"a/labels.json": b'{"NG": [1, 2, 3]}' * 9, "scores.csv": b"behavior,culture\n" * 20, "a/\u00e9.txt": b""}


def _archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in MEMBERS.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


GOOD = _archive()
DAMAGE = st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=4)


@settings(max_examples=1500, deadline=None)
@given(DAMAGE, st.integers(0, len(GOOD)))
def test_a_damaged_archive_never_gives_other_data(
    tmp_path_factory: object, damage: list[tuple[int, int]], keep: int
) -> None:
    data = bytearray(GOOD)
    for at, value in damage:
        data[at] = value
    path = Path(tmp_path_factory.getbasetemp()) / "damaged.zip"  # type: ignore[attr-defined]
    path.write_bytes(data if keep % 4 else data[:keep])
    try:
        with open_archive(path) as archive:
            read = {name: archive.read(name) for name in archive.names}
    except UserError:
        return
    for name, content in read.items():  # a damaged name is still a harmless one; content is proved by its CRC
        assert content == MEMBERS.get(name, content)
