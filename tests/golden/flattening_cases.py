"""How often the 90% intervals of flattening hold the truth, by simulation: writes flattening_coverage.json.

`python tests/golden/flattening_cases.py FOLDER` keeps finished fits in FOLDER and may be stopped at any time. All
labels are synthetic. The truth of each data set is what the panel, the judges and the items of that data set were.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from countback.models import flattening, hierarchical, sampling
from countback.models.flattening import JointData, joint_data, joint_posterior
from countback.models.ordinal import R2D2
from countback.models.sampling import Run
from countback.models.simulate import JudgeTruth, Layout, Simulated, Truth, crossed, released_layout, simulate
from countback.models.studies import run_study

HERE = Path(__file__).parent
LEVEL, SEED = 0.9, 20261129
SHORT = {
    "draws": 750,
    "tune": 500,
    "chains": 2,
}  # a study's fits are shorter than a fit that is reported, and not gated
JUDGES = (
    JudgeTruth(1.0, 1.0, 0.2),
    JudgeTruth(1.3, 0.3, 0.1, missing=0.05),
    JudgeTruth(1.5, 0.0, 0.2, cutpoints=(-0.9, 0.3)),
    JudgeTruth(0.8, 0.6, 0.4, shift=0.4),
)
SDS = {"country": 0.4, "question": 0.4, "country:question": 0.2, "item": 0.8, "annotator": 0.5}
TRUTHS = {
    "nested": Truth(SDS, (-0.6, 0.6), JUDGES),
    "nested, content shifted": Truth(SDS | {"origin": 0.5}, (-0.6, 0.6), JUDGES),
    "crossed": Truth(SDS | {"item:country": 0.2}, (-0.6, 0.6), JUDGES),
}
SHIFTED = "latent, content counted"
SETS = {"nested": 100, "crossed": 100, "nested, content shifted": 100}


def layout(design: str) -> Layout:
    """The release's shape; or 22 items that 6 countries label, 3 labels each."""
    return crossed(6, 11, 22, pool=8, labels=3) if design == "crossed" else released_layout()


def as_data(made: Simulated) -> JointData:
    return joint_data(
        made.label,
        made.item,
        made.country,
        made.annotator,
        question=made.question,
        judge=made.judge,
        judge_label=made.judge_label,
        judge_item=made.judge_item,
        judge_country=made.judge_country,
        categories=3,
        countries=[f"synthetic {code}" for code in range(made.layout.countries)],
        judges=[f"synthetic judge {code}" for code in range(len(made.truth.judges))],
    )


def truth(made: Simulated) -> list[dict[str, float]]:
    """By judge, from the effects that made the labels; content and leans are summed here anew.

    Where content is shifted by country, beside the true ratio in logits the one with that shift counted as severity.
    """
    item, country = np.unique(np.column_stack([made.item, made.country])[made.label >= 0], axis=0).T
    question, effect = made.layout.item_question[item], made.effects
    shift = np.append(effect["origin"], 0.0)[made.origin[item]]
    content = effect["question"][question] + effect["country:question"][country, question] + effect["item"][item]
    content = content + effect["item:country"][item, country] + shift
    panel = made.panel()

    def lean(scale: float, severity: Any, cuts: Any) -> Any:
        eta = scale * (content + severity[country])
        score = np.mean([1 / (1 + np.exp(cut - eta)) for cut in cuts], axis=0)
        return np.array([score[country == c].mean() for c in range(made.layout.countries)])

    human, found = lean(1.0, panel, made.truth.cutpoints), []
    for number, judge in enumerate(made.truth.judges):
        own = judge.follows * effect["country"] + made.deviations[number]
        cuts = np.array(judge.cutpoints or made.truth.cutpoints) + judge.shift
        theirs = lean(judge.scale, own, cuts)
        slope = np.cov(theirs, human)[0, 1] / human.var(ddof=1)
        gap = float(theirs[0] - human[0])
        found.append(
            {"latent": own.std() / panel.std(), "ratio": theirs.std() / human.std(), "slope": slope, "gap": gap}
        )
        if made.truth.sd("origin"):
            found[-1][SHIFTED] = (own + effect["origin"]).std() / (panel + effect["origin"]).std()
    return found


def study(seed: int, *, design: str) -> dict[str, Any]:
    """One data set: by judge and quantity, the truth and the interval."""
    made = simulate(layout(design), TRUTHS[design], np.random.default_rng([SEED, seed]))
    data = as_data(made)
    prior = R2D2()
    run = Run(seed, **SHORT, cores=1)
    drawn = hierarchical.attempt(data.problem, prior, "nutpie")(run)
    gates = sampling.check(flattening.interest(drawn), drawn.divergent)
    posterior = joint_posterior(drawn, gates, prior, "nuts (nutpie), short", seed)
    rows = []
    for judge, true in zip(flattening.flattening(posterior, data, level=LEVEL), truth(made), strict=True):
        parts = {
            "latent": judge.latent,
            SHIFTED: judge.latent,
            "ratio": judge.ratio,
            "slope": judge.slope,
            "gap": judge.gap[data.countries[0]],
        }
        told = {name: [true[name], each.median, each.low, each.high] for name, each in parts.items() if name in true}
        rows.append(told | {"flatter": judge.flatter})
    return {
        "rhat": gates.rhat,
        "ess": min(gates.ess_bulk, gates.ess_tail),
        "divergent": gates.divergent,
        "judges": rows,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage over data sets and judges, its Monte Carlo error over data sets, and the median width."""
    found: dict[str, Any] = {"data sets": len(rows)}
    for name in [name for name in rows[0]["judges"][0] if name != "flatter"]:
        true, median, low, high = np.moveaxis([[judge[name] for judge in row["judges"]] for row in rows], 2, 0)
        held = (low <= true) & (true <= high)
        found[name] = {
            "covered": held.mean(),
            "Monte Carlo error": held.mean(axis=1).std(ddof=1) / len(rows) ** 0.5,
            "covered by judge": held.mean(axis=0).tolist(),
            "truth below": (true < low).mean(),
            "median truth by judge": np.median(true, axis=0).tolist(),
            "median estimate by judge": np.median(median, axis=0).tolist(),
            "median error": float(np.median(median - true)),
            "median width": float(np.median(high - low)),
        }
    sure = np.array([[judge["flatter"] >= 0.95 for judge in row["judges"]] for row in rows])
    below = np.array([[judge["latent"][0] < 1 for judge in row["judges"]] for row in rows])
    found["sure of a smaller spread"] = {"rate": sure.mean(), "and wrong": (sure & ~below).mean(), "true": below.mean()}
    quality = {name: np.array([row[name] for row in rows]) for name in ("rhat", "ess", "divergent")}
    found["fits"] = {
        "r-hat above 1.05": float((quality["rhat"] > 1.05).mean()),
        "least effective draws, median": float(np.median(quality["ess"])),
        "mean divergent": float(quality["divergent"].mean()),
    }
    return found


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(float(value), 4) if isinstance(value, float) else value


def run_all(folder: Path) -> None:
    found: dict[str, Any] = {"synthetic": True, "level": LEVEL, "seed": SEED, "fit": SHORT | {"prior": str(R2D2())}}
    for design, sets in SETS.items():
        name = design.replace(", ", "_").replace(" ", "_")
        rows = run_study(partial(study, design=design), range(sets), folder / name, chunk=5)
        found[design] = summary(rows)
        text = json.dumps(rounded(found), indent=1) + "\n"
        (HERE / "flattening_coverage.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_all(Path(sys.argv[1]))
