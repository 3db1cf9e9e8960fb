"""The stored study of how surprising the released spreads are: it is the code's, and its numbers are found again."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from countback.claims.registry import PAPERS
from countback.claims.stored import stored
from countback.models.spreads import (
    BATCHES,
    CELLS,
    EVENTS,
    NEAR,
    NUISANCES,
    QUESTION,
    REPLICATES,
    SCENARIOS,
    SEED,
    answer,
    events,
    reading,
    run_batch,
)

STUDY = json.loads((PAPERS / "cubes" / "studies" / "spreads.json").read_text(encoding="utf-8"))
CELL = np.array(STUDY["cells"])  # nuisances, scenarios, events
ROWS = {row["name"]: row for row in STUDY["rows"]}


def test_it_was_made_with_the_settings_of_the_code():
    assert STUDY["schema"] == "countback.study/1"
    assert STUDY["seed"] == SEED
    settings = STUDY["settings"]
    assert settings["nuisances"] == [asdict(each) for each in NUISANCES]
    assert settings["scenarios"] == [asdict(each) for each in SCENARIOS]
    assert settings["studies of a calibration and a scenario"] == REPLICATES * BATCHES
    assert (settings["content of questions"], settings["near"]) == (QUESTION, NEAR)
    assert CELL.shape == (len(NUISANCES), len(SCENARIOS), len(EVENTS))


def test_rows_are_those_of_the_cells():
    for event, scenario in ((0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (1, 4), (2, 3)):
        row, each = ROWS[f"P({EVENTS[event]} | {SCENARIOS[scenario].name})"], CELL[:, scenario, event]
        found = [row[key] for key in ("value", "low", "high")]
        assert found == pytest.approx([each.mean(), each.min(), each.max()], abs=2e-4)
        error = (row["value"] * (1 - row["value"]) / (REPLICATES * BATCHES)) ** 0.5
        assert row["mc_error"] == pytest.approx(error, abs=1e-4)
    for event, one, other in ((1, 3, 1), (3, 3, 0), (3, 4, 2)):
        row = ROWS[f"P({EVENTS[event]}): {SCENARIOS[one].name} over {SCENARIOS[other].name}"]
        assert row["value"] == pytest.approx(CELL[:, one, event].mean() / CELL[:, other, event].mean(), rel=0.02)
        assert row["low"] <= row["value"] <= row["high"]


@pytest.mark.parametrize(("nuisance", "scenario"), [(0, 0), (12, 3), (35, 1), (22, 4)])
def test_a_part_is_found_again_with_other_draws(nuisance, scenario):
    """Three hundred studies by another seed, within 4.5 standard errors of the difference."""
    batch = run_batch(CELLS.index((nuisance, scenario)), 300, seed=7)
    found = events(batch["spreads"]).mean(axis=0)
    kept = CELL[nuisance, scenario]
    all_kept = REPLICATES * BATCHES
    rates = (300 * found + all_kept * kept) / (300 + all_kept)
    error = np.sqrt(rates * (1 - rates) * (1 / 300 + 1 / all_kept))
    assert (np.abs(found - kept) <= 4.5 * error).all(), (found, kept)


def test_synthetic_studies_resemble_what_is_printed():
    """The human's rate and the mean label everywhere; the judges where they follow the countries or there are none."""
    for name, each in STUDY["settings"]["printed, and lowest and highest mean over calibrations and scenarios"].items():
        if name in ("held-out human", "mean label"):
            assert abs(each["low"] - each["printed"]) < 0.02, name
            assert abs(each["high"] - each["printed"]) < 0.02, name
        elif name == "comparisons":
            assert 485 <= each["low"] <= each["high"] <= 525
        else:
            assert each["low"] > each["printed"] - 0.1, name  # flattened, share 10%: a judge that follows less
            assert each["high"] < each["printed"] + 0.02, name


def test_it_says_in_sentences_what_its_rows_hold():
    words = " ".join(STUDY["answer"])
    for row in (
        ROWS[f"P({EVENTS[0]} | {SCENARIOS[0].name})"],
        *(ROWS[f"P({EVENTS[1]} | {SCENARIOS[number].name})"] for number in (0, 1, 3)),
    ):
        assert f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})" in words
    assert STUDY["answer"] == answer(STUDY["rows"])
    alike = STUDY["settings"]["printed, and lowest and highest mean over calibrations and scenarios"]
    assert STUDY["reading"] == reading(STUDY["rows"], alike, REPLICATES * BATCHES)
    assert "at worst 0.72 for 0.81" in STUDY["reading"]
    assert "synthetic" in STUDY["title"]


def test_it_says_which_share_its_ratios_are_of_and_gives_both():
    """At 3% flattening and no country are alike, at 10% flattening is the rarer: one of them alone would mislead."""
    for sentence, flattened, followed, share in ((2, 3, 1, "3%"), (3, 4, 2, "10%")):
        assert share in STUDY["answer"][sentence]
        for other in (followed, 0):
            ratio = CELL[:, flattened, 3].mean() / CELL[:, other, 3].mean()
            assert f" {ratio:.1f} (" in STUDY["answer"][sentence]


def test_the_report_can_draw_it():
    (picture,) = (each for each in stored(PAPERS / "cubes", "cubes") if each.title == STUDY["title"])
    assert len(picture.bars) == len(STUDY["rows"])
