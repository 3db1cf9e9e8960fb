"""Tiny and degenerate labels give sentences, no number that pretends to know, and exit 3 where nothing follows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from countback.audit.cli import cli
from judge_data import judged, panel, write

JUDGE = ("item", "judge", "country", "label")


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["judge", *map(str, arguments), "--draws", "100"], catch_exceptions=False)
    text = done.output
    assert not re.search(r"\bnan\b|\binf\b", text, re.IGNORECASE)
    return done.exit_code, text


def intervals(text: str) -> list[str]:
    return re.findall(r"\[[-+]?\d[^\]]*, [^\]]*\]", text)


def crossed(countries: list[str], items: int, people: int) -> list[Any]:
    return [
        (i, f"{c}x{who}", c, "12"[(i + who // 2) % 2]) for i in range(items) for c in countries for who in range(people)
    ]


def test_three_labels(tmp_path: Path) -> None:
    code, text = run(write(tmp_path / "l.csv", [(1, "a", "", "x"), (1, "b", "", "x"), (2, "a", "", "y")]))
    assert code == 3
    assert "3 valid labels by 2 humans on 2 items; 0 judges" in text
    assert "COLLECT MORE ITEMS: 2 items; below 20 no interval is computed here." in " ".join(text.split())
    assert "too few items" in text
    assert not intervals(text)


def test_three_labels_and_a_judge(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", [(1, "a", "", "x"), (1, "b", "", "x"), (2, "a", "", "y")])
    code, text = run(labels, "--judges", write(tmp_path / "j.csv", [(1, "m", "", "x"), (2, "m", "", "y")], JUDGE))
    assert code == 3
    assert "m: NO VERDICT: 2 comparisons on 1 items are too few" in text
    assert not intervals(text)
    assert not re.search(r"\d\.\d\d", text)  # nothing to two decimals


def test_one_annotator_an_item(tmp_path: Path) -> None:
    rows = [(i, f"p{i % 3}", "", "12"[i % 2]) for i in range(60)]
    code, text = run(
        write(tmp_path / "l.csv", rows),
        "--judges",
        write(tmp_path / "j.csv", [(i, "m", "", "1") for i in range(60)], JUDGE),
    )
    assert code == 3
    assert "m: NO VERDICT: no human label has a majority of other humans" in text
    assert "one label only for all 60 units (item, country, question)" in " ".join(text.split())
    assert "no unit has two labels" in text
    assert not intervals(text)


def test_no_variation(tmp_path: Path) -> None:
    rows = [(i, who, "", "yes") for i in range(60) for who in "abc"]
    code, text = run(
        write(tmp_path / "l.csv", rows),
        "--judges",
        write(tmp_path / "j.csv", [(i, "m", "", "yes") for i in range(60)], JUDGE),
    )
    assert "Every label is 'yes' (n 180)" in text
    assert "STAND IN" not in text  # everybody agrees, and nothing shows that the judge reads
    assert "kappa undefined" in " ".join(text.split())
    assert code == 0  # the rates are what they are: 100% against 100%


def test_no_variation_and_no_judge(tmp_path: Path) -> None:
    code, text = run(write(tmp_path / "l.csv", [(i, who, "", "yes") for i in range(60) for who in "abc"]))
    assert code == 3
    assert "undefined (all paired labels are one and the same)" in " ".join(text.split())


def test_no_judge(tmp_path: Path) -> None:
    code, text = run(write(tmp_path / "l.csv", crossed(["US", "PK"], 40, 5)))
    assert code == 0
    assert "Whether a judge can replace a human: there is no judge. Add its labels with --judges FILE." in " ".join(
        text.split()
    )
    assert "JUDGE " not in text


def test_one_country(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows, truth = panel(rng, countries=("US",), items=40)
    code, text = run(
        write(tmp_path / "l.csv", rows), "--judges", write(tmp_path / "j.csv", judged(rng, truth, 0.9), JUDGE)
    )
    assert code == 0
    said = " ".join(text.split())
    assert "One country: nothing about differences between countries can be computed" in said
    assert "COUNTRIES" not in text
    assert "flatter" not in text


def test_one_judge_of_a_few_items_a_country(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows, truth = panel(rng, countries=tuple("ABCDEF"), items=10, people=5)
    code, text = run(
        write(tmp_path / "l.csv", rows), "--judges", write(tmp_path / "j.csv", judged(rng, truth, 0.9), JUDGE)
    )
    assert code == 0
    lines = [line.split() for line in text.splitlines() if re.match(r"    [A-F] ", line)]
    assert [line[0] for line in lines] == list("ABCDEF")
    assert all(line[-2:] == ["too", "few"] for line in lines)  # sixty items in all, ten in each
    assert "by country: A, B, C, D, E and F have fewer than 20 items" in " ".join(text.split())


@pytest.mark.parametrize("shared", [True, False])
def test_two_items_in_two_countries(tmp_path: Path, shared: bool) -> None:
    rows = [
        (i if shared else f"{c}{i}", f"{c}{who}", c, "12"[i]) for i in range(2) for c in ("US", "PK") for who in "ab"
    ]
    code, text = run(write(tmp_path / "l.csv", rows))
    assert code == 3
    assert ("no analysis of these labels can tell which" in " ".join(text.split())) != shared
    assert not re.search(r"lean: .*\d\.\d\d", text)


def test_a_judge_that_shares_no_item_or_no_label(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", crossed(["US"], 30, 3))
    code, text = run(labels, "--judges", write(tmp_path / "j.csv", [(i, "m", "", "maybe") for i in range(30)], JUDGE))
    assert "m: NO VERDICT: 0 of 30 answers are labels that humans used" in " ".join(text.split())
    assert "answers 'maybe' are no labels that humans used" in " ".join(text.split())
    assert code == 0  # the humans' own agreement is still there
