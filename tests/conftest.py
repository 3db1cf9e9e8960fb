"""Fixtures that every kind of test may use."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest

# The same examples on every run, and no deadline: a busy machine is no failure.
# Without hypothesis (the claims alone are collected without the test extra) there is nothing to set.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    settings.register_profile("repeatable", derandomize=True, deadline=None)
    settings.load_profile("repeatable")

# A shell starts what runs in its background with Ctrl-C ignored, and whatever that starts inherits it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and reference values beside the checkout; a test that needs it skips without it."""
    if not (SHARED / "README.md").exists():
        pytest.skip("needs the folder of shared data beside the checkout (../shared)")
    return SHARED
