"""What a terminal shows of a command, by a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence

COMMAND = [sys.executable, "-c", "from countback.audit.cli import main; main()"]
_OURS = ("NO_COLOR", "TERM", "COLUMNS", "LANG", "LC_ALL")


def on_a_terminal(
    words: Sequence[object], columns: int = 80, *, only_errors: bool = False, **environment: str
) -> tuple[int, str]:
    """Exit code and what a terminal of so many columns shows, of everything or of stderr alone."""
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in _OURS}
    env |= {"COLUMNS": str(columns), "TERM": "xterm", "OMP_NUM_THREADS": "1"} | environment
    out = subprocess.DEVNULL if only_errors else theirs
    process = subprocess.Popen([*COMMAND, *map(str, words)], stdout=out, stderr=theirs, env=env)
    os.close(theirs)
    told = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        told += piece
    os.close(ours)
    return process.wait(120), told.decode(environment.get("PYTHONIOENCODING", "utf-8"))
