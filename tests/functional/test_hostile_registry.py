"""Paper folders that are wrong in every way: one sentence with file and place, the right exit code, nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from countback.audit.cli import main
from countback.claims import spec as shapes

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("COUNTBACK_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("COUNTBACK_DEBUG", raising=False)

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, told.out, told.err

    return call


def refused(result: tuple[int, str, str], *sentence: str, code: int = 2) -> None:
    """The run stopped with one sentence that holds these words, and printed nothing else."""
    found, out, err = result
    assert (found, out) == (code, ""), err
    assert len(err.splitlines()) == 1, err
    assert "internal error" not in err
    for words in sentence:
        assert words in err


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def relation(paper: Path, **keys: str) -> None:
    """One more relation; the keys are TOML."""
    keys = {"id": '"more"', "reads": '"x"', "relation": '"mean"', "of": '["t1|A|Help"]', "equals": '"=3.80"'} | keys
    append(paper / "claims.toml", "\n[[relation]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))


def computed(of: str, **more: str) -> str:
    keys = {"relation": '"sum"', "of": of} | more
    return "[{ " + ", ".join(f"{key} = {value}" for key, value in keys.items()) + " }]"


REFERENCES = {
    "1.5": "a reference as text, a whole number, or {",
    "true": "relation.3.of.0: expected: a reference as text",
    "[1]": "a reference as text",
    '"=nan"': 'relation "more": cannot read "nan"',
    '"="': 'relation "more": cannot read ""',
    '"#nobody"': 'no claim "nobody"',
    '"#models@low"': 'has no part "low"',
    '"t1|A|Help@7"': 'has no part "7"',
    '"t1|A"': "cannot tell what",
    '"t1|A|Help|x"': "cannot tell what",
    '"t1||Help"': 't1 has no row ""',
    '"t1|Model=Z|Help"': 't1 has no row "Model=Z"',
    '"t1|A|Model"': 'reads "A", which is no number',
    '""': "cannot tell what",
    '"|"': "cannot tell what",
}


@pytest.mark.parametrize("reference", REFERENCES)
def test_references(run, paper, reference):
    relation(paper, of=f"[{reference}]")
    refused(run("check", paper), str(paper / "claims.toml"), REFERENCES[reference])


def test_the_line_is_that_of_the_key(run, paper):
    relation(paper, of="[1.5]")
    code, _, err = run("check", paper)
    line = int(err.split("claims.toml:")[1].split(":")[0])
    assert (code, (paper / "claims.toml").read_text().splitlines()[line - 1]) == (2, "of = [1.5]")


@pytest.mark.parametrize("of", ['["=3.80", "=9.90"]', '["t1|*|Help"]'])
def test_equal_compares_one_number(run, paper, of):
    relation(paper, relation='"equal"', of=of)
    refused(run("check", paper), "equal takes one number beside `equals`, found 2")


def test_dates_beside_numbers(run, paper):
    relation(paper, relation='"difference"', of='["=2026-10-03", "=2 October 2026"]', equals='"=1"')
    code, out, _ = run("check", paper, "--json", "-")
    assert (code, json.loads(out)["summary"]["consistent"]) == (0, 7)
    relation(paper, id='"order"', relation='"dates-ascending"', of='["=5", "=2 October 2026"]')
    text = (paper / "claims.toml").read_text()
    (paper / "claims.toml").write_text(text[::-1].replace('equals = "=3.80"\n'[::-1], "", 1)[::-1])
    refused(run("check", paper), '"5" and "2 October 2026" have different units')


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"rows": '["nobody"]'}, 't1 has no row "nobody"'),
        ({"except": '["nobody"]'}, 't1 has no row "nobody"'),
        ({"columns": '["none"]'}, 't1 has no column "none"'),
        ({"table": '"t9"'}, 'no table "t9"'),
        ({}, 6),  # two models and three columns
        ({"except": '["A|Help"]'}, 5),
        ({"except": '["Hon"]'}, 4),
    ],
)
def test_what_each_goes_over(run, paper, keys, told):
    relation(paper, **({"table": '"t1"', "each": '"cell"', "relation": '"at-least"', "of": '[".", 0]'} | keys))
    text = (paper / "claims.toml").read_text()
    (paper / "claims.toml").write_text(text.replace('equals = "=3.80"\n', ""))
    result = run("check", paper, "--json", "-")
    if isinstance(told, str):
        refused(result, 'relation "more"', told)
    else:
        assert len({v["id"] for v in json.loads(result[1])["verdicts"] if v["id"].startswith("demo/more")}) == told


NO_ONE_NUMBER = {
    "d51af09b...a498": "a hash; compare it by short-hash or equal-text",
    "142-148": "several numbers; say which with @low or @high",
    "4 of 12": "several numbers; say which with @1, @2",
}


@pytest.mark.parametrize("printed", NO_ONE_NUMBER)
@pytest.mark.parametrize("side", ["of", "equals"])
def test_what_is_no_one_number_is_not_counted_with(run, paper, printed, side):
    """Not taken for 0, or for its first part: two different hashes would be equal, and 145 outside of 142-148."""
    append(
        paper / "claims.toml",
        f'\n[[claim]]\nid = "odd"\nwhere = {{ section = "1" }}\nreads = "x"\nreported = "{printed}"\n',
    )
    relation(paper, **({"of": '["#odd"]'} if side == "of" else {"equals": '"#odd"'}))
    refused(run("check", paper), f'#odd reads "{printed}"', NO_ONE_NUMBER[printed])


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("427,804 bytes", "428 KB", 2),
        ("3120 seconds", "52 minutes", 2),
        ("15.1%", "15.1 pp", 0),
        ("15.1 points", "15.1", 0),
        ("$142", "142", 0),
        ("2026-10-02", "2 October 2026", 0),
        ("2026-10-02", "739891", 2),  # the number of that day, which nobody means
    ],
)
def test_different_units_are_not_compared(run, paper, one, other, code):
    (paper / "tables" / "t1.csv").write_text(f'Model,Help,Hon,All\nA,"{one}",{other},1\n')
    (paper / "paper.toml").write_text((paper / "paper.toml").read_text().replace('summary = ["Average"]', ""))
    (paper / "claims.toml").write_text("")
    relation(paper, relation='"equal"', equals='"t1|A|Hon"')
    result = run("check", paper, "--json", "-")
    if code:
        refused(result, f'"{one}" and "{other}" have different units')
    else:
        assert {v["verdict"] for v in json.loads(result[1])["verdicts"]} == {"consistent"}


def test_a_test_result_in_a_cell(run, paper):
    (paper / "tables" / "t1.csv").write_text('Model,Help\nA,"t(28) = 2.20, p = .04"\nB,"t(28) = 2.20, p = .03"\n')
    (paper / "paper.toml").write_text((paper / "paper.toml").read_text().replace('summary = ["Average"]', ""))
    (paper / "claims.toml").write_text(
        '[[relation]]\nid = "p"\nreads = "x"\ntable = "t1"\neach = "row"\nof = ["Help"]\nrelation = "p-value"\n'
    )
    code, out, _ = run("check", paper, "--json", "-")
    assert code == 1
    assert [v["verdict"] for v in json.loads(out)["verdicts"]] == ["consistent", "inconsistent"]  # p = .0362


NESTED = {
    "1.5": "of: expected",
    '"Help"': "of: expected",
    "[]": "`of` names no number",
    "[1.5]": "a reference as text",
    "[{ relation = 1, of = [1] }]": "expected: Input should be a valid string; found: 1",
    "[{ relation = [], of = [1] }]": "valid string",
    '[{ relation = "sum" }]': "of: expected: Field required; found: nothing",
    '[{ relation = "ascending", of = [1, 2] }]': 'a relation that gives a value, found "ascending"',
    '[{ relation = "sum", off = [1] }]': "unknown key 'off'; expected one of relation, of, weights, expr",
    '[{ relation = "formula", of = { a = 1 }, expr = 3 }]': "valid string; found: 3",
    '[{ relation = "weighted-mean", of = [1], weights = 3 }]': "weights: expected",
    '[{ relation = "choose", of = [1000000000, 500000000] }]': "choose takes up to 1,000",
    '[{ relation = "joint-share", of = [1], weights = [1] }]': "values of n; give one for each",
}


@pytest.mark.parametrize("of", NESTED)
def test_computed_numbers(run, paper, of):
    relation(paper, of=computed(of))
    refused(run("check", paper), str(paper / "claims.toml"), NESTED[of])


FORMULAS = [
    "",
    "a **",
    "a ** b",
    "a if b else a",
    "()",
    "True",
    "1j",
    "'a'",
    "a.real",
    "open(a)",
    "c",
    "a[0]",
    "2a",
    "lambda: a",
]
FORMULAS += [
    "(" * 150 + "a",
    "-" * 390 + "a +",
    "a" * 500,
    "a\\u0000",
    "a\\u202e",
    "1e9999 * a",
    "0x10 * a",
    "abs(a, b)",
    "__import__('os')",
]


@pytest.mark.parametrize("expr", FORMULAS)
def test_formulas(run, paper, expr):
    relation(paper, relation='"formula"', of="{ a = 1, b = 2 }", expr=f'"{expr}"')
    refused(run("check", paper), str(paper / "claims.toml"), "demo/more")


def test_numbers_beyond_what_a_float_holds(run, paper):
    relation(paper, relation='"formula"', of="{ a = 1 }", expr='"9e999 * 9e999 * 9e999 * 9e999 * 9e999 * a"')
    relation(
        paper,
        id='"inside"',
        relation='"inside"',
        of='[1, 2, { relation = "formula", of = { a = 1 }, expr = "1e999 * a" }]',
    )
    text = (paper / "claims.toml").read_text().replace('equals = "=3.80"\n', "", 2)
    (paper / "claims.toml").write_text(text.replace('* a"\n', '* a"\nequals = "=3.80"\n', 1))
    code, out, err = run("check", paper, "--json", "-")
    assert code == 1, err
    found = {v["id"]: v for v in json.loads(out)["verdicts"]}
    assert found["demo/more"]["recounted"] == "1e5000"  # 9^5 is 59,049: 5.9 times 10^4999 nearest to 10^5000
    assert found["demo/inside"]["verdict"] == "inconsistent"


TOML = {
    "[[claim": "not valid TOML",
    "x = " + "9" * 5000: "not valid TOML",
    "x = " + "[" * 3000 + "]" * 3000: "nested beyond reason",
    "x = " + "[" * 60 + "]" * 60: "nested beyond reason",  # by our own bound, far below that of the interpreter
    "x = " + "[" * 40 + "]" * 40: "unknown key 'x'",
    "[[claim]]\nid = 1\n": "claims.toml:2: claim.0.id: expected",
    "claim = 3": "claim: expected",
    "claim = [ 3 ]": "claims.toml:1: claim.0: expected",
    "[claim]\nid = 'x'\n": "claim: expected",
    '[[relation]]\nid = "Ä"\n': "relation.0.id: expected: String should match pattern",
    "[[known]]\nclaims = []\n": "known.0.claims: expected",
    '[[known]]\nclaims = ["x"]\nverdict = "wrong"\nsince = 2026-01-01\nwhy = "x"\n': "known.0.verdict: expected",
    '[[known]]\nclaims = ["x"]\nverdict = "differs"\nsince = "soon"\nwhy = "x"\n': "known.0.since: expected",
    '[[known]]\nclaims = ["x"]\nverdict = "differs"\nsince = 2026-01-01\nwhy = "x"\n': 'names "x", which is no claim',
    'claim = [\n{ id = "a", where = {}, reads = "x", reported = "1", asserted = "y" },\n'
    '{ id = "b", where = {}, reads = "x", reported = 2 },\n]\n': "claims.toml:3: claim.1.reported: expected",
    "\x1b[31m": "not valid TOML",
}


@pytest.mark.parametrize("text", TOML, ids=range(len(TOML)))
def test_malformed_claims(run, paper, text):
    (paper / "claims.toml").write_text(text, encoding="utf-8")
    refused(run("check", paper), str(paper / "claims.toml"), TOML[text])


def test_a_finding_recorded_twice(run, paper):
    known = '\n[[known]]\nclaims = ["count"]\nverdict = "inconsistent"\nsince = 2026-01-01\nwhy = "x"\n'
    append(paper / "claims.toml", known + known)
    refused(run("check", paper), '"count" stands in two [[known]] entries')


CELLS = {
    'Model,Help,Hon,All\nA,"3.80': "t1.csv:2: not valid CSV",
    'Model,Help,Hon,All\nA,3.80,"4.60"x,4.20\n': "t1.csv:2: not valid CSV",
    "Model,Help,Hon,All\n" + "A," + "9" * 200_000 + ",1,1\n": "t1.csv:2: not valid CSV",
    "Model,Help,Hon,All\n": "t1.csv:1: expected a header and at least one row",
    "": "t1.csv:1: expected a header",
    "Model;Help;Hon;All\nA;1;2;3\n": 'no column "Model"',
    "Model,Help,Help,All\nA,1,2,3\n": "two columns have one name",
    "Model,Help,Hon,All\nA|B,1,2,3\n": 't1.csv:2: row "A|B" cannot be referred to',
    "Model,Help,Hon,All\n A,1,2,3\n": 't1.csv:2: row " A" cannot be referred to',
    "Model,Help,Hon,All\n*,1,2,3\n": 't1.csv:2: row "*" cannot be referred to',
    "Model,Help,Hon,All|x\nA,1,2,3\n": 't1.csv:1: column "All|x" cannot be referred to',
    "Model,Help ,Hon,All\nA,1,2,3\n": 't1.csv:1: column "Help " cannot be referred to',
    "Model,Help,Hon,All\nA\u200bB,1,2,3\n": "t1.csv:2: row 'A\\u200bB' holds the invisible character U+200B",
    "Model,Help,Hon,All\n\u202eA,1,2,3\n": "invisible character U+202E",
    "Model,Help,Hon,All\nA\x1b[31m,1,2,3\n": "invisible character U+001B",
    'Model,Help,Hon,All\n"A\nB",1,2,3\n': "t1.csv:3: row 'A\\nB' holds the invisible character U+000A",
    "Model,Help,Hon,All\nA,1,2,3\n\nB,1,2\n": "t1.csv:4: expected 4 cells, found 3",
    "Model,Help,Hon,All\nA,1,Infinity,3\n": 't1.csv:2: found "Infinity"',
}


@pytest.mark.parametrize("text", CELLS, ids=range(len(CELLS)))
def test_malformed_tables(run, paper, text):
    (paper / "tables" / "t1.csv").write_text(text, encoding="utf-8")
    refused(run("check", paper), CELLS[text])


@pytest.mark.parametrize("shape", ["\r\n", "bom", "quoted", "blank lines"])
def test_tables_as_programs_save_them(run, paper, shape):
    table = paper / "tables" / "t1.csv"
    text = table.read_text()
    if shape == "\r\n":
        table.write_bytes(text.replace("\n", "\r\n").encode())
    elif shape == "bom":
        table.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif shape == "quoted":
        table.write_text("\n".join(",".join(f'"{cell}"' for cell in row.split(",")) for row in text.splitlines()))
    else:
        table.write_text(text.replace("\n", "\n\n") + "\n\n")
    code, out, _ = run("check", paper, "--json", "-")
    assert code == 0
    assert json.loads(out)["summary"]["consistent"] == 6


def test_names_with_signs_of_the_notation(run, paper):
    """Recall@10 is a column, k=5 a row, and neither a part nor a choice of rows."""
    (paper / "tables" / "t1.csv").write_text("Model,Recall@10,Hon,All\nk=5,3.80,4.60,4.20\nuser@host,3.50,4.10,3.80\n")
    (paper / "paper.toml").write_text(
        (paper / "paper.toml").read_text().replace('summary = ["Average"]', 'domain = { "Recall@10" = ["3", "4"] }')
    )
    text = (paper / "claims.toml").read_text().replace('"Help"', '"Recall@10"').replace("t1|*|Help", "t1|*|Recall@10")
    (paper / "claims.toml").write_text(
        text.replace('equals = "Average"', 'equals = "k=5"').replace('of = ["*"]', 'of = ["k=5"]')
    )
    relation(paper, of='["t1|user@host|Recall@10@1"]', equals='"=3.50"')
    relation(paper, id='"more-2"', of='["t1|Hon=4.60|All"]', equals='"=4.20"')
    code, out, err = run("check", paper, "--json", "-")
    assert code == 0, err
    found = {v["id"]: v for v in json.loads(out)["verdicts"]}
    assert found["demo/more"]["evidence"]["of"] == [{"from": "t1|user@host|Recall@10", "printed": "3.50"}]
    assert found["demo/more-2"]["evidence"]["of"] == [{"from": "t1|k=5|All", "printed": "4.20"}]
    assert found["demo/average[Recall@10]"]["verdict"] == "uninformative"  # of one row: compared with itself
    assert {v["verdict"] for i, v in found.items() if "average" not in i} == {"consistent"}


def test_ids_that_collide_after_expansion(run, paper):
    """Row "A, B" with column "C" and row "A" with column "B, C" would be one claim, and one of two would be lost."""
    (paper / "tables" / "t1.csv").write_text('Model,C,"B, C"\n"A, B",1,2\nA,3,4\n')
    (paper / "paper.toml").write_text((paper / "paper.toml").read_text().replace('summary = ["Average"]', ""))
    (paper / "claims.toml").write_text(
        '[[relation]]\nid = "x"\nreads = "x"\ntable = "t1"\neach = "cell"\nof = ["."]\nrelation = "at-least"\n'.replace(
            'of = ["."]', 'of = [".", 0]'
        )
    )
    refused(run("check", paper), 'two claims are called "x[A, B, C]"')
    (paper / "claims.toml").write_text(
        '[[relation]]\nid = "x"\nreads = "x"\ntable = "t1"\neach = "row"\nrows = ["A", "A"]\nof = ["C", 0]\n'
        'relation = "at-least"\n'
    )
    refused(run("check", paper), 'two claims are called "x[A]"')


def test_tables_declared_twice_and_domains(run, paper):
    toml = (paper / "paper.toml").read_text()
    (paper / "paper.toml").write_text(toml + toml[toml.index("[[table]]") :])
    refused(run("check", paper), 'two tables have the id "t1"')
    (paper / "paper.toml").write_text(toml + 'domain = { All = ["x", "5"] }\n')
    refused(run("check", paper), str(paper / "paper.toml"), 'table "t1", domain of "All": cannot read "x"')
    (paper / "paper.toml").write_text(toml + 'domain = { All = ["abc123", "5"] }\n')
    refused(run("check", paper), str(paper / "paper.toml"), 'domain of "All": "abc123" is a hash')
    (paper / "paper.toml").write_text(toml + 'domain = { All = ["5", "1"] }\n')
    refused(run("check", paper), "5 is above 1; swap them")


@pytest.mark.parametrize(("highest", "verdict"), [("2", "uninformative"), ("3", "consistent")])
def test_the_domain_of_a_column_says_whether_a_check_could_have_failed(run, paper, highest, verdict):
    """+1 is 0.5 to 1.5, which meets each of 0, 1 and 2, and not 3."""
    (paper / "tables" / "t1.csv").write_text("Model,Help,All\nA,+1,1\n")
    toml = (paper / "paper.toml").read_text().replace('summary = ["Average"]', 'rounded = ["All"]')
    (paper / "paper.toml").write_text(toml + f'domain = {{ All = ["0", "{highest}"] }}\n')
    (paper / "claims.toml").write_text("")
    relation(paper, relation='"sum"', equals='"t1|A|All"')
    _, out, _ = run("check", paper, "--json", "-")
    assert [v["verdict"] for v in json.loads(out)["verdicts"]] == [verdict]


@pytest.mark.parametrize(("exact", "verdict"), [('["Help"]', "inconsistent"), ("[]", "consistent")])
def test_a_column_of_exact_decimals_is_not_unrounded(run, paper, exact, verdict):
    """78 times 0.05 is 3.90; times anything from 0.045 to 0.055 it may be 3.95."""
    (paper / "tables" / "t1.csv").write_text("Model,Help,All\nA,0.05,3.95\n")
    toml = (paper / "paper.toml").read_text().replace('summary = ["Average"]', f"exact = {exact}")
    (paper / "paper.toml").write_text(toml)
    (paper / "claims.toml").write_text("")
    relation(paper, relation='"product"', of='["t1|A|Help", 78]', equals='"t1|A|All"')
    _, out, _ = run("check", paper, "--json", "-")
    assert [v["verdict"] for v in json.loads(out)["verdicts"]] == [verdict]


def test_two_papers_of_one_id(run, paper, tmp_path):
    shutil.copytree(paper, tmp_path / "copy")
    refused(run("check", paper, tmp_path / "copy"), 'both hold a paper "demo"')
    code, out, _ = run("check", paper, paper, "--json", "-")
    assert code == 0
    assert len(json.loads(out)["verdicts"]) == 6


def test_every_key_with_every_wrong_value(run, paper):
    """No value at any key of claims.toml makes anything but verdicts or one sentence that names the folder."""
    base = tomllib.loads((paper / "claims.toml").read_text())
    wrong: list[Any] = [
        0,
        -1,
        10**30,
        True,
        1.5,
        "",
        " ",
        "x",
        "|",
        "#",
        "=",
        [],
        ["x"],
        [1],
        [[1]],
        [{}],
        {},
        {"a": 1},
    ]
    for where in (("claim", 0), ("relation", 0), ("relation", 1), ("relation", 2)):
        entry = base[where[0]][where[1]]
        for key in [*entry, "within", "with", "needs", "n", "weights", "rows", "except", "rename", "scores", "expr"]:
            for value in wrong:
                entries = {kind: [dict(one) for one in base[kind]] for kind in base}
                entries[where[0]][where[1]] = entry | {key: value}
                text = "".join(
                    f"[[{kind}]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in one.items())
                    for kind in entries
                    for one in entries[kind]
                )
                (paper / "claims.toml").write_text(text, encoding="utf-8")
                code, out, err = run("check", paper, "--offline", "--json", "-")
                if code == 2:
                    refused((code, out, err), str(paper))
                else:
                    assert code in (0, 1, 3), (key, value, err)
                    json.loads(out)


def toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


def test_a_table_of_ten_thousand_rows(run, paper):
    rows = [f"m{i},{i % 5}.10,{i % 5}.30,{i % 5}.20" for i in range(10_000)]
    (paper / "tables" / "t1.csv").write_text("Model,Help,Hon,All\n" + "\n".join(rows) + "\nAverage,2.10,2.30,2.20\n")
    (paper / "claims.toml").write_text(
        (paper / "claims.toml").read_text().replace('reported = "2"', 'reported = "10,000"')
    )
    start = time.process_time()
    code, out, _ = run("check", paper, "--json", "-")
    assert code == 0
    assert json.loads(out)["summary"]["consistent"] == 10_004
    assert time.process_time() - start < 60  # a quadratic walk over the rows would take many minutes
    relation(paper, of='["t1|nobody|Help"]')
    code, _, err = run("check", paper)
    assert code == 2
    assert "and 9989 more" in err
    assert len(err) < 600


class TestFiles:
    def test_a_folder_in_place_of_a_file(self, run, paper):
        (paper / "claims.toml").unlink()
        (paper / "claims.toml").mkdir()
        refused(run("check", paper), "claims.toml: expected a file, found a folder")

    def test_a_link_to_itself(self, run, paper):
        (paper / "tables" / "t1.csv").unlink()
        (paper / "tables" / "t1.csv").symlink_to("t1.csv")
        refused(run("check", paper), "t1.csv: cannot be read (Too many levels of symbolic links)")

    def test_a_paper_folder_that_is_a_loop(self, run, tmp_path):
        (tmp_path / "loop").symlink_to("loop")
        refused(run("check", tmp_path / "loop"), "no paper")

    def test_a_pipe_in_place_of_a_file_does_not_wait(self, run, paper):
        (paper / "claims.toml").unlink()
        os.mkfifo(paper / "claims.toml")
        refused(run("check", paper), "claims.toml: expected a file, found none")

    def test_a_huge_file(self, run, paper, monkeypatch):
        monkeypatch.setattr(shapes, "LARGEST", 1000)
        append(paper / "tables" / "t1.csv", "\n" * 1000)
        refused(run("check", paper), "t1.csv: expected at most 1,000 bytes")

    def test_not_utf8(self, run, paper):
        (paper / "claims.toml").write_bytes(b'[[claim]]\nid = "\xff"\n')
        refused(run("check", paper), "claims.toml: byte 16 is not UTF-8")

    def test_a_name_that_is_no_path(self, run):
        refused(run("check", "a\0b"), 'no paper "a\\x00b"')
        refused(run("check", "x" * 5000), "File name too long")

    @pytest.mark.parametrize("name", ["claims.toml", "tables/t1.csv", "paper.toml"])
    def test_a_file_that_may_not_be_read(self, run, paper, monkeypatch, name):
        real = Path.read_text

        def locked(self: Path, *arguments: Any, **keys: Any) -> str:
            if self == paper / name:
                raise PermissionError(13, "Permission denied", str(self))
            return real(self, *arguments, **keys)

        monkeypatch.setattr(Path, "read_text", locked)
        refused(run("check", paper), f"{paper / name}: cannot be read (Permission denied); check its permissions")

    @pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root to become nobody")
    @pytest.mark.parametrize("what", ["paper", "tables", "claims.toml", "tables/t1.csv"])
    def test_as_a_user_without_permission(self, paper, tmp_path, what):
        """In a process of another user: what root may read, nobody may not."""
        locked = paper if what == "paper" else paper / what
        chain = [tmp_path, *tmp_path.parents]
        modes = {folder: folder.stat().st_mode for folder in chain[:4] if folder != Path("/tmp")}
        for folder in modes:
            folder.chmod(0o755)
        locked.chmod(0)
        code = "from countback.audit.cli import main; main()"
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        able = subprocess.run(
            [*nobody, sys.executable, "-c", "import countback.audit"], capture_output=True, check=False
        )
        if able.returncode:
            pytest.skip("the interpreter is not readable for nobody")
        done = subprocess.run(
            [*nobody, sys.executable, "-c", code, "check", str(paper)], capture_output=True, text=True, check=False
        )
        for folder, mode in modes.items():
            folder.chmod(mode)
        locked.chmod(0o755)
        refused((done.returncode, done.stdout, done.stderr), str(paper), "ermission")


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


class TestRecipes:
    """The number of the text, recounted from a pinned file of three bytes."""

    @pytest.fixture
    def data(self, paper, tmp_path):
        claims = paper / "claims.toml"
        claims.write_text(
            claims.read_text().replace('reported = "2"', 'reported = "2"\nrecipe = "tally"\nneeds = ["rel"]')
        )
        (paper / "releases.toml").write_text(RELEASES)
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "x.json").write_text("abc")
        return tmp_path / "data"

    def recipes(self, paper: Path, body: str, signature: str = "data") -> None:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        (paper / "recipes.py").write_text(
            f"from countback.claims.verdict import Recount\n\n\ndef tally({signature}):\n{lines}"
        )

    def verdict(self, result: tuple[int, str, str]) -> dict[str, Any]:
        code, out, err = result
        assert code in (0, 1), err
        return next(v for v in json.loads(out)["verdicts"] if v["id"] == "demo/models")

    def test_what_it_prints_is_not_in_the_json(self, run, paper, data):
        self.recipes(paper, "print('hello')\ndata.path('x.json')\nreturn Recount(2)")
        (paper / "recipes.py").write_text("print('imported')\n" + (paper / "recipes.py").read_text())
        result = run("check", paper, "--data", data, "--json", "-")
        assert self.verdict(result)["verdict"] == "reproduced"
        assert "imported\nhello\n" in result[2]

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ("raise RuntimeError('x\\ny')", "RuntimeError at line 5: x y;"),
            ("return 1 / 0", "ZeroDivisionError at line 5"),
            ("import sys\nsys.exit(0)", "SystemExit at line 6: 0"),
            ("import no_such_module", "ModuleNotFoundError at line 5"),
            ("return 2", "gave a int, expected a Recount"),
            ("return None", "gave a NoneType, expected a Recount"),
            ("return Recount(None)", "a value of type NoneType"),
            ("return Recount([2])", "a value of type list"),
            ("return Recount(2, low_high=(1.0, 3.0))", 'two ends, and the paper prints "2"'),
            ("return Recount()", "TypeError at line 5"),
        ],
    )
    def test_mistakes(self, run, paper, data, body, words):
        self.recipes(paper, body)
        place = f'{paper / "recipes.py"}: recipe "tally", claim demo/models: '
        refused(run("check", paper, "--data", data), place, words)

    @pytest.mark.parametrize("printed", ["0.04-0.08", "4 of 12"])
    def test_one_value_is_not_compared_with_the_first_of_two(self, run, paper, data, printed):
        claims = paper / "claims.toml"
        text = claims.read_text().replace('reported = "2"', f'reported = "{printed}"')
        claims.write_text(text[: text.index('[[relation]]\nid = "count"')])
        self.recipes(paper, "data.path('x.json')\nreturn Recount(0.04)")
        refused(run("check", paper, "--data", data), f'gave one value, and the paper prints "{printed}"')

    @pytest.mark.parametrize(("k", "n", "code"), [(4, 12, 0), (5, 12, 1), (4, 11, 2)])
    def test_k_of_n_is_one_value_and_its_n(self, run, paper, data, k, n, code):
        claims = paper / "claims.toml"
        text = claims.read_text().replace('reported = "2"', 'reported = "4 of 12"')
        claims.write_text(text[: text.index('[[relation]]\nid = "count"')])
        self.recipes(paper, f"data.path('x.json')\nreturn Recount({k}, n={n})")
        assert run("check", paper, "--data", data)[0] == code

    def test_a_module_that_cannot_be_imported(self, run, paper, data):
        self.recipes(paper, "return Recount(2)")
        append(paper / "recipes.py", "\nraise OSError(28, 'No space left on device')\n")
        refused(run("check", paper, "--data", data), "recipes.py", "OSError at line 7")

    def test_it_is_not_imported_where_there_is_no_data(self, run, paper, data):
        self.recipes(paper, "return Recount(2)")
        append(paper / "recipes.py", "\nraise OSError\n")
        result = run("check", paper, "--offline", "--json", "-")
        assert self.verdict(result)["reason"].startswith("archive absent")

    def test_the_command_that_would_check_it_finds_the_users_folder(self, run, paper, data):
        self.recipes(paper, "return Recount(2)")
        elsewhere = paper.rename(paper.parent / "elsewhere")
        _, out, _ = run("check", elsewhere, "--offline")
        assert f"demo: 1 archive absent; to check: countback check {elsewhere} --data DIR" in " ".join(out.split())
        append(elsewhere / "releases.toml", 'url = "http://127.0.0.1:9/x.json"\n')
        _, out, _ = run("check", elsewhere, "--offline")
        assert f"; to check: countback fetch {elsewhere}, or countback check {elsewhere} --data DIR" in " ".join(
            out.split()
        )

    @pytest.mark.parametrize("text", ["def tally(data:\n", "x = '\0'\n", "(" * 5000, "def print(data): ...\n"])
    def test_what_is_no_recipe(self, run, paper, data, text):
        (paper / "recipes.py").write_text(text)
        refused(run("check", paper, "--data", data), "recipe")

    def test_a_recipe_may_be_named_like_a_builtin(self, run, paper, data):
        (paper / "claims.toml").write_text((paper / "claims.toml").read_text().replace('"tally"', '"print"'))
        (paper / "recipes.py").write_text("from countback.claims.verdict import Recount\n")
        refused(run("check", paper, "--data", data), 'no recipe "print" in recipes.py')
        append(paper / "recipes.py", "\n\ndef print(data):\n    data.path('x.json')\n    return Recount(2)\n")
        assert self.verdict(run("check", paper, "--data", data, "--json", "-"))["verdict"] == "reproduced"

    @pytest.mark.parametrize(
        ("signature", "given", "words"),
        [
            ("data", "{ judge = 1 }", 'recipe "tally" takes no "judge"; it takes nothing'),
            ("data, who", "{ judge = 1 }", 'recipe "tally" takes no "judge"; it takes who'),
            ("data, judge", "{}", 'recipe "tally" needs "judge" in `with`'),
            ("data, *, judge", "{}", 'recipe "tally" needs "judge" in `with`'),
            ("data", "{ judge = 2026-01-01 }", "a text, a finite number, true, false, or a list of these"),
            ("data", "{ judge = nan }", "a finite number"),
            ("data", "{ judge = [[{}]] }", "a finite number"),
            ("data", '{ data = "x" }', 'recipe "tally" takes no "data"'),
        ],
    )
    def test_arguments_are_checked_before_anything_runs(self, run, paper, data, signature, given, words):
        claims = paper / "claims.toml"
        claims.write_text(claims.read_text().replace('recipe = "tally"\n', f'recipe = "tally"\nwith = {given}\n'))
        self.recipes(paper, "return Recount(2)", signature)
        refused(run("check", paper, "--offline"), str(claims), words)

    @pytest.mark.parametrize("signature", ["data, judge=2", "data, *, judge=2", "data, **settings", "data, judge"])
    def test_arguments_that_fit(self, run, paper, data, signature):
        claims = paper / "claims.toml"
        given = 'recipe = "tally"\nwith = { judge = 2 }\n'
        claims.write_text(claims.read_text().replace('recipe = "tally"\n', given))
        self.recipes(paper, "data.path('x.json')\nreturn Recount(2)", signature)
        assert self.verdict(run("check", paper, "--data", data, "--json", "-"))["verdict"] == "reproduced"

    def test_what_used_no_released_file_reproduces_nothing(self, run, paper, data):
        self.recipes(paper, "return Recount(2)")
        found = self.verdict(run("check", paper, "--data", data, "--json", "-"))
        assert (found["verdict"], found["agrees"]) == ("unchecked", True)
        assert "asked for no released file" in found["reason"]

    @pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "2, mc_error=float('nan')"])
    def test_a_recount_that_is_no_number(self, run, paper, data, value):
        self.recipes(paper, f"data.path('x.json')\nreturn Recount({value})")
        found = self.verdict(run("check", paper, "--data", data, "--json", "-"))
        assert (found["verdict"], found["reason"]) == ("unchecked", "undefined for this data")

    def test_numpy_scalars(self, run, paper, data):
        self.recipes(
            paper,
            "import numpy as np\ndata.path('x.json')\n"
            "return Recount(np.int64(2), n=np.int32(7), readings={'a': np.float64('nan'), 'b': np.float64(2)})",
        )
        found = self.verdict(run("check", paper, "--data", data, "--json", "-"))
        assert (found["verdict"], found["recounted"], found["n"]) == ("reproduced", "2", 7)
        assert found["evidence"]["readings"] == {"b": 2.0}
        assert found["evidence"]["notes"] == ['undefined for this data: the reading "a"']

    def test_a_file_with_a_wrong_hash(self, run, paper, data):
        self.recipes(paper, "data.path('x.json')\nreturn Recount(2)")
        (data / "x.json").write_text("abd")
        refused(run("check", paper, "--data", data), "expected sha256 ba7816bf", "--unverified", code=4)

    @pytest.mark.parametrize(
        ("pin", "why"),
        [
            ('sha256 = "' + "0" * 64 + '"', "the file is not the one that was pinned"),
            ('sha256_prefix = "ba78"', "no full digest of the file is published"),  # what is known of it fits
            ("", "no full digest of the file is published"),
        ],
    )
    def test_why_a_recount_proves_nothing(self, run, paper, data, tmp_path, pin, why):
        self.recipes(paper, "data.path('x.json')\nreturn Recount(2)")
        lines = RELEASES.splitlines()
        (paper / "releases.toml").write_text("\n".join(pin if "sha256" in line else line for line in lines))
        written = tmp_path / "verdicts.json"
        code, out, err = run("check", paper, "--data", data, "--unverified", "--json", written)
        assert code == 0, err
        assert f"demo: 1 unverified data; 1 of them agree, which proves nothing: {why}" in " ".join(out.split())
        pytest.importorskip("jinja2", reason="needs the report extra")
        code, out, err = run("report", "--from", written, "--out", tmp_path / "page")
        assert code == 0, err
        page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
        assert f"1 of 1 that were compared agree, which proves nothing: {why}." in page

    def test_data_that_no_pin_proves_may_break_a_recipe(self, run, paper, data):
        self.recipes(paper, "data.path('x.json')\nraise KeyError('country')")
        (data / "x.json").write_text("abd")
        found = self.verdict(run("check", paper, "--data", data, "--unverified", "--json", "-"))
        assert found["verdict"] == "unchecked"
        assert found["reason"] == "the data could not be read: KeyError at line 6: 'country'"

    @pytest.mark.parametrize("what", ["data", "data/below", "data/below/x.json"])
    def test_data_that_may_not_be_read(self, run, paper, data, monkeypatch, what, tmp_path):
        """Not "archive absent": what cannot be looked at may be what is missing."""
        self.recipes(paper, "data.path('x.json')\nreturn Recount(2)")
        (data / "below").mkdir()
        (data / "x.json").rename(data / "below" / "x.json")
        locked, scandir, opened = str(tmp_path / what), os.scandir, Path.open

        def refuse(path: Any) -> None:
            if os.fspath(path) == locked:
                raise PermissionError(13, "Permission denied", locked)

        def closed_folder(path: Any = ".") -> Any:
            refuse(path)
            return scandir(path)

        def closed_file(self: Path, *arguments: Any, **keys: Any) -> Any:
            refuse(self)
            return opened(self, *arguments, **keys)

        monkeypatch.setattr(os, "scandir", closed_folder)
        monkeypatch.setattr(Path, "open", closed_file)
        result = run("check", paper, "--data", data)
        refused(result, locked, "check its permissions, or point --data elsewhere")

    def test_a_release_that_is_not_listed(self, run, paper, data):
        (paper / "claims.toml").write_text((paper / "claims.toml").read_text().replace('["rel"]', '["other"]'))
        self.recipes(paper, "return Recount(2)")
        refused(run("check", paper, "--data", data), "needs \"other\"; releases.toml has ['rel']")


def test_hidden_characters_of_a_paper_are_spelt_out_on_the_terminal(run, paper):
    (paper / "claims.toml").write_text(
        (paper / "claims.toml").read_text().replace('reads = "All is', 'reads = "\\u001b]0;owned\\u0007All\\u202e is'),
        encoding="utf-8",
    )
    table = paper / "tables" / "t1.csv"
    table.write_text(table.read_text().replace("4.20", "4.30"))
    code, out, _ = run("check", paper)
    assert code == 1
    assert "\\x1b]0;owned\\x07All\\u202e is the mean" in " ".join(out.split())
    assert "\x1b" not in out
    assert "\u202e" not in out
