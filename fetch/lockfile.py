"""countback.lock: the files that were accepted without a full pin, for a person to review.

A TOML file in the cache: name, size, full sha256, the day it was found, the source (without tokens), and the words
"to be reviewed" until somebody puts others there. An entry is a promise from then on: other bytes under that name
are "changed upstream".
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from countback.fetch import toml
from countback.fetch.errors import UserError
from countback.fetch.release import LOCK_NAME

_HEADER = """\
# Files that countback accepted although no full sha256 of them is published. Compare each with another source (the
# authors, a second download from elsewhere), then change its review line to say who did and how.
"""


@dataclass(frozen=True)
class Locked:
    """One file as it was first found; `size` in bytes, `found` an ISO date."""

    name: str
    size: int
    sha256: str
    found: str
    source: str
    review: str = "to be reviewed"


def read_lock(cache: Path) -> dict[str, Locked]:
    """{name: Locked}; empty where there is no lock file. Raises UserError where it cannot be read."""
    path = cache / LOCK_NAME
    try:
        table = toml.loads(path.read_text("utf-8"))
        entries = [Locked(**entry) for entry in table.get("file", [])]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{path}: expected [[file]] tables with name, size, sha256, found, source and review, found: {error}; "
            "correct it, or move it away to have the files fetched and locked anew."
        ) from error
    return {entry.name: entry for entry in entries}


def add_lock(cache: Path, entry: Locked, work: Path) -> None:
    """Append an entry to the lock file, under a lock of its own and by atomic replacement. Raises OSError.

    What stands in the file is kept to the letter: a reviewer may have written comments there.
    """
    from filelock import FileLock

    with FileLock(work / f"{LOCK_NAME}.lock"):
        if entry.name in read_lock(cache):
            return
        path, draft = cache / LOCK_NAME, work / f"{LOCK_NAME}.new"
        text = path.read_text("utf-8") if path.exists() else _HEADER
        fields = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in asdict(entry).items())
        draft.write_text(f"{text.rstrip()}\n\n[[file]]\n{fields}", "utf-8")
        os.replace(draft, path)
