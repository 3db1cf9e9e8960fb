"""The country's share on real crossed labels: what was kept, lme4's variances, and the rule of cubes/p2.

What the numbers mean is in shares.md.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent
KEPT = json.loads((HERE / "shares.json").read_text(encoding="utf-8"))

# lmer(label ~ 1 + (1|item) + (1|country) + (1|item:country) + (1|annotator)), lme4 1.1.31, R 4.2.2, REML.
LME4 = {
    "multi3hate": (0.0010517, 0.0729584, 0.0195099, 0.0164536, 0.1349541),
    "Toxicity": (0.1008960, 0.9518612, 0.2470480, 0.0180244, 0.3942871),
    "Microaggression": (0.0584798, 0.0054651, 0.0707639, 0.0015643, 0.0636034),
}
NAMES = ("country", "item", "item_country", "annotator", "residual")


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("share_cases")


def test_what_was_kept_is_found_again(cases: Any, shared: Path) -> None:
    found = json.loads(json.dumps(cases.real(shared)))
    assert list(found["rtp_lx"]) == list(KEPT["real"]["rtp_lx"])
    pairs = [(found["multi3hate"], KEPT["real"]["multi3hate"])]
    pairs += [(found["rtp_lx"][name], kept) for name, kept in KEPT["real"]["rtp_lx"].items()]
    for one, other in pairs:
        assert list(one) == list(other)
        for name, value in other.items():
            assert one[name] == value or one[name] == pytest.approx(value, rel=1e-3), name


def test_lme4_on_balanced_labels() -> None:
    """Where every cell has as many labels REML and moments are the same, while no variance is negative."""
    for question in ("Toxicity", "Microaggression"):
        kept = KEPT["real"]["rtp_lx"][question]["variances"]
        assert [kept[name] for name in NAMES] == pytest.approx(LME4[question], rel=3e-4)


def test_lme4_on_labels_that_are_not() -> None:
    """REML and moments weigh annotators of 16 labels differently; their sums agree."""
    kept = KEPT["real"]["multi3hate"]["variances"]
    total, by_lme4 = sum(kept.values()), sum(LME4["multi3hate"])
    assert total == pytest.approx(by_lme4, rel=0.02)
    for name, value in zip(NAMES, LME4["multi3hate"], strict=True):
        assert kept[name] / total == pytest.approx(value / by_lme4, abs=0.03), name
    assert kept["country"] / total == pytest.approx(0.005, abs=0.001)


def test_a_question_of_rtp_lx_by_mean_squares(cases: Any, shared: Path) -> None:
    """Pandas and the textbook's mean squares: all 999 prompts have three labels in each of 26 locales."""
    labels = pd.DataFrame(dict(zip(("i", "c", "a", "y"), cases.rtp_lx(shared)["Violence"], strict=True)))
    full = labels.pivot_table(index="i", columns=["c", "a"], values="y").dropna()
    assert len(full) == 999
    y = full.to_numpy().reshape(len(full), 26, 3)
    i, c, ic, a, m = y.mean((1, 2)), y.mean((0, 2)), y.mean(2), y.mean(0), y.mean()
    ms_c = len(y) * 3 * ((c - m) ** 2).sum() / 25
    ms_ic = 3 * ((ic - i[:, None] - c + m) ** 2).sum() / 25 / (len(y) - 1)
    ms_a = len(y) * ((a - c[:, None]) ** 2).sum() / 52
    ms_e = ((y - ic[:, :, None] - a + c[:, None]) ** 2).sum() / 52 / (len(y) - 1)
    country = (ms_c - ms_ic - ms_a + ms_e) / (3 * len(y))
    assert KEPT["real"]["rtp_lx"]["Violence"]["variances"]["country"] == pytest.approx(country, rel=2e-5)


def test_a_nested_part_of_real_labels_is_refused(cases: Any, shared: Path) -> None:
    """Multi3Hate as if each meme had been shown in one country only."""
    item, country, annotator, label = cases.multi3hate(shared)
    own = item % 5 == country
    with pytest.raises(cases.UserError, match="confounded"):
        cases.country_share(item[own], country[own], annotator[own], label[own])


# --- coverage ---------------------------------------------------------------------------------------------------------


def test_intervals_cover_as_often_as_they_say() -> None:
    rows = [row for design in KEPT["simulated"].values() for row in design.values()]
    assert len(rows) == 20
    covered = np.array([row["covered"] for row in rows])
    assert covered.min() >= 0.95 - 4 * (0.95 * 0.05 / KEPT["data sets"]) ** 0.5
    assert covered.mean() == pytest.approx(0.95, abs=0.02)
    assert all(row["covered, these countries"] > 0.88 for row in rows)
    # A country's share just below 5% is as seldom called one thing as the other.
    for row in (row for row in rows if 0.03 < row["true share"] < 0.05):
        assert max(row["confirmed"], row["broken"]) < 0.06


def test_resampling_items_takes_these_countries_for_all() -> None:
    for found in KEPT["other intervals at latent 0.06"].values():
        assert found["bootstrap of items: true share"] < 0.9
        assert found["F and jackknife: true share"] > 0.92


@pytest.mark.parametrize(("row", "column"), [(0, 2), (1, 0)])
def test_a_part_of_the_coverage_again(row: int, column: int, cases: Any) -> None:
    """The first 40 of the 200 data sets of a design, by their own seed; and the whole mean against its error."""
    name, design = list(cases.DESIGNS.items())[row]
    share = cases.LATENT_SHARES[column]
    found = cases.study(design, share, 40, np.random.default_rng([cases.SEED, row, column]))
    kept = KEPT["simulated"][name][f"latent {share}"]
    assert found["true share"] == pytest.approx(kept["true share"], abs=1e-6)
    error = kept["Monte Carlo error of the mean"] * (200 / 40) ** 0.5
    assert found["mean estimate"] == pytest.approx(kept["mean estimate"], abs=4 * error)
    assert found["covered"] >= 0.8
    assert kept["mean estimate"] == pytest.approx(kept["true share"], abs=4 * kept["Monte Carlo error of the mean"])


def test_the_true_share_by_brute_force(cases: Any) -> None:
    """Quadrature against two million labels: variance of the countries' means over the variance of labels."""
    design = cases.Design(2, 2000, 1, 1, cases.THREE)
    rng = np.random.default_rng(1)
    _, truth, _ = cases.simulate(design, 0.2, rng)
    rest = cases.ITEM + cases.ITEM_COUNTRY + cases.ANNOTATOR + 1
    effects = rng.normal(0, (rest * 0.25) ** 0.5, 2000)[:, None]
    label = np.searchsorted(cases.THREE, effects + rng.normal(0, rest**0.5, (2000, 1000)))
    between = label.mean(axis=1).var() - label.var(axis=1, ddof=1).mean() / 1000
    assert truth == pytest.approx(between / label.var(), abs=0.012)
