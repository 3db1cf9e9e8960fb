"""Every recount of culture-converse by a second route: pandas and plain loops over made-up data.

A copy of the paper folder is given tables that print what the second route finds, so every recount must agree with its
cell; then one score is changed, and exactly the claims that rest on it must turn. Data and tables are synthetic.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.audit.run import audit
from countback.audit.sources import Sources
from countback.claims.papers.culture_converse.names import JUDGES, METRICS, MODELS
from countback.claims.registry import PAPERS, load_paper
from countback.claims.verdict import Verdict

pd = pytest.importorskip("pandas")
import converse_data as made  # noqa: E402 - it needs pandas

FOLDER = PAPERS / "culture_converse"
MEASURES = {
    **dict(zip(("Help", "Hon", "Harm", "Nat", "Plaus", "Typ"), ([m] for m in METRICS), strict=True)),
    "3H": list(METRICS[:3]),
    "TDQ": list(METRICS[3:]),
}
GEMINI = [model for model in MODELS if model.startswith("Gemini")]
MORE = 3  # digits beyond the paper's, so that one score among hundreds shows

Cells = dict[tuple[str, str], str]


# --- the second route: episodes ----------------------------------------------------------------------------------


def with_measures(episodes: Any) -> Any:
    frame = episodes.replace({metric: {0: np.nan} for metric in METRICS})
    for name, metrics in MEASURES.items():
        frame[name] = frame[metrics].mean(axis=1, skipna=False)
    frame["Clean %"] = frame["clean"].map({"yes": 100.0, "no": 0.0})
    return frame


def benchmark(frame: Any) -> Any:
    return frame[(frame["split"] == "test") & (frame["mode"] == "eval") & frame["model"].isin(MODELS)]


def table_02(frame: Any) -> dict[tuple[str, str], int]:
    part = frame["split"] + " " + frame["mode"]
    released = frame[part.isin(["test eval", "train gold"])]
    found = {}
    rows = {f"{s.title()} {g}": released[(released["split"] == s) & (released["language"] == g)]
            for s in ("test", "train") for g in ("English", "Native")}  # fmt: skip
    rows |= dict(iter(released.groupby("region"))) | {"All": released}
    for row, part in rows.items():
        once = part.drop_duplicates(["split", "seed", "language"])
        found[row, "N"] = len(once)
        for tier in ("Standard", "CTX", "NORM"):
            found[row, tier] = int((once["tier"] == tier).sum())
        found[row, "identities"] = len(part[["region", "identity"]].drop_duplicates())
    return found


def means(frame: Any, names: Iterable[str]) -> dict[tuple[str, str], float]:
    table = benchmark(frame).groupby("model")[list(names)].mean()
    table.loc["Average"] = table.mean()
    return {(model, name): float(table.loc[model, name]) for model in table.index for name in names}


def table_10(frame: Any) -> dict[tuple[str, str], float]:
    test = frame[(frame["split"] == "test") & (frame["model"] == "GPT-5 mini")]
    found = {}
    for row in ("English", "Native", "Combined"):
        part = test if row == "Combined" else test[test["language"] == row]
        for measure, short in (("3H", "3H"), ("TDQ", "TDQ"), ("Clean %", "Clean")):
            wide = part.pivot(index=["seed", "language"], columns="mode", values=measure).dropna()
            found[row, f"Eval {short}"], found[row, f"Gold {short}"] = wide["eval"].mean(), wide["gold"].mean()
            found[row, f"Δ {short}"] = (wide["gold"] - wide["eval"]).mean()
    return found


def table_14(frame: Any) -> dict[tuple[str, str], float]:
    part = benchmark(frame)
    found = {}
    for model, rows in part.groupby("model"):
        plain = rows[rows["tier"] == "Standard"]["3H"].mean()
        trapped = rows[rows["tier"] != "Standard"]["3H"].mean()
        found |= {(model, "Std 3H"): plain, (model, "Trap 3H"): trapped, (model, "Δ 3H"): trapped - plain}
    for column in ("Std 3H", "Trap 3H", "Δ 3H"):
        found["Average", column] = sum(found[model, column] for model in MODELS) / 18
    return found


def table_15(frame: Any) -> dict[tuple[str, str], float]:
    part = benchmark(frame)
    part = part[part["model"] == "GPT-5 mini"]
    found = {}
    for row in (*METRICS[:4], "Scenario plausibility", "Cultural typicality"):
        scores = part[row.rpartition(" ")[2].title()].dropna()
        found |= {(row, "Mean"): scores.mean(), (row, "Std"): scores.std(), (row, "Median"): scores.median()}
        found |= {(row, f"%{k}"): 100 * (scores == k).mean() for k in range(1, 6)}
    return found


def table_17(frame: Any, rng: np.random.Generator) -> dict[tuple[str, str], tuple[float, float]]:
    """Ends of 1,000 resamples, each a copy of rows, as one would write it down at once."""
    found = {}
    for model, rows in benchmark(frame).groupby("model"):
        for name in (*MEASURES, "Clean %"):
            values = rows[name].dropna().to_numpy()
            drawn = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(1000)]
            low, high = np.percentile(drawn, [2.5, 97.5])
            found[model, name] = (float(low), float(high))
    return found


def texts(frame: Any) -> dict[str, str]:
    part = benchmark(frame)
    mini = part[part["model"] == "GPT-5 mini"]
    losses = [-value for (model, column), value in table_14(frame).items() if column == "Δ 3H" and model != "Average"]
    gains = []
    for model in GEMINI:
        wide = part[part["model"] == model].pivot(index="seed", columns="language", values="3H").dropna()
        gains.append((wide["Native"] - wide["English"]).mean())
    spread = {by: np.ptp(mini.groupby(by.split("/"))["3H"].mean()) for by in ("gender", "identity", "region/identity")}
    return {
        "s53-gender": f"{spread['gender']:.6f}",
        "s53-identity": f"{spread['region/identity']:.6f}",
        "s53-native": f"{min(gains):+.5f} to {max(gains):+.5f}",
        "s53-trap": f"{min(losses):.5f} to {max(losses):.5f}",
        "o2-trap-low": f"{min(losses):.5f}",
        "o2-trap-high": f"{max(losses):.5f}",
        "o2-trap-mean": f"{-sum(losses) / 18:+.5f}",
    }


# --- the second route: ratings -----------------------------------------------------------------------------------

Cell = tuple[str, str, dict[str, int], list[int]]  # region, metric, judges' scores, people's scores


def cells_of(ratings: Any) -> list[Cell]:
    """Cells with three human scores, by plain dictionaries."""
    people: dict[Any, list[int]] = {}
    judged: dict[Any, dict[str, int]] = {}
    for row in ratings.to_dict("records"):
        for metric in METRICS:
            key = (row["region"], row["language"], row["row"], metric)
            if row[metric] and row["rater"].startswith("person"):
                people.setdefault(key, []).append(row[metric])
            elif row[metric] and row["rater"] in JUDGES:
                judged.setdefault(key, {})[row["rater"]] = row[metric]
    return [(k[0], k[3], judged.get(k, {}), scores) for k, scores in people.items() if len(scores) == 3]


def three(differences: Iterable[int], unit: int) -> dict[str, float]:
    """The paper's three measures of differences in units of 1 / unit of a point."""
    found = list(differences)
    return {
        "% ±1": 100 * sum(abs(d) <= unit for d in found) / len(found),
        "MAE": sum(map(abs, found)) / (unit * len(found)),
        "Bias": sum(found) / (unit * len(found)),
    }


def people(cells: list[Cell]) -> dict[str, float]:
    return three((a - b for _, _, _, scores in cells for a, b in combinations(scores, 2)), 1)


def judge(cells: list[Cell], name: str) -> dict[str, float]:
    return three((3 * judged[name] - sum(scores) for _, _, judged, scores in cells if name in judged), 3)


def ensemble(cells: list[Cell], names: tuple[str, ...]) -> dict[str, float]:
    return three((sum(judged[name] for name in names) - sum(scores) for _, _, judged, scores in cells), 3)


def slices(cells: list[Cell]) -> dict[tuple[str, str], float]:
    """Columns of Tables 12 and 13 for every metric and region, and for all cells."""
    found = {}
    for row in (*METRICS, *made.REGIONS, "Overall"):
        part = [cell for cell in cells if row in (cell[0], cell[1], "Overall")]
        theirs, mini = people(part), judge(part, "GPT-5 mini")
        found |= {(row, f"HH {name}"): theirs[name] for name in ("% ±1", "MAE")}
        found |= {(row, f"GPT-5 mini {name}"): mini[name] for name in ("% ±1", "MAE")} | {(row, "Bias"): mini["Bias"]}
    return found


def ranked(cells: list[Cell]) -> list[tuple[tuple[str, ...], dict[str, float]]]:
    full = [cell for cell in cells if len(cell[2]) == len(JUDGES)]
    every = [(names, ensemble(full, names)) for names in combinations(JUDGES, 3)]
    return sorted(every, key=lambda pair: pair[1]["MAE"])


# --- a paper that prints what the second route finds -------------------------------------------------------------


def shown(value: float, like: str, more: int = MORE) -> str:
    """A value in the form of a printed cell, with more digits."""
    if like in ("", "–"):
        return like
    if isinstance(value, int):
        return f"{value:,}"
    places = len(like.removesuffix(" pp").partition(".")[2]) + more
    sign = "+" if like.strip()[0] in "+-" else ""
    return f"{value:{sign}.{places}f}" + (" pp" if like.endswith(" pp") else "")


def rewrite(folder: Path, table: str, cell: Callable[[str, str, str], str]) -> None:
    """Every cell of a table anew: cell(row, column, as printed)."""
    path = folder / "tables" / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        name = next(iter(row.values()))
        row.update({column: cell(name, column, text) for column, text in row.items()})
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def publish(folder: Path, frame: Any, cells: list[Cell], bands: Any = None) -> Path:
    """The paper's folder with tables and text numbers that these data give; `bands` are given where drawn before."""
    shutil.copytree(FOLDER, folder)
    scores, order = means(frame, (*MEASURES, "Clean %")), ranked(cells)
    bands = bands or table_17(frame, np.random.default_rng(5))
    single = {name: judge(cells, name) for name in JUDGES}
    full = judge([cell for cell in cells if len(cell[2]) == len(JUDGES)], "GPT-5 mini")
    overall = {"Human–human (mean pairwise)": people(cells), "GPT-5 mini vs human consensus": single["GPT-5 mini"]}

    def take(found: dict[tuple[str, str], Any]) -> Callable[[str, str, str], str]:
        return lambda row, column, text: shown(found[row, column], text) if (row, column) in found else text

    def of_panel(row: str, column: str, text: str) -> str:
        rank = next((i for i, word in enumerate(("Best 3", "Second-best", "Third-best")) if row.startswith(word)), None)
        if column not in ("% ±1", "MAE", "Bias"):
            return text if rank is None else f"{text.partition('(')[0]}({' + '.join(order[rank][0])})"
        if rank is not None:
            return shown(order[rank][1][column], text)
        return shown(single[row][column] if row in single else order[0][1][column] - full[column], text)

    def band(row: str, column: str, text: str) -> str:
        if column == "Model":
            return text
        ends = text.partition("[")[2].partition(",")[0]
        low, high = (shown(end, ends, 0) for end in bands[row, column])
        return f"{shown(scores[row, column], ends)} [{low},{high}]"

    rewrite(folder, "table-02", take(table_02(frame)))
    rewrite(folder, "table-03", take({(r, c): value for r, found in overall.items() for c, value in found.items()}))
    rewrite(folder, "table-04", lambda row, column, text: take(scores)(row, column.removesuffix(" Avg"), text))
    rewrite(folder, "table-10", take(table_10(frame)))
    rewrite(folder, "table-11", of_panel)
    rewrite(folder, "table-12", take(slices(cells)))
    rewrite(folder, "table-13", take(slices(cells)))
    rewrite(folder, "table-14", take(table_14(frame)))
    rewrite(folder, "table-15", take(table_15(frame)))
    rewrite(folder, "table-17", band)
    restate(folder, texts(frame), [" + ".join(names) for names, _ in order[:3]])
    return folder


def restate(folder: Path, numbers: dict[str, str], names: list[str]) -> None:
    """The text's numbers in claims.toml, and the names of ensembles in it and in paper.toml."""
    claims, paper = (folder / name for name in ("claims.toml", "paper.toml"))
    text, spec = claims.read_text("utf-8"), paper.read_text("utf-8")
    for identity, number in numbers.items():
        pattern = rf'(id = "{identity}",.*?reported = )"[^"]*"'
        text, changed = re.subn(pattern, rf'\1"{number}"', text)
        assert changed == 1, identity
    text = text.replace('printed = "0.165"', f'printed = "{numbers["s53-identity"]}"')
    for rank, (word, new) in enumerate(zip(("Best 3-judge", "Second-best", "Third-best"), names, strict=True), start=1):
        old = re.search(rf'"{word} ensemble \(([^)]*)\)"', spec)
        assert old is not None
        text = re.sub(rf'(id = "t11-ensemble-{rank}".*)', lambda m, o=old[1], n=new: m[1].replace(o, n), text)
        text, spec = (t.replace(f"ensemble ({old[1]})", f"ensemble ({new})") for t in (text, spec))
    claims.write_text(text, "utf-8")
    paper.write_text(spec, "utf-8")


def recounts(folder: Path, data: Path) -> dict[str, Verdict]:
    run = audit([folder], Sources(data, offline=True).locate, kinds=("recount",))
    return {verdict.claim.id: verdict for verdict in run.verdicts}


# --- tests -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """Made-up data, the ends of Table 17 that they give, and a paper that prints what they give."""

    episodes: Any
    ratings: Any
    bands: Any
    paper: Path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    rng = np.random.default_rng(20261129)
    episodes, ratings = made.make_episodes(rng), made.make_ratings(rng)
    frame = with_measures(episodes)
    bands = table_17(frame, np.random.default_rng(5))
    paper = publish(tmp_path_factory.mktemp("paper") / "culture_converse", frame, cells_of(ratings), bands)
    return Study(episodes, ratings, bands, paper)


def test_every_recount_agrees_with_the_second_route(study: Study, tmp_path: Path) -> None:
    found = recounts(study.paper, made.write(tmp_path / "data", study.episodes, study.ratings))
    wrong = {name: (v.claim.reported, v.recounted, v.gap, v.reason) for name, v in found.items() if not v.agrees}
    assert wrong == {}
    assert {v.verdict for v in found.values()} == {"unchecked"}
    assert {v.reason for v in found.values()} == {"synthetic data"}
    # Tables 2, 3, 4, 10, 11, 12, 13, 14, 15 and 17; then numbers and names of the text
    assert len(found) == 60 + 11 + 5 + 171 + 18 + 45 + 35 + 50 + 57 + 48 + 162 + 12


def a_score(study: Study) -> tuple[Any, Any]:
    return changed(study.episodes, {"model": "Claude Haiku 4.5", "mode": "eval"}, "Helpfulness"), study.ratings


def a_score_of_gpt_5_mini(study: Study) -> tuple[Any, Any]:
    return changed(study.episodes, {"model": "GPT-5 mini", "mode": "eval"}, "Typicality"), study.ratings


def a_score_in_gold_mode(study: Study) -> tuple[Any, Any]:
    return changed(study.episodes, {"split": "test", "mode": "gold"}, "Honesty"), study.ratings


def a_training_episode(study: Study) -> tuple[Any, Any]:
    at = study.episodes.index[study.episodes["split"] == "train"][7]
    return study.episodes.drop(at), study.ratings


def a_human_score(study: Study) -> tuple[Any, Any]:
    return study.episodes, changed(study.ratings, {"rater": "person 2", "region": "KR"}, "Honesty")


def a_score_of_grok(study: Study) -> tuple[Any, Any]:
    return study.episodes, changed(study.ratings, {"rater": "Grok 4.20"}, "Plausibility")


def changed(frame: Any, where: dict[str, str], metric: str) -> Any:
    """One score made another: 5 where it was up to 3, else 1."""
    chosen = frame[metric] > 0
    for name, value in where.items():
        chosen &= frame[name] == value
    at = frame.index[chosen][2]
    frame = frame.copy()
    frame.loc[at, metric] = 5 if frame.loc[at, metric] <= 3 else 1
    return frame


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "some", "untouched"),
    [
        (a_score, ["t4-recount[Claude Haiku 4.5, Help]", "t17-recount[Claude Haiku 4.5, 3H]", "o2-trap-mean"], "t15"),
        (a_score_of_gpt_5_mini, ["t15-recount[Cultural typicality, Mean]", "t17-recount[GPT-5 mini, Typ]"], "t14"),
        (a_score_in_gold_mode, ["t10-recount[Combined, Gold 3H]", "t10-recount[English, Δ 3H]"], "t4"),
        (a_training_episode, ["t2-recount[All, N]", "t2-recount[Train English, N]"], "t4"),
        (a_human_score, ["t12-recount[Honesty, HH MAE]", "t13-recount[KR, Bias]"], "t4"),
        (a_score_of_grok, ["t11-recount[Grok 4.20, MAE]"], "t12"),
    ],
)  # fmt: skip
def test_one_change_turns_the_claims_that_rest_on_it(
    study: Study, tmp_path: Path, change: Callable[[Study], tuple[Any, Any]], some: list[str], untouched: str
) -> None:
    """Which claims those are, the second route says: the cells that it now prints differently."""
    episodes, ratings = change(study)
    now = publish(tmp_path / "culture_converse", with_measures(episodes), cells_of(ratings), study.bands)
    before, after = ({c.id: c.reported for c in load_paper(p).claims if c.recipe} for p in (study.paper, now))
    expected = {name for name, printed in before.items() if after.get(name) != printed}
    found = recounts(study.paper, made.write(tmp_path / "data", episodes, ratings))
    assert {name for name, verdict in found.items() if verdict.agrees is False} == expected
    assert set(some) <= expected
    assert not any(name.startswith(f"{untouched}-") for name in expected)
