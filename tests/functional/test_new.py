"""`countback new`: a folder that a check accepts at once, whatever the table; nothing is overwritten or half-made."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
import tomllib
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from countback.audit.new import make
from countback.claims.registry import load_paper
from countback.fetch.errors import UserError
from hypothesis import given, settings
from hypothesis import strategies as st

TABLE = "Model,n,Flips,Rate\nA,20,6,30.0%\nB,20,5,25.0%\nAll,40,11,27.5%\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "Table 3.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def verdicts(countback, folder, *options):
    done = countback("check", folder, *options, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["verdicts"]


def test_an_empty_folder_has_one_claim_and_it_holds(countback, tmp_path):
    done = countback("new", "smith-2026")
    assert (done.returncode, done.stderr) == (0, "")
    (only,) = verdicts(countback, "smith-2026")
    assert (only["id"], only["verdict"], only["reported"]) == ("smith-2026/example", "consistent", "17.0%")
    assert "not of this paper" in only["where"]["section"]
    assert {p.name for p in (tmp_path / "here" / "smith-2026").iterdir()} == {"paper.toml", "claims.toml"}


def test_each_cell_of_a_table_waits_to_be_compared(countback, tmp_path, table):
    done = countback("new", "smith", "--table", table, "--into", "papers/mine")
    assert "tables/table-03.csv: Table 3, read from Table 3.csv; cells to confirm: 9" in done.stdout
    assert f"next: countback check {Path('papers/mine/smith')}" in done.stdout
    folder = tmp_path / "here" / "papers" / "mine" / "smith"
    assert (folder / "tables" / "table-03.csv").read_text(encoding="utf-8") == (
        "Model,n,Flips,Rate\nA,?20,?6,?30.0%\nB,?20,?5,?25.0%\nAll,?40,?11,?27.5%\n"
    )
    found = Counter((v["verdict"], v["reason"].partition(":")[0]) for v in verdicts(countback, folder))
    assert found == {("consistent", ""): 1, ("unchecked", "unconfirmed transcription"): 9}


def test_a_table_whose_name_is_a_device_elsewhere_gets_another(countback, tmp_path):
    table = tmp_path / "AUX.csv"
    table.write_text(TABLE, encoding="utf-8")
    assert countback("new", "smith", "--table", table).returncode == 0
    assert [file.name for file in (tmp_path / "here" / "smith" / "tables").iterdir()] == ["table-aux.csv"]
    assert verdicts(countback, "smith")


COUNTS = "model,run,items,changed\nA,1,10,2\nA,2,10,4\nB,1,20,5\n"
EACH = "model,item,changed\n" + "".join(
    f"{model},{item},{int(item < flips)}\n" for model, flips in (("A", 6), ("B", 5)) for item in range(20)
)


@pytest.mark.parametrize(("lines", "of", "wrong"), [(COUNTS, ', n = "items"', "run"), (EACH, "", "item")])
def test_the_commented_blocks_work_once_filled_in(countback, tmp_path, table, lines, of, wrong):
    """What the comments propose, with the names of real columns in it: uncommented, confirmed, and recounted."""
    counts = tmp_path / "counts.csv"
    counts.write_text(lines, encoding="utf-8")
    countback("new", "smith", "--table", table, "--release", counts)
    folder = tmp_path / "here" / "smith"
    claims = folder / "claims.toml"
    text = claims.read_text(encoding="utf-8")
    head, _, blocks = text.partition("# [[relation]]")
    lines = f"# [[relation]]{blocks}".splitlines()
    blocks = "\n".join(line.removeprefix("# ") for line in lines if "# A number" not in line)
    blocks = blocks.replace('of       = ["n", "Flips"]', 'of       = ["Flips", "n"]')
    blocks = blocks.replace('hits = "COLUMN", n = "COLUMN"', f'hits = "changed"{of}')
    blocks = blocks.replace('columns = ["Rate"]', 'columns = ["Rate"]\nexcept = ["All"]')
    claims.write_text(head + blocks, encoding="utf-8")
    draft = Counter(v["verdict"] for v in verdicts(countback, folder, "--data", tmp_path))
    assert draft == {"consistent": 1, "unchecked": 9 + 3 + 2}
    csv_file = folder / "tables" / "table-03.csv"
    csv_file.write_text(csv_file.read_text(encoding="utf-8").replace("?", ""), encoding="utf-8")
    found = {v["id"].removeprefix("smith/"): v["verdict"] for v in verdicts(countback, folder, "--data", tmp_path)}
    assert {found[f"table-03-check[{row}]"] for row in ("A", "B", "All")} == {"consistent"}
    assert {found[f"table-03-recount[{row}, Rate]"] for row in "AB"} == {"reproduced"}  # 6 of 20, 5 of 20
    claims.write_text((head + blocks).replace('"changed"', f'"{wrong}"'), encoding="utf-8")  # 3 and 1 of 20; 190
    assert countback("check", folder, "--data", tmp_path).returncode == 1


def test_a_released_file_is_pinned_and_not_copied(countback, tmp_path, table):
    data = tmp_path / "odd name é.bin"
    data.write_bytes(bytes(range(256)))
    countback("new", "smith", "--table", table, "--release", data, "--release", table)
    release = tomllib.loads((tmp_path / "here" / "smith" / "releases.toml").read_text(encoding="utf-8"))["release"][0]
    assert [(f["name"], f["size"]) for f in release["file"]] == [(data.name, 256), (table.name, len(TABLE))]
    assert release["file"][0]["sha256"] == hashlib.sha256(bytes(range(256))).hexdigest()
    assert not list((tmp_path / "here" / "smith").rglob("*.bin"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Smith"], 'found the id "Smith"; expected lower-case letters'),
        (["../up"], "expected lower-case letters"),
        (["smith."], "expected lower-case letters"),
        (["cubes"], '"cubes" is a paper of the registry'),
        (["con"], '"con" cannot name a folder on Windows'),
        (["lpt1.2026"], "cannot name a folder on Windows"),
        (["smith", "--release", "a/nul.csv"], "reserved on some platforms"),
        (["smith", "--pages", "3"], "--pages says which pages of --pdf"),
        (["smith", "--table", "ragged.csv"], "found 2 cells in ['A', '1'], 3 in the header"),
        (["smith", "--table", "words.txt"], "found one column"),
        (["smith", "--table", "head.csv"], "found no row"),
        (["smith", "--table", "latin.csv"], "is not UTF-8"),
        (["smith", "--pdf", "ragged.csv"], "does not start like a PDF"),
        (["smith", "--pdf", "ragged.csv", "--table", "ragged.csv"], "found both --table and --pdf"),
        (["smith", "--pdf", "ragged.csv", "--pages", "9-7"], 'found --pages "9-7"'),
        (["smith", "--release", "a/x.csv", "--release", "b/X.csv"], "two released files of one name"),
        (["smith", "--into", "words.txt"], "cannot be made"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(countback, tmp_path, arguments, says):
    here = tmp_path / "here"
    for name, text in {"ragged.csv": "M,n,k\nA,1\n", "words.txt": "one\ntwo\n", "head.csv": "M,n\n"}.items():
        here.mkdir(exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    (here / "latin.csv").write_bytes("M,n\nRenée,1\n".encode("latin-1"))
    for folder, name in (("a", "x.csv"), ("b", "X.csv")):
        (here / folder).mkdir()
        (here / folder / name).touch()
    (here / "a" / "nul.csv").touch()
    before = sorted(here.rglob("*"))
    done = countback("new", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_what_exists_is_never_touched(countback, tmp_path, table):
    mine = tmp_path / "here" / "smith"
    mine.mkdir(parents=True)
    (mine / "paper.toml").write_text("mine", encoding="utf-8")
    done = countback("new", "smith", "--table", table)
    assert done.returncode == 2
    assert "smith exists; nothing was written" in done.stderr
    assert [(p.name, p.read_text(encoding="utf-8")) for p in mine.iterdir()] == [("paper.toml", "mine")]
    (tmp_path / "here" / "file").touch()
    assert "nothing was written" in countback("new", "file").stderr


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs permissions that hold")
def test_a_folder_without_write_permission(countback, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "cannot be made (Permission denied)" in countback("new", "smith", "--into", closed).stderr


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    write = Path.write_text

    def full(path: Path, *args: object, **more: object) -> int:
        if path.name == "claims.toml":
            raise OSError(28, "No space left on device")
        return write(path, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UserError, match="No space left on device"):
        make("smith", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_tables_of_a_pdf(countback, shared, tmp_path):
    pytest.importorskip("pdfplumber")
    paper = shared / "data" / "llm_judge_stress_test" / "paper.pdf"
    done = countback("new", "stress", "--pdf", paper, "--pages", "4,7-8")
    assert done.returncode == 0, done.stderr
    assert "Table 1, page 4: left out, no cell is a number" in done.stdout
    folder = tmp_path / "here" / "stress"
    assert [p.name for p in sorted((folder / "tables").iterdir())] == [f"table-0{n}.csv" for n in (4, 5, 6)]
    with (folder / "tables" / "table-06.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[4] == ["Llama 3.1 8B", "?30", "?0", "?0.0%", "?[0.0, 11.4]", "?16.7%"]
    found = Counter(v["verdict"] for v in verdicts(countback, folder))
    assert found == {"consistent": 1, "unchecked": 5 * (4 + 5 + 5)}
    done = countback("new", "words", "--pdf", paper, "--pages", "1")
    assert "found no table with numbers on page 1" in done.stderr


ODD = ["1", "12.5%", "nan", "?", "??", "-", "A / B", "[1, 2]", '"', "|", "\x7f", "#", "\u2028"]
CELLS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(ODD)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=5)
    )
)
def test_any_table_makes_a_folder_that_loads(tmp_path_factory, rows):
    """Or is refused; what the folder holds is the table, cell by cell."""
    folder = tmp_path_factory.mktemp("any")
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    made = None
    with suppress(UserError):
        made = make("any", folder, table=folder / "t.csv", released=(folder / "t.csv",))
    if made is None:
        assert not (folder / "any").exists()
        return
    paper = load_paper(made.folder)
    (table,) = paper.tables.values()
    plain = [[" ".join(cell.split()) for cell in row] for row in rows if any(cell.strip() for cell in row)]
    plain = [["" if cell.lower() == "nan" else cell for cell in row] for row in plain]
    width = len(rows[0])
    assert [list(row.values())[-width:] for row in table.rows.values()] == plain[1:]
    waiting = {address.split("|")[0] for address in table.drafts}
    assert waiting <= {"t"}
    assert len(paper.claims) >= 1
