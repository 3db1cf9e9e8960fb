"""What a user meets when a PDF cannot be read, and that reading costs nothing until it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from countback.fetch.errors import UserError
from countback.fetch.pdf import read_tables
from handmade_pdf import Sheet, ruled_table, write_pdf

ROWS = [["Model", "acc", "n"], ["alpha", "0.61", "10"], ["beta", "0.71", "20"]]


def page(path: Path) -> Path:
    sheet = Sheet()
    sheet.text(72, 80, "Table 1: Small")
    ruled_table(sheet, 72, 90, ROWS, [150, 220])
    return write_pdf(path, [sheet])


def run(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120, check=False)


def test_importing_the_reader_does_not_import_pdfplumber() -> None:
    done = run(
        "import sys, countback.fetch.pdf, countback.fetch.pdf.agree, countback.fetch.pdf.gaps\n"
        "print([m for m in ('pdfplumber', 'pdfminer', 'scipy') if m in sys.modules])"
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_missing_extra_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    done = run(
        "import sys\n"
        "sys.modules['pdfplumber'] = None\n"  # what an import of an absent package raises on
        "from countback.fetch.errors import UserError\n"
        "from countback.fetch.pdf import read_tables\n"
        "try:\n    read_tables(sys.argv[1])\n"
        "except UserError as error:\n    print(error)",
        str(page(tmp_path / "page.pdf")),
    )
    assert done.returncode == 0, done.stderr
    assert "`pdf` extra" in done.stdout
    assert "pip install 'countback[pdf]'" in done.stdout


def test_a_missing_file_a_web_page_and_a_torn_file_each_say_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no file"):
        read_tables(tmp_path / "absent.pdf")
    html = tmp_path / "login.pdf"
    html.write_text("<!doctype html><title>Sign in</title>", encoding="utf-8")
    with pytest.raises(UserError, match="does not start like a PDF"):
        read_tables(html)
    whole = page(tmp_path / "whole.pdf").read_bytes()
    torn = tmp_path / "torn.pdf"
    torn.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(UserError, match="cannot be read as a PDF"):
        read_tables(torn)


def test_a_page_that_does_not_exist_and_a_scan_are_named(tmp_path: Path) -> None:
    path = page(tmp_path / "page.pdf")
    with pytest.raises(UserError, match="pages 1 to 1; page 2 was asked for"):
        read_tables(path, pages=[1, 2])
    with pytest.raises(UserError, match="pages 1 to 1; page 0 was asked for"):
        read_tables(path, pages=[0])
    scan = Sheet()
    scan.shade(72, 72, 500, 700, "0.9 g")
    with pytest.raises(UserError, match="may be a scan"):
        read_tables(write_pdf(tmp_path / "scan.pdf", [scan]))


def test_pages_may_come_in_any_order_and_twice(tmp_path: Path) -> None:
    first, second = Sheet(), Sheet()
    for sheet, label in ((first, "Table 1: One"), (second, "Table 2: Two")):
        sheet.text(72, 80, label)
        ruled_table(sheet, 72, 90, ROWS, [150, 220])
    path = write_pdf(tmp_path / "two.pdf", [first, second])
    assert [t.label for t in read_tables(path, pages=[2, 1, 2])] == ["Table 1", "Table 2"]
    assert [t.label for t in read_tables(path, pages=[2])] == ["Table 2"]
    assert read_tables(path) == read_tables(path)


def test_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    path = page(tmp_path / "page.pdf")
    before = path.read_bytes()
    read_tables(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["page.pdf"]
