"""TOML that a person wrote, with one kind of error for all that can be wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any

DEEPEST = 50  # tables and lists in one another; the registry needs 9


def loads(text: str) -> dict[str, Any]:
    """The table. Raises ValueError for what is no TOML, for whole numbers of thousands of digits, and for tables or
    lists nested beyond reason: by a bound of ours, since libraries move the interpreter's."""
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ValueError("tables or lists nested beyond reason") from None
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        level = [v for x in level if isinstance(x, dict | list) for v in (x.values() if isinstance(x, dict) else x)]
    if any(isinstance(x, dict | list) for x in level):
        raise ValueError("tables or lists nested beyond reason")
    return found
