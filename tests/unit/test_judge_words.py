"""Every finding has its sentence, with the numbers behind it and no more digits than they bear."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from countback.audit.judge import audit_labels, notes, places, text, words
from countback.audit.judge.settings import read_settings
from countback.audit.judge.tree import Comparison, CountryTest, Figure, Lean, Trap, plain
from countback.fetch import readers as fetch_readers
from judge_data import judged, panel, write

AUDIT = Path(words.__file__).parent
ENDS = ((np.nan, np.nan), (np.nan, np.nan))


def figure(value: float, low: float, high: float, clusters: int) -> Figure:
    return Figure(value, low, high, 500, "comparisons", clusters, "percentile", 0.95)


def test_every_kind_that_is_found_has_words() -> None:
    source = "".join((AUDIT / f"{name}.py").read_text(encoding="utf-8") for name in ("__init__", "traps"))
    traps = set(re.findall(r'Trap\(\s*"([^"]+)"', source))
    advice = set(re.findall(r'Advice\([^,]+, "([^"]+)"', source))
    assert len(traps) > 20
    assert len(advice) > 10
    assert traps <= set(notes._TRAPS)
    assert advice == set(words._ADVICE) == set(words.HEADS)
    choices = set(re.findall(r'Choice\("([^"]+)"', (AUDIT / "input.py").read_text(encoding="utf-8")))
    assert choices - {"country column"} == set(notes._CHOICES)


def test_every_flag_of_a_reader_says_whether_what_it_is_about_counts() -> None:
    readers = Path(fetch_readers.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in readers.glob("*.py"))
    flags = set(re.findall(r'\bflags\["([^"]+)"\]', source))
    assert len(flags) == 8
    assert flags == set(notes._FLAGS)
    (line,) = notes.trap_lines([Trap("flag", {"flag": "drafts of an annotation that was submitted", "number": 1300})])
    assert line == "Drafts of an annotation that was submitted: 1,300. They are not read; what was submitted counts."


@pytest.mark.parametrize(
    ("value", "low", "high", "clusters", "said"),
    [
        (0.1084, 0.0291, 0.1874, 30, "+11 points [+3, +19]"),
        (0.1084, 0.0291, 0.1874, 300, "+10.8 points [+2.9, +18.7]"),
        (-0.0004, -0.1, 0.1, 300, "0.0 points [-10.0, +10.0]"),  # no minus before nothing
        (0.3, 0.0, 0.6, 5, "+30 points, too few items for an interval"),
        (np.nan, np.nan, np.nan, 50, "undefined"),
    ],
)
def test_points(value: float, low: float, high: float, clusters: int, said: str) -> None:
    assert words.points(figure(value, low, high, clusters)) == said


def test_coefficients_and_shares() -> None:
    assert words.number(figure(0.4567, 0.35, 0.55, 40)) == "0.46 [0.35, 0.55]"
    assert words.number(figure(1.0, 1.0, 1.0, 40)) == "1.00"  # no interval where every resample is the same
    assert words.number(figure(0.4567, 0.35, 0.55, 4)) == "0.5 (too few items for an interval)"
    assert words.share(0.12345, 50) == "12%"
    assert words.share(0.12345, 500) == "12.3%"
    assert words.share_with_ends(figure(0.5, 0.4, 0.6, 50)) == "50% [40%, 60%]"
    assert words.listed(["a"]) == "a"
    assert words.listed("abc") == "a, b and c"
    assert words.listed("abcdefgh") == "a, b, c, d, e, f and 2 more"
    assert (words.counted(1, "judge"), words.counted(1200, "item")) == ("1 judge", "1,200 items")


def test_the_same_trap_of_several_judges_is_said_once() -> None:
    traps = [Trap("one answer", {"judge": name, "named": False, "countries": 5}) for name in ("a", "b")]
    traps.append(Trap("one answer", {"judge": "c", "named": True, "countries": 5}))
    first, second = notes.trap_lines(traps)
    assert first.startswith("a and b: one answer for all 5 countries.")
    assert second.startswith("c: one answer for all 5 countries, although it is given for each.")


def test_plain_values_know_no_nan() -> None:
    assert plain({"x": np.float64("nan"), ("a", "b"): np.int64(3), "l": (np.array([1.5, np.inf]),)}) == {
        "x": None,
        "a, b": 3,
        "l": [[1.5, None]],
    }


def test_many_judges_of_whom_it_is_open_share_a_sentence(tmp_path: Path) -> None:
    """As good as the humans are, by construction, on 40 items, which cannot show it."""
    rng = np.random.default_rng(3)
    rows, truth = panel(rng, countries=("US",), items=40, people=5, right=0.75)
    labels = write(tmp_path / "l.csv", [(i, who, label) for i, who, _, label in rows], ("item", "annotator", "label"))
    for number in (4, 2):
        names = [f"judge {k}" for k in range(number)]
        said = [(i, name, label) for name in names for i, _, _, label in judged(rng, truth, 0.75, name=name)]
        judges = write(tmp_path / "j.csv", said, ("item", "judge", "label"))
        audit = audit_labels(labels, judges, read_settings(labels, judges), draws=200)
        rows_of = {row.judge: row.facts for row in audit.advice if row.kind == "collect"}
        assert list(rows_of) == names
        lines = [(about, why) for about, what, why in words.advice_lines(audit) if what == "COLLECT MORE"]
        assert len(lines) == (1 if number == 4 else 2)
        assert lines[0][0] == ("judge 0, judge 1, judge 2 and judge 3" if number == 4 else "judge 0")
        for name, told in rows_of.items():
            assert any(words.points(told["overall"].difference) in why and name in about + why for about, why in lines)
        least, most = (f"{end(told['needed'] for told in rows_of.values()):,}" for end in (min, max))
        assert number == 2 or f"takes about {least} to {most} items like these instead of 40." in lines[0][1]


def test_behind_in_the_only_country_is_said_once() -> None:
    """A judge of one country is not "behind in 1 of 1 countries", which repeats what stands before."""
    behind = [Comparison("IN", "skip", 128, 34, 0, 0, 0, 0.73, 0.45, figure(-0.28, -0.47, -0.08, 34), *ENDS, "behind")]
    assert words._where_behind({"behind": behind, "countries": 1}) == " It was held against one country only, IN."
    assert words._where_behind({"behind": behind, "countries": 4}) == (
        " It is behind in 1 of 4 countries (IN: -28 points [-47, -8], n 128); chance alone would show about 0.1."
    )
    behind.append(replace(behind[0], where="US", difference=figure(-0.3, -0.5, -0.1, 34)))
    assert "2 of 4 countries (IN and US; most in US: -30 points [-50, -10], n 128)" in words._where_behind(
        {"behind": behind, "countries": 4}
    )


def test_the_words_that_stand_in_an_audit_are_explained_and_no_others() -> None:
    assert [word for word, _ in words.glossary("judge 3 points, 12 units (p 0.004)")] == ["unit", "points", "p"]
    assert words.glossary("leaning on kappas2 in gpt4_p, of the community") == []
    assert all(meaning.endswith(".") and meaning.isascii() for _, meaning in words.GLOSSARY)


@pytest.mark.parametrize(
    ("corrected", "said"),
    [
        ([0.001], "countries differ by more than shuffled ones"),
        ([0.06], "shuffled countries differ as much: no difference is shown"),
        ([0.05, 0.051], "countries differ by more than shuffled ones in 1 of 2 questions (BH up to 0.05); in the "
         "others no difference is shown"),
        ([0.01, 0.02, np.nan], "countries differ by more than shuffled ones in 2 of 2 questions (BH up to 0.05)"),
        ([np.nan], "no question has two countries to compare"),
    ],
)  # fmt: skip
def test_what_permutation_tests_come_to(corrected: list[float], said: str) -> None:
    tests = [CountryTest(f"q{k}", 10, p / 2, p, p, 999, "") for k, p in enumerate(corrected)]
    assert places.tests_sentence(tests) == said


@pytest.mark.parametrize(("p", "said"), [(0.05, "more than noise"), (0.051, "which noise alone may make")])
def test_a_spread_says_whether_noise_makes_it(p: float, said: str) -> None:
    ends = {"US": figure(0.6, 0.5, 0.7, 40), "CN": figure(0.4, 0.3, 0.5, 40), "IN": figure(0.5, 0.4, 0.6, 40)}
    lean = Lean("", ends, figure(0.2, 0.1, 0.3, 40), 0.05, 0.01, 0.1, 0.08, 0.12, p)
    where, spread = places.lean_sentences(lean, alone=True)
    assert where == "lean: CN 0.40 [0.30, 0.50], IN 0.50 [0.40, 0.60], US 0.60 [0.50, 0.70]"
    assert spread.startswith(f"spread 0.20 [0.10, 0.30], {said}: noise alone reaches 0.12 in 5% of draws (p {p:.3f});")
    assert "IN" not in places.lean_sentences(lean, alone=False)[0]


TABLE = (
    ("", "n", "human", "judge is"),
    [["all", "260", "40%", "open"], ["A country of some length", "130", "38%", "behind"], ["few", "1", "", "too few"]],
)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            60,
            [
                "                                n  human  judge is",
                "    all                       260    40%  open",
                "    A country of some length  130    38%  behind",
                "    few                         1         too few",
            ],
        ),
        (
            40,
            [
                "            n  human  judge is",
                "    all",
                "          260    40%  open",
                "    A country of some length",
                "          130    38%  behind",
                "    few",
                "            1         too few",
            ],
        ),
        (
            24,
            [
                "      all: n 260, human",
                "      40%, judge is open",
                "      A country of some",
                "      length: n 130,",
                "      human 38%, judge",
                "      is behind",
                "      few: n 1, judge is",
                "      too few",
            ],
        ),
    ],
)
def test_a_table_fits_the_terminal(columns: int, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert "\n".join(text.table(*TABLE)).splitlines() == expected
