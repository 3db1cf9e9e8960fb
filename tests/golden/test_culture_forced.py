"""What the printed counts and cells of the CuBEs article force, and the noise correction against a known analysis.

Source of the counts: the audit article on CuBEs, section on how a Figure 3 cell is made; methods, sections 4 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from countback.models.culture import MODAL_GRID, POOLED_MODE, lean
from countback.models.dispersion import noise_corrected
from countback.models.grid import modal_grid, tie_report
from countback.models.nulls import adjust_bh, adjust_bonferroni, grid_counts
from countback.models.votes import Votes, tally

# The cell, its pooled labels, its number of items of five labels, the letter printed, the letter of a pooled mode,
# and whether the counts force a tie behind the printed letter. The article lists all three among its five ties, but
# ABBBC, ACCCC, BBBCC show B for political balance without any.
CELLS = [
    ("shutdown", "AAAABBBBCCCCCCC", 3, "A", "C", True),
    ("political balance", "AABBBBBBCCCCCCC", 3, "B", "C", False),
    ("statistical stereotype", "AAABBBBCCC", 2, "A", "B", True),
]


def votes(words: list[tuple[int, str]]) -> Votes:
    """Items of one country, each (question, its labels)."""
    rows = [(i, q, "ABC".index(letter)) for i, (q, word) in enumerate(words) for letter in word]
    item, question, label = np.array(rows).T
    return tally(item, np.zeros_like(item), label, 3, question=question)


def splits(labels: str, items: int) -> Iterator[tuple[str, ...]]:
    """Every way to share out the labels over items of five, order aside."""
    words = ["A" * a + "B" * b + "C" * (5 - a - b) for a in range(6) for b in range(6 - a)]
    for chosen in product(words, repeat=items):
        if "".join(sorted("".join(chosen))) == labels and list(chosen) == sorted(chosen):
            yield chosen


def by_hand(words: tuple[str, ...]) -> tuple[str, bool, bool]:
    """The article's rule in plain Python: the letter, whether any item is a tie, whether the cell is."""

    def leaders(letters: str) -> list[str]:
        count = Counter(letters)
        return sorted(x for x in count if count[x] == max(count.values()))

    majorities = [leaders(word) for word in words]
    top = leaders("".join(m[0] for m in majorities))
    return top[0], any(len(m) > 1 for m in majorities), len(top) > 1


@pytest.mark.parametrize(("name", "labels", "items", "printed", "pooled", "forced"), CELLS)
def test_a_printed_cell_under_both_rules(
    name: str, labels: str, items: int, printed: str, pooled: str, forced: bool
) -> None:
    showing, without_tie = 0, 0
    for words in splits(labels, items):
        table = votes([(0, word) for word in words])
        letter, item_tie, cell_tie = by_hand(words)
        assert "ABC"[modal_grid(table).letters[0, 0]] == letter
        assert "ABC"[modal_grid(table, POOLED_MODE).letters[0, 0]] == pooled
        report = tie_report(table)
        assert (report.tied_items[0, 0] > 0, report.tied_cell[0, 0]) == (item_tie, cell_tie)
        if letter == printed:
            showing += 1
            without_tie += not (item_tie or cell_tie)
    assert showing > 0, name
    assert (without_tie == 0) == forced


def test_pakistan_falls_from_059_to_041_under_the_pooled_mode() -> None:
    # The three cells lose 1 + 0.5 + 0.5 = 2 points of 11. Eight more cells without ties make up 6.5 in all:
    # 2.5 from the three, so 4 from the eight (four A, four C); 6.5 - 2 = 4.5 by the pooled mode.
    words: list[tuple[int, str]] = []
    for question, (_, labels, items, printed, *_) in enumerate(CELLS):
        chosen = next(split for split in splits(labels, items) if by_hand(split)[0] == printed)
        words += [(question, word) for word in chosen]
    words += [(question, "AAAAA" if question < 7 else "CCCCC") for question in range(3, 11) for _ in range(3)]
    table = votes(words)
    assert lean(table)[0] == pytest.approx(6.5 / 11)
    assert lean(table, POOLED_MODE)[0] == pytest.approx(4.5 / 11)
    assert f"{lean(table)[0]:.2f}, {lean(table, POOLED_MODE)[0]:.2f}" == "0.59, 0.41"


def test_printed_leans_force_the_sum_of_the_eleven_cells() -> None:
    # Each sum of eleven cells of 1, 0.5 or 0 is a multiple of 0.5: one prints as each value.
    for printed, total in {"0.59": 6.5, "0.45": 5.0, "0.27": 3.0, "0.23": 2.5}.items():
        assert [half / 2 for half in range(23) if f"{half / 22:.2f}" == printed] == [total]
        letters = [0] * int(total) + [1] * int(2 * (total % 1)) + [2] * (11 - int(total) - int(2 * (total % 1)))
        table = votes([(question, "ABC"[letter] * 5) for question, letter in enumerate(letters)])
        assert lean(table, MODAL_GRID)[0] == pytest.approx(total / 11)


def test_two_small_p_values_do_not_survive_eleven_tests() -> None:
    # Printed: 0.029 and 0.041, nine others at or above 0.05: 11 x 0.029 = 0.319, and Benjamini-Hochberg at best
    # min(11 x 0.029 / 1, 11 x 0.041 / 2, 11 x 0.05 / 11) if all the others were 0.05.
    p = np.array([0.029, 0.041, *[0.05] * 9])
    assert adjust_bonferroni(p)[0] == pytest.approx(0.319)
    assert adjust_bh(p).min() == pytest.approx(0.05)
    p = np.array([0.029, 0.041, *np.linspace(0.1, 1, 9)])
    assert adjust_bh(p).min() == pytest.approx(11 * 0.041 / 2)


def test_the_counts_of_a_grid_are_over_questions() -> None:
    # A grid of twelve countries with the published counts: eight questions show all three letters, one is unanimous.
    columns = ["ABCABCABCABC"] * 8 + ["CCCCCCCCCCCC"] + ["AACCAACCAACC"] * 2
    grid = np.array([["ABC".index(column[c]) for column in columns] for c in range(12)])
    assert grid_counts(grid, 3).tolist() == [8, 1]


# Thirteen trials of the BCG vaccine (Colditz et al. 1994): cases and non-cases, vaccinated and control.
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ]
)


def test_noise_correction_on_the_standard_example_of_meta_analysis() -> None:
    # metafor's dat.bcg, log relative risks: Q(12) = 152.23; tau^2 by Hedges 0.3286, by Paule and Mandel 0.3181;
    # Q-profile interval of tau^2 0.1197 to 1.1115 (Viechtbauer 2010, Journal of Statistical Software 36(3)).
    a, b, c, d = BCG.T
    effect = np.log(a / (a + b)) - np.log(c / (c + d))
    variance = 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)
    moments = noise_corrected(effect, np.diag(variance))
    assert moments.variance == pytest.approx(0.3286, abs=5e-5)
    assert moments.q == pytest.approx(152.233, abs=5e-4)
    assert moments.df == 12
    assert (moments.ci_low**2, moments.ci_high**2) == pytest.approx((0.1197, 1.1115), abs=5e-5)
    mandel = noise_corrected(effect, np.diag(variance), method="paule-mandel")
    assert mandel.variance == pytest.approx(0.3181, abs=5e-5)
    assert mandel.sd == pytest.approx(mandel.variance**0.5)
