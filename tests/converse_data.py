"""Made-up episodes and ratings in the layout that the example mapping of culture-converse describes.

Nothing in them comes from the paper but names and the design: models, judges, metrics, regions, tiers, two languages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from countback.claims.papers.culture_converse.names import JUDGES, METRICS, MODELS, VOCABULARY
from countback.claims.papers.culture_converse.read import MAPPING, read_mapping

REGIONS, TIERS = VOCABULARY["region"], VOCABULARY["tier"]
EXAMPLE = Path(read_mapping.__wrapped__.__code__.co_filename).with_name("mapping.toml")
COLUMNS = [*METRICS, "clean"]


def make_episodes(rng: np.random.Generator, seeds: int = 400) -> pd.DataFrame:
    """One row per episode, in the paper's words; a score of 0 is missing."""
    test = _scenarios(rng, "t", seeds)
    rows = [
        _scored(rng, test, 2.5 + strength / 12, model=model, language=language, split="test", mode="eval")
        for strength, model in enumerate((*MODELS, "some other model"))
        for language in ("English", "Native")
    ]
    for language, missing in (("English", 3), ("Native", 5)):  # a few seeds have no episode in gold mode
        some = test.iloc[missing:]
        rows.append(_scored(rng, some, 4.0, model=MODELS[0], language=language, split="test", mode="gold"))
        train = _scenarios(rng, "r", seeds // 2 + missing)
        rows.append(_scored(rng, train, 4.0, model=MODELS[0], language=language, split="train", mode="gold"))
    return pd.concat(rows, ignore_index=True)


def _scenarios(rng: np.random.Generator, prefix: str, seeds: int) -> pd.DataFrame:
    region = np.array(REGIONS)[np.arange(seeds) % len(REGIONS)]
    identity = np.array(["Tamil Hindu", "Han", "Moro", "Ainu"])[rng.integers(0, 4, seeds)]  # one name in many regions
    return pd.DataFrame(
        {
            "seed": [f"{prefix}{i}" for i in range(seeds)],
            "region": region,
            "identity": identity,
            "gender": np.array(["female", "male"])[rng.integers(0, 2, seeds)],
            "tier": np.array(TIERS)[rng.choice(3, seeds, p=[0.5, 0.25, 0.25])],
        }
    )


def _scored(rng: np.random.Generator, scenarios: pd.DataFrame, level: float, **same: str) -> pd.DataFrame:
    rows = scenarios.assign(**same)
    for metric in METRICS:
        scores = np.clip(np.round(rng.normal(level, 1.0, len(rows))), 1, 5).astype(int)
        rows[metric] = np.where(rng.random(len(rows)) < 0.004, 0, scores)
    rows["clean"] = np.where(rng.random(len(rows)) < 0.8, "yes", "no")
    return rows


def make_ratings(rng: np.random.Generator, dialogues: int = 100) -> pd.DataFrame:
    """One row per dialogue and rater, in the paper's words; a score of 0 is missing. People have names of their own."""
    rows = []
    for i in range(dialogues):
        place = {"region": REGIONS[i % 10], "language": ("English", "Native")[i // 10 % 2], "row": i // 20}
        people = rng.choice([f"person {k}" for k in range(6)], 3, replace=False)
        for rater in (*people, *JUDGES, "a judge of nobody"):
            noise = 0.6 + 0.1 * JUDGES.index(rater) if rater in JUDGES else 0.7
            scores = np.clip(np.round(rng.normal(3.5, noise, len(METRICS))), 1, 5).astype(int)
            scores[rng.random(len(METRICS)) < (0.01 if rater in people else 0.002)] = 0
            rows.append({**place, "rater": rater, **dict(zip(METRICS, map(int, scores), strict=True))})
    return pd.DataFrame(rows)


def write(folder: Path, episodes: pd.DataFrame, ratings: pd.DataFrame, *, synthetic: bool = True) -> Path:
    """The files and the example mapping, its `synthetic` set; returns the folder."""
    spec = read_mapping(EXAMPLE)
    (folder / "benchmark").mkdir(parents=True)
    text = EXAMPLE.read_text("utf-8")
    assert text.count("synthetic = false") == 1
    (folder / MAPPING).write_text(text.replace("synthetic = false", f"synthetic = {str(synthetic).lower()}"), "utf-8")
    raw = {name: _reversed(spec.values.get(name, {})) for name in ("model", "tier", "clean", "rater")}
    raw["language"] = {"English": "en", "Native": "xx"}
    episodes = _texts(episodes, raw)
    evaluated = episodes[(episodes["split"] == "test") & (episodes["mode"] == "eval")]
    names: dict[str, Any] = dict(spec.episodes[0].columns)
    for model, rows in evaluated.groupby("model", sort=False):
        file = f"{str(model).replace('/', '-')}.csv"
        rows[list(names)].rename(columns=names).to_csv(folder / "benchmark" / file, index=False)
    with (folder / "gold.jsonl").open("w", encoding="utf-8") as lines:
        for row in episodes[episodes["mode"] == "gold"].to_dict("records"):
            lines.write(json.dumps(_nested(row, dict(spec.episodes[1].columns))) + "\n")
    ratings = _texts(ratings, raw)
    judged = ratings["rater"].isin([raw["rater"].get(name, name) for name in JUDGES])
    for file, rater, rows in (
        ("human_ratings.csv", "annotator", ratings[~judged & (ratings["rater"] != "a judge of nobody")]),
        ("judge_ratings.csv", "judge", ratings[judged]),
    ):
        rows.rename(columns={"rater": rater, **{m: m.lower() for m in METRICS}}).to_csv(folder / file, index=False)
    return folder


def _reversed(words: dict[str, Any]) -> dict[str, str]:
    return {word: text if isinstance(text, str) else text[0] for word, text in words.items() if text != "*"}


def _texts(frame: pd.DataFrame, raw: dict[str, dict[str, str]]) -> pd.DataFrame:
    """The paper's words as the files have them, and missing scores as a text or a blank."""
    frame = frame.copy()
    for name, texts in raw.items():
        if name in frame:
            frame[name] = frame[name].map(lambda word, texts=texts: texts.get(word, word))
    for i, metric in enumerate(METRICS):
        frame[metric] = frame[metric].map(lambda score, i=i: str(score) if score else ("N/A", "")[i % 2])
    return frame


def _nested(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word, name in names.items():
        first, _, last = name.partition(".")
        value = row[word]
        if word in METRICS:
            value = int(value) if value.isdecimal() else None
        if word == "clean":
            value = value == "true"
        if last:
            found.setdefault(first, {})[last] = value
        else:
            found[first] = value
    return found
