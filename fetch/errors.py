"""The errors a user can cause, shared by every room.

A message says what was found, what was expected and the next step, one sentence each. The command line prints the
message alone and exits with `exit_code` (design: 2 wrong usage or configuration, 3 incomplete, 4 integrity).
"""

from __future__ import annotations


class UserError(Exception):
    """A mistake the user can mend: bad input, bad configuration, a missing extra."""

    exit_code = 2

    def __init__(self, message: str, *, exit_code: int | None = None) -> None:
        super().__init__(message)
        if exit_code is not None:
            self.exit_code = exit_code


class IntegrityError(UserError):
    """Bytes are not the bytes that were pinned, or a chain of hashes is broken."""

    exit_code = 4
