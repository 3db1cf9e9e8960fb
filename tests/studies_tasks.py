"""Tasks of the tests of `models.studies`: in a module, so that worker processes can import them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np


def draw(seed: int, scale: float = 1.0, log: str = "") -> dict[str, Any]:
    """Three numbers of a seed; notes the seed in a file where one is given."""
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{seed}\n")
    rng = np.random.default_rng(seed)
    return {"mean": rng.normal(0, scale, 100).mean(), "three": rng.random(3)}


def slow(seed: int) -> dict[str, Any]:
    time.sleep(0.1)
    return draw(seed)


def failing(seed: int) -> dict[str, Any]:
    if seed == 7:
        raise ArithmeticError("seed 7")
    return {"seed": seed}


def wrong(seed: int) -> dict[str, Any]:
    return {"seed": {seed}}
