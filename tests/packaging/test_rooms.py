"""The house stands as drawn: rooms in a row, no bare imports, heavy libraries imported where they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["fetch", "models", "claims", "audit"]
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
HEAVY = {
    "pymc",
    "pytensor",
    "arviz",
    "nutpie",
    "matplotlib",
    "pdfplumber",
    "openpyxl",
    "pandas",
    "statsmodels",
    "jinja2",
    "joblib",
    "numba",
}


def imports(path: Path, *, top_level: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else ast.walk(tree)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write countback.*"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_room_imports_only_the_rooms_before_it(path):
    room = path.relative_to(ROOT).parts[0]
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for name in imports(path):
        head, _, rest = name.partition(".")
        assert head not in ROOMS, f"import countback.{name}"
        if head == "countback":
            assert rest.partition(".")[0] in allowed, f"{room} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_heavy_libraries_are_imported_where_used(path):
    heads = {name.partition(".")[0] for name in imports(path, top_level=True)}
    assert not heads & HEAVY
    assert "scipy.stats" not in imports(path, top_level=True)


def test_a_check_without_recounts_starts_without_the_number_crunching():
    code = (
        "import sys; from countback.audit.cli import cli; cli(['check', 'culture-converse', '--offline', '--quiet'], "
        "standalone_mode=False); print([m for m in ('numpy', 'scipy', 'requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_stay_small():
    # the recipes of a paper are one flat list of functions, so they may be longer
    files = [path for path in FILES if path.name != "recipes.py"]
    long = {path.relative_to(ROOT).as_posix(): n for path in files if (n := len(path.read_text().splitlines())) > 450}
    assert not long
