"""How surprising the spreads of the CuBEs release are, from simulated studies of its shape; everything is synthetic.

The lean of the human majority differs by 0.194 between four countries, those of four judges by less. Labels of four
countries with items of their own cannot say why. What can be said is how often such spreads come about
    no country     where countries do not differ,
    followed       where they do, and judges follow the difference,
    flattened      where they do, and judges follow 30% of it.

Every study has the release's layout (`simulate.released_layout`) and is calibrated to what the article prints: the
rates of the held-out human and of each judge, and the mean label (`calibrate`). That leaves open how large annotators'
differences are, how many labels are in the middle, how content is divided between cells and items, and whether judges
err together. All are swept (`NUISANCES`), and the answer is a range.

Derived again independently, from these words by a program written apart (calibration over all 243 orders of five
labels, Gauss and Hermite; 270,000 studies, draws of their own): every row stored is within two Monte Carlo errors.

    python -m countback.models.spreads spreads.json --folder DIR     writes the stored study, resumable in DIR
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import scipy
from countback.models.calibrate import Calibrated, calibrate
from countback.models.culture import MAJORITY, lean
from countback.models.heldout import held_out
from countback.models.ordinal import RESIDUAL
from countback.models.resampling import Floats, Ints, mc_error_share
from countback.models.simulate import JUDGES, JudgeTruth, Simulated, Truth, released_layout, simulate
from countback.models.studies import write_study
from countback.models.votes import Votes, same_units, tally
from numpy.typing import NDArray

SCHEMA = "countback.study/1"
SEED, REPLICATES, BATCHES, GROUP = 20261129, 200, 10, 5
LABELS = 3

# --- what the article prints ------------------------------------------------------------------------------------------

HUMAN_SPREAD, JUDGE_SPREADS = 0.194, (0.055, 0.088, 0.145, 0.145)
HALF_UNIT = 0.0005  # of a number printed with three decimals
COMPARISONS, HUMAN_RATE = 491, 324 / 491
JUDGE_RATES = (350 / 491, 398 / 491, 377 / 491, 332 / 491)  # in the order of JUDGE_SPREADS
MEAN_LABEL = (0.473 + 0.305 + 0.309) / 3  # of three countries; the fourth's is not printed
INVALID = (21 / 157, 0.0, 0.0, 0.0)

# --- what it leaves open ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nuisance:
    """`annotator`: standard deviation of people, in logits. `middle`: share of labels that are the middle one.

    Of the variance of content QUESTION is of questions, `cell` of questions within a country, the rest of items.
    `together`: standard deviation of what all judges see in an item and humans do not, over that of content.
    """

    annotator: float
    middle: float
    cell: float
    together: float


@dataclass(frozen=True)
class Scenario:
    """`share`: the country's share of the latent variance; `follows`: how much of its effects the judges take over."""

    name: str
    share: float
    follows: float


QUESTION = 0.15
NUISANCES = tuple(Nuisance(*each) for each in product((0.3, 0.6, 1.0), (0.06, 0.2, 0.33), (0.0, 0.2), (0.0, 0.25)))
SCENARIOS = (
    Scenario("no country", 0.0, 1.0),
    Scenario("followed, share 3%", 0.03, 1.0),
    Scenario("followed, share 10%", 0.10, 1.0),
    Scenario("flattened, share 3%", 0.03, 0.3),
    Scenario("flattened, share 10%", 0.10, 0.3),
)
CELLS = tuple(product(range(len(NUISANCES)), range(len(SCENARIOS))))

# --- studies ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=len(NUISANCES))
def calibrated(nuisance: Nuisance) -> Calibrated:
    """Cutpoints, content and judges that meet the printed rates in expectation."""
    return calibrate(HUMAN_RATE, MEAN_LABEL, nuisance.middle, JUDGE_RATES, nuisance.annotator, nuisance.together)


def truth_of(nuisance: Nuisance, scenario: Scenario) -> Truth:
    """The truth of a simulated study: content and country together vary as calibrated, whatever the country's share.

    Judges are calibrated as if they followed the countries, so those that do not hit a little less often than printed.
    """
    found = calibrated(nuisance)
    country = scenario.share * (found.content**2 + nuisance.annotator**2 + RESIDUAL)
    content = found.content**2 - country
    parts = {
        "country": country,
        "question": QUESTION * content,
        "country:question": nuisance.cell * content,
        "item": (1 - QUESTION - nuisance.cell) * content,
        "annotator": nuisance.annotator**2,
        JUDGES: (nuisance.together * found.content) ** 2,
    }
    return Truth(
        {name: float(variance**0.5) for name, variance in parts.items()},
        found.cutpoints,
        tuple(
            JudgeTruth(scale, scenario.follows, cutpoints=(scale * found.cutpoints[0], scale * found.cutpoints[1]))
            for scale in found.scales
        ),
        INVALID,
    )


@dataclass(frozen=True)
class Measured:
    """Of several studies: `spreads` (studies, 5) of the majority leans, the human's first; the rest summed.

    `hits` are of the human and the judges, of `comparisons`; `mean_label` is a sum of means.
    """

    spreads: Floats
    comparisons: int
    hits: Floats
    mean_label: float


def measure(studies: Sequence[Simulated]) -> Measured:
    """What the article prints of the release, on the units that have a human majority; label 0 is the strictest.

    Studies of one layout are measured together, as if each had countries and items of its own: that is faster.
    """
    lay, count = studies[0].layout, len(studies)

    def apart(codes: Ints, size: int) -> Ints:
        return (np.arange(count)[:, None] * size + codes).ravel()

    def votes(item: Ints, country: Ints, label: Ints) -> Votes:
        places = {"n_countries": count * lay.countries, "n_questions": lay.questions}
        question = np.tile(lay.item_question[item], count)
        return tally(apart(item, lay.items), apart(country, lay.countries), label, LABELS, question=question, **places)

    item, country = lay.pairs()
    label = np.concatenate([study.label for study in studies])
    said = np.stack([study.judge_label.reshape(-1, len(item)) for study in studies], axis=1)
    said = said.reshape(len(said), -1)  # (judges, studies and their items)
    voters = [votes(lay.item, lay.country, label), *(votes(item, country, row) for row in said)]
    leans = np.array([lean(voter, MAJORITY) for voter in same_units(voters, "drop")[0]])
    compared = held_out(apart(lay.item, lay.items), apart(lay.annotator, lay.annotators), label, said, labels=LABELS)
    valid = np.ma.masked_less(label.reshape(count, -1), 0)
    return Measured(
        np.ptp(leans.reshape(len(leans), count, -1), axis=2).T,
        compared.comparisons,
        np.append(compared.human.sum(), compared.judges.sum(axis=0)),
        float((1 - valid.mean(axis=1) / (LABELS - 1)).sum()),
    )


EVENTS = (
    "human spread as printed or larger",
    "all four judges below the human",
    "judges' mean spread at most 0.56 of the human's",
    "spreads near the printed",
)
NEAR = 0.03


def events(spreads: Floats) -> NDArray[np.bool_]:
    """Which of EVENTS holds, (..., 4), for spreads (..., 5) of the human and the judges.

    Near: the human's and the judges' mean each within NEAR of the printed, so that a ratio of two probabilities of it
    is about the likelihood ratio of the two numbers.
    """
    human, judges = spreads[..., 0], spreads[..., 1:].mean(axis=-1)
    printed = float(np.mean(JUDGE_SPREADS))
    return np.stack(
        [
            human >= HUMAN_SPREAD - HALF_UNIT,
            (spreads[..., 1:] < human[..., None]).all(axis=-1),
            judges <= human * printed / HUMAN_SPREAD,
            (np.abs(human - HUMAN_SPREAD) <= NEAR) & (np.abs(judges - printed) <= NEAR),
        ],
        axis=-1,
    )


def run_batch(number: int, replicates: int = REPLICATES, seed: int = SEED) -> dict[str, Any]:
    """One batch of one cell of CELLS: its spreads, and sums of what else is printed; batches go round the cells."""
    batch, cell = divmod(number, len(CELLS))
    nuisance, scenario = CELLS[cell]
    truth, layout = truth_of(NUISANCES[nuisance], SCENARIOS[scenario]), released_layout()
    rng = np.random.default_rng([seed, batch])  # the same draws in every cell
    studies = [simulate(layout, truth, rng) for _ in range(replicates)]
    found = [measure(studies[start : start + GROUP]) for start in range(0, replicates, GROUP)]
    return {
        "cell": cell,
        "studies": replicates,
        "spreads": np.concatenate([each.spreads for each in found]).round(6),
        "comparisons": sum(each.comparisons for each in found),
        "hits": sum(each.hits for each in found),
        "mean label": sum(each.mean_label for each in found),
    }


# --- the answer -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """By nuisance and scenario: `studies` (N, S), `events` (N, S, 4) as shares of them, and means of what is printed.

    `comparisons` and `mean_label` (N, S); `rates` (N, S, 5), the human first.
    """

    studies: Floats
    events: Floats
    comparisons: Floats
    mean_label: Floats
    rates: Floats


def gather(batches: Sequence[dict[str, Any]]) -> Found:
    """The batches of `run_batch` put together."""
    shape = len(NUISANCES), len(SCENARIOS)
    cells = np.array([batch["cell"] for batch in batches])

    def total(values: Sequence[Any]) -> Floats:
        each = np.array(values, np.float64)
        summed = np.zeros((len(CELLS), *each.shape[1:]))
        np.add.at(summed, cells, each)
        return summed.reshape(*shape, *each.shape[1:])

    studies, comparisons = (total([batch[name] for batch in batches]) for name in ("studies", "comparisons"))
    return Found(
        studies,
        total([events(np.array(batch["spreads"])).sum(axis=0) for batch in batches]) / studies[..., None],
        comparisons / studies,
        total([batch["mean label"] for batch in batches]) / studies,
        total([batch["hits"] for batch in batches]) / comparisons[..., None],
    )


def rows(found: Found) -> list[dict[str, Any]]:
    """Probabilities of events by scenario, then ratios of two: `value` over all nuisances, and the range over them.

    The range of a ratio is over annotator and middle, with cell and together taken in one: single ones rest on few
    studies. `mc_error` is of the value, as if every nuisance had the same draws, which they have.
    """
    out = []
    for event, scenario in product(range(3), range(len(SCENARIOS))):
        if event > 0 or SCENARIOS[scenario].follows == 1:  # judges do not matter to the human's spread
            each = found.events[:, scenario, event]
            row = _row(f"P({EVENTS[event]} | {SCENARIOS[scenario].name})", float(each.mean()), each)
            out.append(row | {"mc_error": mc_error_share(row["value"], int(found.studies.min()))})
    pooled = found.events.reshape(9, 4, len(SCENARIOS), len(EVENTS)).mean(axis=1)
    for event, (one, other) in product((1, 3), ((3, 1), (4, 2), (3, 0), (4, 0))):
        above, below = pooled[:, one, event], pooled[:, other, event]
        name = f"P({EVENTS[event]}): {SCENARIOS[one].name} over {SCENARIOS[other].name}"
        row = _row(name, float(above.mean() / below.mean()), above / below)
        relative = sum((1 - p.mean()) / p.mean() / found.studies.min() for p in (above, below)) ** 0.5
        out.append(row | {"mc_error": float(row["value"] * relative)})
    return out


def _row(name: str, value: float, each: Floats) -> dict[str, Any]:
    return {"name": name, "value": value, "low": float(each.min()), "high": float(each.max())}


def answer(shown: Sequence[dict[str, Any]]) -> list[str]:
    """In sentences what `rows` hold."""
    told = {row["name"]: row for row in shown}

    def chance(event: int, scenario: int) -> str:
        return _span(told[f"P({EVENTS[event]} | {SCENARIOS[scenario].name})"], 2)

    def times(one: int, other: int) -> dict[str, Any]:
        return told[f"P({EVENTS[3]}): {SCENARIOS[one].name} over {SCENARIOS[other].name}"]

    unsure = times(3, 0)
    return [
        f"Where countries do not differ, a human spread as printed or larger has probability {chance(0, 0)}.",
        f"All four judges lie below the human with probability {chance(1, 0)} where countries do not differ, "
        f"{chance(1, 1)} where they do and judges follow, and {chance(1, 3)} where judges follow 30% of it (country's "
        "share 3%).",
        f"Spreads near the printed are {_span(times(3, 1), 1)} times as likely with flattening as with judges that "
        f"follow, and {_span(unsure, 1)} times as likely as where countries do not differ (share 3%)"
        f"{'' if unsure['low'] > 1 or unsure['high'] < 1 else ': the two are not told apart'}.",
        f"At a share of 10% these are {_span(times(4, 2), 1)} and {_span(times(4, 0), 1)} times.",
    ]


def reading(shown: Sequence[dict[str, Any]], alike: dict[str, dict[str, float]], studies: int) -> str:
    """How to read `rows`, of so many `studies` each: how exact they are, and where `resemblance` ends."""
    ratios = [row["mc_error"] / row["value"] for row in shown if " over " in row["name"]]
    chances = [row["mc_error"] for row in shown if " over " not in row["name"]]
    judges = [each for name, each in alike.items() if name.startswith("judge")]
    worst = max(judges, key=lambda each: each["printed"] - each["low"])
    return (
        "Value: over all calibrations; ends: lowest and highest of them. A probability rests on "
        f"{studies} synthetic studies a calibration, the same draws in each; the Monte Carlo error of a probability is "
        f"at most {max(chances):.3f}, of a ratio {max(ratios):.0%} of it. Synthetic judges hit less often than printed "
        f"(at worst {worst['low']:.2f} for {worst['printed']:.2f}) where they follow less, and where even one that "
        "knows what an item holds would. A smaller spread alone is never flattening."
    )


def _span(row: dict[str, Any], digits: int) -> str:
    return f"{row['value']:.{digits}f} ({row['low']:.{digits}f} to {row['high']:.{digits}f})"


def resemblance(found: Found) -> dict[str, dict[str, float]]:
    """What the article prints beside what the synthetic studies have, lowest and highest cell."""
    have = {
        "comparisons": (COMPARISONS, found.comparisons),
        "held-out human": (HUMAN_RATE, found.rates[..., 0]),
        "mean label": (MEAN_LABEL, found.mean_label),
    }
    for number, rate in enumerate(JUDGE_RATES):
        have[f"judge with spread {JUDGE_SPREADS[number]} ({number + 1})"] = rate, found.rates[..., number + 1]
    return {
        name: {"printed": value, "low": float(each.min()), "high": float(each.max())}
        for name, (value, each) in have.items()
    }


def study(found: Found) -> dict[str, Any]:
    """The stored study, schema countback.study/1; `cells` are the probabilities of EVENTS by nuisance and scenario."""
    shown, alike, studies = rows(found), resemblance(found), int(found.studies.min())
    return {
        "schema": SCHEMA,
        "title": "How surprising the released spreads are, in synthetic studies of the release's shape",
        "question": "Do the humans' spread of 0.194 and the judges' smaller ones speak for a difference between "
        "countries, and for judges that flatten it?",
        "answer": answer(shown),
        "rows": [{key: _short(value) for key, value in row.items()} for row in shown],
        "reading": reading(shown, alike, studies),
        "settings": {
            "layout": "4 countries, 11 questions, 31 items of its own each, 622 labels, pools 11, 6, 8, 9",
            "studies of a calibration and a scenario": studies,
            "nuisances": [asdict(nuisance) for nuisance in NUISANCES],
            "scenarios": [asdict(scenario) for scenario in SCENARIOS],
            "content of questions": QUESTION,
            "near": NEAR,
            "printed, and lowest and highest mean over calibrations and scenarios": {
                name: {key: _short(value) for key, value in each.items()} for name, each in alike.items()
            },
        },
        "seed": SEED,
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__},
        "cells": found.events.round(4).tolist(),
    }


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def main(arguments: Sequence[str] | None = None) -> None:
    seeds = range(len(CELLS) * BATCHES)
    write_study(run_batch, seeds, lambda batches: study(gather(batches)), "countback.models.spreads", arguments)


if __name__ == "__main__":
    main()
