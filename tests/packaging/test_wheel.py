"""The wheel holds what the tree holds, and works in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["fetch", "models", "claims", "audit"]
SHIPPED = {".py", ".toml", ".csv", ".json", ".html", ".css", ".js", ".j2"}


def tree() -> set[str]:
    return {
        f"countback/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in SHIPPED and path.is_file()
    }


def test_every_package_is_listed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {
        "countback." + ".".join(path.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for path in (ROOT / room).rglob("__init__.py")
    }
    assert set(listed) == found
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_the_wheel_holds_the_tree_and_checks_in_an_empty_folder(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
    )
    wheel = next(tmp_path.glob("*.whl"))
    held = {name for name in zipfile.ZipFile(wheel).namelist() if not name.split("/")[0].endswith(".dist-info")}
    assert held == tree()
    home = tmp_path / "venv"
    venv.create(home, with_pip=True, system_site_packages=False)
    python = home / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel], check=True, cwd=tmp_path
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    env = {**os.environ, "COUNTBACK_DATA": str(tmp_path / "cache")}
    done = subprocess.run(
        [home / "bin" / "countback", "check", "--offline"],
        cwd=empty,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "culture-converse" in done.stdout
    assert list(empty.iterdir()) == []
