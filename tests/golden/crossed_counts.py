"""Recounts two crossed data sets, RTP-LX and Multi3Hate, for the golden files beside this module.

`python tests/golden/crossed_counts.py SHARED` writes the files anew; the test recomputes them and compares. What was
handled in the data, and what each number means, is in crossed.md.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from countback.models.culture import MAJORITY_TIES_AVERAGED, Flattening, LeanReport, flattening, lean_report
from countback.models.dispersion import noise_corrected
from countback.models.estimate import Estimate
from countback.models.grid import modal_grid, tie_report
from countback.models.heldout import Policy, held_out, judge_differences
from countback.models.nulls import culture_free_grid, grid_counts, question_tests, spread_test
from countback.models.resampling import Interval
from countback.models.votes import Votes, balanced, tally

DRAWS, SHUFFLES, SEED = 1000, 199, 20261129
SETTINGS = {"seed": SEED, "draws": DRAWS}
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Crossed:
    """Rows of valid human labels as codes, strictest label 0, and one judge's label per (item, country)."""

    items: list[str]
    countries: list[str]
    item: Any
    country: Any
    annotator: Any
    label: Any
    judge: Any  # (items, countries), -1 where missing
    n_labels: int

    def human_votes(self) -> Votes:
        return tally(self.item, self.country, self.label, self.n_labels, n_countries=len(self.countries))

    def judge_votes(self) -> Votes:
        item, country = np.nonzero(self.judge >= 0)
        return tally(item, country, self.judge[item, country], self.n_labels, n_countries=len(self.countries))


def rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


# --- what is written -------------------------------------------------------------------------------------------------


def number(value: float) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 6) + 0.0


def interval(ends: Interval | None) -> dict[str, Any] | None:
    if ends is None:
        return None
    error = [number(e) for e in ends.mc_error]
    return {"low": number(ends.low), "high": number(ends.high), "method": ends.method, "mc_error": error}


def estimate(e: Estimate) -> dict[str, Any]:
    return {
        "value": number(e.value),
        "n": e.n,
        **({"note": e.note} if e.note else {}),
        "interval": interval(e.interval),
    }


def lean_part(report: LeanReport, countries: list[str]) -> dict[str, Any]:
    corrected = report.corrected
    return {
        "leans": {name: estimate(e) for name, e in zip(countries, report.leans.estimates(), strict=True) if e.n},
        "spread": estimate(report.spread),
        "range of noise alone": {"mean": number(report.noise_range[0]), "upper 5%": number(report.noise_range[1])},
        "sd of country effects": {
            "value": number(corrected.sd),
            "low": number(corrected.ci_low),
            "high": number(corrected.ci_high),
            "noise variance": number(corrected.noise),
            "method": corrected.method,
        },
    }


def flattening_part(result: Flattening) -> dict[str, Any]:
    return {
        "n": result.ratio.n,
        "dropped": dict(result.ratio.dropped),
        "human spread": estimate(result.human.spread),
        "judge spread": estimate(result.judge.spread),
        "human sd": number(result.human.corrected.sd),
        "judge sd": number(result.judge.corrected.sd),
        "ratio of spreads": estimate(result.ratio),
        "ratio of sds": estimate(result.corrected_ratio),
        "largest gap": number(max((g.value for g in result.gaps if np.isfinite(g.value)), key=abs)),
    }


def heldout_part(data: Crossed, policies: Iterable[Policy] = ("skip", "fractional", "strictest")) -> dict[str, Any]:
    """Held-out human and judge on each (item, country) that the judge labelled, items resampled across countries."""
    places = np.flatnonzero((data.judge >= 0).ravel())
    code = np.full(data.judge.size, -1)
    code[places] = np.arange(len(places))
    place = code[data.item * len(data.countries) + data.country]
    on = place >= 0
    judge = data.judge.ravel()[places][None, :]
    out: dict[str, Any] = {}
    for policy in policies:
        result = held_out(place[on], data.annotator[on], data.label[on], judge, labels=data.n_labels, policy=policy)
        (difference,) = judge_differences(result, DRAWS, rng(), cluster=places // len(data.countries))
        out[policy] = {
            "n": int(result.n.sum()),
            "tied references": int(result.tied.sum()),
            "human": number(result.human_rate),
            "judge": number(result.judge_rates[0]),
            "difference": {
                "value": number(difference.value),
                "clusters": difference.clusters,
                "percentile": interval(difference.percentile),
                "bca": interval(difference.bca),
            },
        }
        if policy == "skip":
            by_country = {}
            for code_, name in enumerate(data.countries):
                part = result.select(places % len(data.countries) == code_)
                if part.comparisons:
                    rates = [number(part.human_rate), number(part.judge_rates[0])]
                    by_country[name] = {"n": part.comparisons, "human": rates[0], "judge": rates[1]}
            out[policy]["by country"] = by_country
    return out


def annotator_part(data: Crossed) -> dict[str, Any]:
    """Spread of countries beyond that of annotators: their mean scores, the annotators of a country as a sample."""
    score = (data.n_labels - 1 - data.label) / (data.n_labels - 1)
    size = len(np.unique(data.annotator))
    of = np.zeros(size, int)
    of[data.annotator] = data.country
    mean = np.bincount(data.annotator, score, size) / np.bincount(data.annotator, minlength=size)
    countries = [mean[of == c] for c in range(len(data.countries))]
    within = float(np.mean([part.var(ddof=1) for part in countries]))
    values = np.array([part.mean() for part in countries])
    covariance = np.diag([within / len(part) for part in countries])
    result = noise_corrected(values, covariance, cluster_df=size - len(countries))
    return {
        "sd of annotators within a country": number(within**0.5),
        "sd of countries": {"value": number(result.sd), "low": number(result.ci_low), "high": number(result.ci_high)},
        "p": number(result.p),
    }


def test_part(votes: Votes) -> dict[str, Any]:
    (question,) = question_tests(votes, draws=SHUFFLES, rng=rng())
    spread = spread_test(votes, MAJORITY_TIES_AVERAGED, draws=SHUFFLES, rng=rng())
    return {
        "variance of country means": {
            "observed": number(question.observed),
            "p": number(question.p),
            "n": question.items,
        },
        "spread of majority leans": {"observed": number(spread.observed), "p": number(spread.p)},
        "draws": SHUFFLES,
    }


# --- RTP-LX ----------------------------------------------------------------------------------------------------------


def rtp_lx(folder: Path) -> tuple[dict[str, Crossed], dict[str, Any]]:
    """One crossed table per question, and how many judge rows were not used, by reason."""
    with gzip.open(folder / "labels_full.csv.gz", "rt", newline="") as file:
        human = list(csv.DictReader(file))
    with gzip.open(folder / "judges_full.csv.gz", "rt", newline="") as file:
        judged = [row for row in csv.DictReader(file) if row["judge"] == "gpt4"]
    items, countries = sorted({r["item"] for r in human}), sorted({r["country"] for r in human})
    annotators = sorted({r["annotator"] for r in human})
    at = [{name: i for i, name in enumerate(names)} for names in (items, countries, annotators)]
    reasons: Counter[str] = Counter()
    tables = {}
    for question in sorted({r["question"] for r in human}):
        top = 5 if question == "Toxicity" else 3
        rows = [r for r in human if r["question"] == question]
        label = np.array([int(r["label"]) for r in rows])
        assert ((label >= 1) & (label <= top)).all()
        judge = np.full((len(items), len(countries)), -1)
        for r in judged:
            if r["question"] != question:
                continue
            value = float(r["label"])
            if r["country"] == "EN":
                reasons["judge read the text NA instead of the prompt (EN)"] += 1
            elif value not in range(1, top + 1):
                reasons["judge label off the scale"] += 1
            else:
                judge[at[0][r["item"]], at[1][r["country"]]] = top - int(value)
        reasons["no judge label in the file (locales other than EN)"] += int(
            sum(len(items) for name in countries if name != "EN")
            - sum(1 for r in judged if r["question"] == question and r["country"] != "EN")
        )
        tables[question] = Crossed(
            items,
            countries,
            np.array([at[0][r["item"]] for r in rows]),
            np.array([at[1][r["country"]] for r in rows]),
            np.array([at[2][r["annotator"]] for r in rows]),
            top - label,
            judge,
            top,
        )
    return tables, dict(reasons)


def rtp_lx_grid(tables: dict[str, Crossed]) -> dict[str, Any]:
    """The modal grid of the seven questions with three levels, human and judge, and two nulls for the human one."""
    names = [question for question in tables if tables[question].n_labels == 3]
    size = {"n_countries": 26, "n_questions": len(names)}
    parts = [tables[name] for name in names]
    columns = [np.concatenate([getattr(part, key) for part in parts]) for key in ("item", "country", "label")]
    question = np.repeat(np.arange(len(names)), [len(part.label) for part in parts])
    human = tally(*columns, 3, question=question, **size)
    cells = [(q, *np.nonzero(part.judge >= 0)) for q, part in enumerate(parts)]
    judge = tally(
        np.concatenate([item for _, item, _ in cells]),
        np.concatenate([country for _, _, country in cells]),
        np.concatenate([parts[q].judge[item, country] for q, item, country in cells]),
        3,
        question=np.repeat([q for q, *_ in cells], [len(item) for _, item, _ in cells]),
        **size,
    )
    grid, said = modal_grid(human).letters, modal_grid(judge).letters
    observed = grid_counts(grid, 3)
    nulls = {
        deal: culture_free_grid(
            human,
            countries=26,
            draws=SHUFFLES,
            rng=rng(),
            deal=deal,
            observed=(int(observed[0]), int(observed[1])),  # type: ignore[arg-type]
        )
        for deal in ("replacement", "shuffle")
    }
    countries = parts[0].countries
    return {
        "questions": names,
        "human letters (3 strictest)": {c: "".join(str(3 - x) for x in grid[i]) for i, c in enumerate(countries)},
        "judge letters": {c: "".join(str(3 - x) if x >= 0 else "-" for x in said[i]) for i, c in enumerate(countries)},
        "ties": tie_report(human).counts(),
        "questions showing all labels": int(observed[0]),
        "unanimous questions": int(observed[1]),
        "judge: unanimous questions": int(grid_counts(said, 3)[1]),
        "null": {
            deal: {
                "all labels": {"mean": number(n.all_labels.mean), "p at least": number(n.all_labels.at_least)},
                "unanimous": {"mean": number(n.unanimous.mean), "p at most": number(n.unanimous.at_most)},
            }
            for deal, n in nulls.items()
        },
        "draws": SHUFFLES,
    }


def rtp_lx_counts(shared: Path) -> dict[str, Any]:
    tables, reasons = rtp_lx(shared / "data" / "rtp_lx")
    out: dict[str, Any] = {**SETTINGS, "judge rows not used": reasons, "questions": {}}
    for name, data in tables.items():
        human, judge = data.human_votes(), balanced(data.judge_votes())
        (flat,) = flattening(human, [judge], MAJORITY_TIES_AVERAGED, draws=DRAWS, rng=rng())
        out["questions"][name] = {
            "held out": heldout_part(data),
            "human": lean_part(lean_report(human, MAJORITY_TIES_AVERAGED, draws=DRAWS, rng=rng()), data.countries),
            "judge": lean_part(flat.judge, data.countries),
            "flattening": flattening_part(flat),
            "permutation within items": test_part(human),
            "annotators as a sample": annotator_part(data),
        }
    out["grid"] = rtp_lx_grid(tables)
    return out


# --- Multi3Hate ------------------------------------------------------------------------------------------------------

WORDINGS = [f"qwen2vl7b_p{i}" for i in range(6)]
RUNS = {"INrun": ("gpt4o_INrun_india", "gpt4o_INrun_china"), "CNrun": ("gpt4o_CNrun_india", "gpt4o_CNrun_china")}
ONE_REPLY = "one reply serves all countries (the prompt names none), so the judge's spread is 0 by construction"
READINGS = {"B or C is hate": "BC", "C is hate": "C"}


def multi3hate(folder: Path) -> tuple[Crossed, list[dict[str, str]]]:
    """Human labels of all five countries (hate is code 0, the stricter), and the judges' rows as they stand."""
    with (folder / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "judges.csv").open(newline="") as file:
        judged = list(csv.DictReader(file))
    items, countries, annotators = (sorted({r[key] for r in rows}) for key in ("item", "country", "annotator"))
    codes = [
        np.array([{name: i for i, name in enumerate(names)}[r[key]] for r in rows])
        for names, key in ((items, "item"), (countries, "country"), (annotators, "annotator"))
    ]
    label = np.array([1 - int(r["label"]) for r in rows])
    return Crossed(items, countries, *codes, label, np.full((len(items), len(countries)), -1), 2), judged


def judge_grid(data: Crossed, rows: list[dict[str, str]], hate: str) -> Any:
    """Labels (items, countries) of judge rows; an empty persona answers for every country."""
    grid = np.full((len(data.items), len(data.countries)), -1)
    for row in rows:
        if row["label"]:
            where = slice(None) if not row["persona"] else data.countries.index(row["persona"])
            grid[data.items.index(row["item"]), where] = 0 if row["label"] in hate else 1
    return grid


def multi3hate_counts(shared: Path) -> dict[str, Any]:
    data, judged = multi3hate(shared / "data" / "multi3hate")
    human = data.human_votes()
    out: dict[str, Any] = {
        **SETTINGS,
        "human": lean_part(lean_report(human, MAJORITY_TIES_AVERAGED, draws=DRAWS, rng=rng()), data.countries),
        "tied cells": int((2 * human.counts[:, 0] == human.counts.sum(axis=1)).sum()),
        "permutation within items": test_part(human),
        "judges": {},
    }
    jobs = [(name, (name,), "1") for name in WORDINGS]
    jobs += [(f"gpt4o {run}, {reading}", RUNS[run], hate) for run in RUNS for reading, hate in READINGS.items()]
    for title, names, hate in jobs:
        rows = [r for r in judged if r["judge"] in names]
        judge = replace(data, judge=judge_grid(data, rows, hate))
        votes = balanced(judge.judge_votes())
        seen = np.unique(votes.country)
        (flat,) = flattening(human, [votes], MAJORITY_TIES_AVERAGED, draws=DRAWS, rng=rng())
        out["judges"][title] = {
            "memes labelled": int((judge.judge >= 0).any(axis=1).sum()),
            "memes labelled for every country": len(np.unique(votes.item)),
            "countries": [data.countries[c] for c in seen],
            "replies without a label": sum(not r["label"] for r in rows),
            "hate rate": number(float((judge.judge[judge.judge >= 0] == 0).mean())),
            "held out": heldout_part(judge),
            "flattening": flattening_part(flat),
            **({"note": ONE_REPLY} if title in WORDINGS else {}),
        }
    return out


FILES = {"crossed_rtp_lx.json": rtp_lx_counts, "crossed_multi3hate.json": multi3hate_counts}

if __name__ == "__main__":
    for file_name, count in FILES.items():
        text = json.dumps(count(Path(sys.argv[1])), indent=1, ensure_ascii=False)
        (HERE / file_name).write_text(text + "\n", encoding="utf-8")
