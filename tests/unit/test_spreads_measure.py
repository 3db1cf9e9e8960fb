"""What synthetic studies of the release are calibrated to, and how they are measured, by other routes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from countback.models.calibrate import SCALE_LIMIT, calibrate
from countback.models.heldout import held_out
from countback.models.simulate import JudgeTruth, Truth, nested, released_layout, simulate
from countback.models.spreads import (
    CELLS,
    EVENTS,
    HUMAN_RATE,
    JUDGE_RATES,
    MEAN_LABEL,
    NUISANCES,
    SCENARIOS,
    Nuisance,
    Scenario,
    calibrated,
    events,
    gather,
    measure,
    rows,
    run_batch,
    truth_of,
)

PI2 = np.pi**2 / 3


@pytest.mark.parametrize("nuisance", [Nuisance(0.3, 0.33, 0.0, 0.0), Nuisance(1.0, 0.06, 0.0, 0.25)])
def test_calibrated_rates_come_in_simulated_labels(nuisance):
    """Sixty thousand items with people of their own: every printed rate within 4.5 standard errors."""
    found, items = calibrated(nuisance), 60_000
    judges = tuple(
        JudgeTruth(scale, cutpoints=(scale * found.cutpoints[0], scale * found.cutpoints[1])) for scale in found.scales
    )
    sds = {"item": found.content, "annotator": nuisance.annotator, "judges": nuisance.together * found.content}
    layout = nested(1, 1, items, pool=5 * items, labels=5)  # in rotation, but no two items share more than four people
    sim = simulate(layout, Truth(sds, found.cutpoints, judges), np.random.default_rng(1))
    got = held_out(sim.item, sim.annotator, sim.label, sim.judge_label.reshape(4, -1), labels=3)
    error = 4.5 * 0.5 / items**0.5
    assert got.comparisons / layout.labels == pytest.approx(found.expected[0], abs=error)
    assert got.human_rate == pytest.approx(HUMAN_RATE, abs=error)
    assert found.expected[1] == pytest.approx(HUMAN_RATE)
    assert got.judge_rates == pytest.approx(np.array(found.expected[2:]), abs=error)
    assert (1 - sim.label.mean() / 2) == pytest.approx(MEAN_LABEL, abs=error)
    assert (sim.label == 1).mean() == pytest.approx(nuisance.middle, abs=error)
    for scale, expected, printed in zip(found.scales, found.expected[2:], JUDGE_RATES, strict=True):
        assert expected == pytest.approx(printed) if scale < SCALE_LIMIT else expected < printed


def test_what_cannot_be_met():
    assert calibrate(0.66, 0.36, 0.2, [0.99], 0.5, 0.0).scales == (SCALE_LIMIT,)
    with pytest.raises(ValueError, match="no calibration"):
        calibrate(0.2, 0.36, 0.3, [], 0.5, 0.0)  # below what labels of one constant distribution give


def test_the_variances_of_a_truth_add_up_whatever_the_countries_share():
    nuisance = Nuisance(0.6, 0.2, 0.2, 0.25)
    found = calibrated(nuisance)
    for share in (0.0, 0.1):
        truth = truth_of(nuisance, Scenario("", share, 0.3))
        variance = {name: sd**2 for name, sd in truth.sds.items() if name != "judges"}
        total = sum(variance.values()) + PI2
        assert variance["country"] / total == pytest.approx(share)
        assert total == pytest.approx(found.content**2 + 0.36 + PI2)
        content = total - PI2 - 0.36 - variance["country"]
        assert variance["question"] == pytest.approx(0.15 * content)
        assert variance["country:question"] == pytest.approx(0.2 * content)
        assert truth.sds["judges"] == pytest.approx(found.content / 4)
        assert [judge.follows for judge in truth.judges] == [0.3] * 4


def majority(labels):
    top = Counter(labels).most_common()
    return None if not top or (len(top) > 1 and top[0][1] == top[1][1]) else top[0][0]


def test_a_study_recounted_by_dictionaries():
    """The article's own way of counting, on labels with invalid ones and judges that miss some."""
    truth = truth_of(NUISANCES[20], SCENARIOS[1])
    judges = tuple(JudgeTruth(judge.scale, cutpoints=judge.cutpoints, missing=0.05) for judge in truth.judges)
    studies = [
        simulate(
            released_layout(), Truth(truth.sds, truth.cutpoints, judges, truth.invalid), np.random.default_rng(seed)
        )
        for seed in range(3)
    ]
    spreads, comparisons, hits, mean = [], 0, np.zeros(5), Fraction(0)
    for study in studies:
        labels: dict[int, list[int]] = {item: [] for item in range(124)}
        for item, label in zip(study.item.tolist(), study.label.tolist(), strict=True):
            if label >= 0:
                labels[item].append(label)
        judged = [study.judge_labels(judge).max(axis=1).tolist() for judge in range(4)]
        for item, given in labels.items():
            for k, own in enumerate(given):
                reference = majority(given[:k] + given[k + 1 :])
                if reference is not None:
                    comparisons += 1
                    hits += [own == reference, *(row[item] == reference for row in judged)]
        units = [i for i in labels if majority(labels[i]) is not None and all(row[i] >= 0 for row in judged)]
        spread = []
        for said in ({i: majority(labels[i]) for i in units}, *judged):
            leans = [np.mean([1 - said[i] / 2 for i in units if study.origin[i] == country]) for country in range(4)]
            spread.append(max(leans) - min(leans))
        spreads.append(spread)
        every = [label for given in labels.values() for label in given]
        mean += 1 - Fraction(sum(every), 2 * len(every))
    found = measure(studies)
    assert found.spreads == pytest.approx(np.array(spreads))
    assert found.comparisons == comparisons
    assert found.hits.tolist() == hits.tolist()
    assert found.mean_label == pytest.approx(float(mean))


def test_events_by_hand():
    human = [0.194, 0.194, 0.193, 0.25, 0.194]
    judges = [
        [0.055, 0.088, 0.145, 0.145],  # as printed
        [0.055, 0.088, 0.194, 0.05],  # one not below
        [0.1, 0.1, 0.1, 0.1],  # the human short of what is printed
        [0.1, 0.1, 0.1, 0.1],  # too far from it
        [0.12, 0.12, 0.12, 0.12],  # 0.62 of it
    ]
    found = events(np.column_stack([human, judges]))
    assert found.tolist() == [
        [True, True, True, True],
        [True, False, True, True],
        [False, True, True, True],
        [True, True, True, False],
        [True, True, False, True],
    ]
    assert len(EVENTS) == 4


def test_batches_are_put_together_by_cell():
    wide, narrow = [0.3, 0.1, 0.1, 0.1, 0.1], [0.2, 0.3, 0.05, 0.05, 0.05]
    same = {"studies": 2, "comparisons": 1000, "hits": [660, 700, 710, 720, 730], "mean label": 0.7}
    batches = []
    for cell in range(len(CELLS)):
        second = [wide, wide] if cell % 5 == 3 else [narrow, narrow]
        batches += [{"cell": cell, "spreads": spreads, **same} for spreads in ([wide, narrow], second)]
    found = gather(batches)
    assert (found.studies == 4).all()
    assert (found.events[:, 3, 1] == 0.75).all()
    assert (found.events[:, 0, 1] == 0.25).all()
    assert found.rates[7, 2].tolist() == [0.66, 0.7, 0.71, 0.72, 0.73]
    assert (found.comparisons == 500).all()
    assert found.mean_label == pytest.approx(0.35)
    shown = {row["name"]: row for row in rows(found)}
    below = shown[f"P({EVENTS[1]} | {SCENARIOS[3].name})"]
    assert (below["value"], below["low"], below["high"]) == (0.75, 0.75, 0.75)
    assert below["mc_error"] == pytest.approx((0.75 * 0.25 / 4) ** 0.5)
    ratio = shown[f"P({EVENTS[1]}): {SCENARIOS[3].name} over {SCENARIOS[1].name}"]
    assert ratio["value"] == 3
    assert ratio["mc_error"] == pytest.approx(3 * (0.25 / 0.75 / 4 + 0.75 / 0.25 / 4) ** 0.5)
    near = shown[f"P({EVENTS[3]}): {SCENARIOS[3].name} over {SCENARIOS[1].name}"]
    assert near["value"] == near["low"] == near["high"] == pytest.approx(1 / 3)


def test_cells_of_a_batch_have_the_same_draws():
    """With the country's effect at 0 the judges' following it or not is the same study."""
    number = next(k for k, (_, scenario) in enumerate(CELLS) if scenario == 0)
    one = run_batch(number, 5)
    assert one["spreads"].shape == (5, 5)
    assert run_batch(number, 5)["spreads"].tolist() == one["spreads"].tolist()
    assert run_batch(number + len(CELLS), 5)["spreads"].tolist() != one["spreads"].tolist()
    follows, flat = (run_batch(k, 5)["spreads"] for k in (1, 3))
    assert (follows[:, 0] == flat[:, 0]).all()  # the human's labels do not depend on judges
    assert (follows[:, 1:] != flat[:, 1:]).any()
