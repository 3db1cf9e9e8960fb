"""`countback check` in every kind of terminal, pipe, environment and combination of options."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest
from countback.audit.cli import main

from tests.functional.fakehost import FakeHost, ok
from tests.functional.terminal import COMMAND, on_a_terminal

RELEASES = """[[release]]
id = "rel"
title = "made up"
version = "1"
licence = ""
retrieved = ""
landing = "https://example.org"
[[release.file]]
name = "x.json"
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
size = 3
"""


@pytest.fixture
def recounted(paper: Path, tmp_path: Path) -> Path:
    """The small paper with one number that a recipe recounts from a file of three bytes."""
    claims = paper / "claims.toml"
    claims.write_text(claims.read_text().replace('reported = "2"', 'reported = "2"\nrecipe = "tally"\nneeds = ["rel"]'))
    (paper / "releases.toml").write_text(RELEASES)
    (paper / "recipes.py").write_text(
        "from countback.claims.verdict import Recount\n\n\n"
        "def tally(data):\n    data.path('x.json')\n    print('noise')\n    return Recount(2)\n"
    )
    for name, text in (("right", "abc"), ("wrong", "abd"), ("empty", "")):
        (tmp_path / name).mkdir()
        if text:
            (tmp_path / name / "x.json").write_text(text)
    return paper


OPTIONS = {
    "json": ("", "-", "file"),
    "quiet": (False, True),
    "strict": (False, True),
    "kind": ("", "arithmetic", "recount", "asserted"),
    "data": ("", "right", "wrong", "empty"),
    "unverified": (False, True),
}


def test_every_combination_of_options(recounted, tmp_path, capsys, monkeypatch):
    """The exit code follows from what was asked; stdout is JSON alone, text alone or nothing."""
    monkeypatch.setenv("COUNTBACK_DATA", str(tmp_path / "cache"))
    for chosen in product(*OPTIONS.values()):
        option = dict(zip(OPTIONS, chosen, strict=True))
        target = tmp_path / "out.json"
        target.unlink(missing_ok=True)
        arguments = ["check", str(recounted), "--offline"]
        arguments += ["--json", str(target) if option["json"] == "file" else "-"] if option["json"] else []
        arguments += ["--quiet"] * option["quiet"] + ["--strict"] * option["strict"]
        arguments += ["--unverified"] * option["unverified"]
        arguments += ["--kind", option["kind"]] if option["kind"] else []
        arguments += ["--data", str(tmp_path / option["data"])] if option["data"] else []
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capsys.readouterr()
        if option["unverified"] and not option["data"]:
            expected = 2
        elif option["data"] == "wrong" and not option["unverified"]:
            expected = 4
        else:
            shown = option["kind"] in ("", "recount") and option["data"] != "right"
            expected = 3 if option["strict"] and shown else 0
        assert end.value.code == expected, (arguments, err)
        if expected in (2, 4):
            assert out == ""
            assert not target.exists()
            continue
        kept = {"": 7, "arithmetic": 6, "recount": 1, "asserted": 0}[option["kind"]]
        if option["json"]:
            told = json.loads(out if option["json"] == "-" else target.read_text())
            assert len(told["verdicts"]) == kept
            states = {"right": "reproduced", "wrong": "unchecked", "empty": "unchecked", "": "unchecked"}
            found = [v["verdict"] for v in told["verdicts"] if v["id"] == "demo/models"]
            assert found == [states[option["data"]]] * (kept in (1, 7))
        if option["quiet"] and option["json"] != "-":
            assert out == ""
        elif option["json"] != "-":
            assert f"COUNTS ({kept} claims)" in out
        assert "noise" not in out


def test_kinds_add_up(recounted, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COUNTBACK_DATA", str(tmp_path / "cache"))
    with pytest.raises(SystemExit):
        main(["check", str(recounted), "--offline", "--kind", "recount", "--kind", "arithmetic", "--json", "-"])
    assert len(json.loads(capsys.readouterr().out)["verdicts"]) == 7


class TestWhereJsonGoes:
    def test_a_device_stays_a_device(self, countback, paper):
        before = os.stat(os.devnull)
        assert countback("check", paper, "--offline", "--json", os.devnull).returncode == 0
        assert stat.S_ISCHR(before.st_mode)
        assert os.stat(os.devnull).st_ino == before.st_ino

    def test_a_pipe_is_written_to(self, paper, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        done = subprocess.Popen([*COMMAND, "check", paper, "--offline", "--quiet", "--json", pipe])
        told = json.loads(pipe.read_text())
        assert done.wait(60) == 0
        assert len(told["verdicts"]) == 6
        assert stat.S_ISFIFO(pipe.stat().st_mode)

    def test_a_link_stays_a_link(self, countback, paper, tmp_path):
        (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
        assert countback("check", paper, "--offline", "--json", tmp_path / "link.json").returncode == 0
        assert (tmp_path / "link.json").is_symlink()
        assert json.loads((tmp_path / "real.json").read_text())["summary"]["consistent"] == 6

    def test_others_may_read_it_as_they_may_any_file(self, countback, paper, tmp_path):
        (tmp_path / "plain").touch()
        countback("check", paper, "--offline", "--json", tmp_path / "out.json")
        assert (tmp_path / "out.json").stat().st_mode == (tmp_path / "plain").stat().st_mode

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk(self, countback, paper):
        done = countback("check", paper, "--offline", "--json", "/dev/full")
        assert done.returncode == 2
        assert done.stderr == (
            "countback: /dev/full: cannot be written (No space left on device); choose another file or folder\n"
        )

    @pytest.mark.parametrize("name", [".", "nowhere/out.json"])
    def test_no_place_to_write_leaves_nothing(self, countback, paper, tmp_path, name):
        done = countback("check", paper, "--offline", "--json", tmp_path / name)
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert not list(tmp_path.rglob("*.part"))


class TestTerminals:
    def seen(self, paper: Path, columns: int = 80, **environment: str) -> str:
        ended, shown = on_a_terminal(["check", paper, "--offline"], columns, **environment)
        assert ended in (0, 1)
        return shown

    def test_colour_is_for_terminals_that_want_it(self, paper):
        assert "\x1b[1m" in self.seen(paper)
        assert "\x1b" not in self.seen(paper, NO_COLOR="1")
        assert "\x1b" not in self.seen(paper, TERM="dumb")
        assert "\x1b[1m" in self.seen(paper, NO_COLOR="")  # empty means unset

    def test_quiet_draws_no_bar_of_what_it_downloads(self, recounted, tmp_path):
        with FakeHost() as host:
            pinned = re.sub("[0-9a-f]{64}", sha256(b"{ }").hexdigest(), RELEASES)
            address = host.on("/x.json", ok(b"{ }"))
            (recounted / "releases.toml").write_text(f'{pinned}url = "{address}"\n')
            drawn = {}
            for quiet in ((), ("--quiet",)):
                cache = tmp_path / f"cache{len(quiet)}"
                _, drawn[quiet] = on_a_terminal(["check", recounted, *quiet], COUNTBACK_DATA=str(cache))
                assert [file.read_bytes() for file in cache.rglob("x.json")] == [b"{ }"]
        assert "x.json" in drawn[()]
        assert drawn[("--quiet",)] == "noise\r\n"  # what the recipe prints

    @pytest.mark.parametrize("columns", [20, 40, 110, 300])
    def test_lines_fit(self, paper, columns):
        table = paper / "tables" / "t1.csv"
        table.write_text(table.read_text().replace("4.20", "4.30"))
        for line in self.seen(paper, columns, NO_COLOR="1").splitlines():
            assert (
                len(line) <= columns
                or " " not in line.strip()
                or line.startswith(("  demo/", "UNEXPECTED", "FINDINGS"))
            )

    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
    def test_characters_that_the_terminal_lacks(self, countback, paper, encoding):
        for name in ("claims.toml", "tables/t1.csv"):
            text = (paper / name).read_text(encoding="utf-8").replace("All", "All \u0394\u2212")
            (paper / name).write_text(text.replace("4.20", "4.30"), encoding="utf-8")
        done = countback("check", paper, "--offline", PYTHONIOENCODING=f"{encoding}", PYTHONUTF8="0")
        assert done.returncode == 1, done.stderr
        assert "inconsistent" in done.stdout
        assert done.stderr == ""

    def test_without_a_locale(self, countback, paper):
        done = countback("check", paper, "--offline", LANG="C", LC_ALL="C")
        assert done.returncode == 0, done.stderr


class TestEnvironments:
    def test_the_reader_goes_away(self, countback, paper):
        """`countback check | true`: 141 as of any program that wrote to a closed pipe, and not 1, a finding."""
        for more in ([], ["--json", "-"]):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(
                [*COMMAND, "check", paper, "--offline", *more], stdout=writer, stderr=subprocess.PIPE, check=False
            )
            os.close(writer)
            assert done.returncode == 141
            assert done.stderr == b""

    @pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
    def test_closed_streams(self, paper, closed):
        code = "from countback.audit.cli import main; main()"
        shell = f"'{sys.executable}' -c '{code}' check '{paper}' --offline {closed}"
        assert subprocess.run(["sh", "-c", shell], capture_output=True, check=False).returncode == 0

    def test_without_a_home(self, paper):
        env = {"PATH": os.environ["PATH"]}
        done = subprocess.run(
            [*COMMAND, "check", paper, "--offline"], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    @pytest.mark.parametrize("cache", ["a file", "below a file", "read-only"])
    def test_a_cache_that_is_none(self, countback, recounted, tmp_path, cache):
        (tmp_path / "file").write_text("x")
        (tmp_path / "locked").mkdir(mode=0o500)
        place = {"a file": "file", "below a file": "file/cache", "read-only": "locked/cache"}[cache]
        done = countback("check", recounted, "--offline", "--json", "-", COUNTBACK_DATA=str(tmp_path / place))
        assert done.returncode == 0, done.stderr
        found = next(v for v in json.loads(done.stdout)["verdicts"] if v["id"] == "demo/models")
        assert found["reason"].startswith("archive absent")

    def test_interrupted(self, recounted, tmp_path):
        (recounted / "recipes.py").write_text(
            "import pathlib\nimport time\n\n\ndef tally(data):\n"
            f"    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n    time.sleep(60)\n"
        )
        arguments = ["check", recounted, "--data", tmp_path / "right", "--json", tmp_path / "out.json"]
        process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if (tmp_path / "begun").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert (out, err.strip()) == ("", "countback: stopped")
        assert not list(tmp_path.glob("out.json*"))


class TestCoverage:
    def test_a_pipe_is_read(self, countback, paper, tmp_path):
        (tmp_path / "text.txt").write_text("1 Introduction\nWe compare 2 models.\n")
        code = "from countback.audit.cli import main; main()"
        shell = f"cat text.txt | '{sys.executable}' -c '{code}' coverage '{paper}' /dev/stdin"
        done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "2 numbers" in done.stdout, done.stderr

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.pdf", b"no pdf", "cannot be read as a PDF"),
            ("a.txt", b"\xff\xfe", "byte 0 is not UTF-8"),
            ("b.txt", b"", "no number in it"),
        ],
    )
    def test_what_is_no_document(self, countback, paper, tmp_path, name, content, words):
        (tmp_path / name).write_bytes(content)
        done = countback("coverage", paper, tmp_path / name)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
