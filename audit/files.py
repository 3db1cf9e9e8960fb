"""Results as files: each whole or not at all, and JSON as every command writes it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from countback.fetch.errors import UserError


def put(path: Path, text: str) -> None:
    """Write a whole file or none of it; what cannot be written to is a UserError. Devices and pipes are written to."""
    target = Path(os.path.realpath(path))  # a link stays one
    part = target.parent / f"{target.name}.{os.getpid()}.part"
    try:
        special = target.exists() and not target.is_file()
        (target if special else part).write_text(text, encoding="utf-8", newline="")
        if not special:
            part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{path}: cannot be written ({error.strerror}); choose another file or folder") from None


def write_json(path: Path, content: dict[str, Any]) -> None:
    put(path, as_text(content) + "\n")


def as_text(content: dict[str, Any]) -> str:
    """JSON in ASCII; a NumPy scalar of a recipe's is written as the number it is, whatever else as its text."""
    return json.dumps(content, indent=1, allow_nan=False, default=lambda x: x.item() if hasattr(x, "item") else str(x))
