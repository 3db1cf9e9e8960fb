"""Two crossed data sets recounted: the golden files against a fresh count, and samples of them by a plain route.

The plain route is pandas and loops, written from the definitions and sharing no code with the package. What the numbers
mean is in crossed.md.
"""

from __future__ import annotations

import importlib
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

HERE = Path(__file__).parent


def golden(name: str) -> dict[str, Any]:
    return json.loads((HERE / name).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("crossed_counts")


# Parts that are drawn: another stream of random numbers gives them again within Monte Carlo error only.
DRAWN = {"interval", "percentile", "bca", "p", "range of noise alone", "sd of country effects", "human sd", "judge sd"}
DRAWN |= {"ratio of sds", "null"}


def assert_same(found: Any, kept: Any, where: tuple[str, ...] = ()) -> None:
    if isinstance(kept, dict):
        assert list(found) == list(kept), where
        for key in kept:
            assert_same(found[key], kept[key], (*where, key))
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for one, other in zip(found, kept, strict=True):
            assert_same(one, other, where)
    elif isinstance(kept, float) and found is not None:
        assert found == pytest.approx(kept, abs=0.025 if DRAWN & set(where) else 2e-6), where
    else:
        assert found == kept, where


def recount(counts: Any, name: str, shared: Path) -> None:
    assert_same(json.loads(json.dumps(counts.FILES[name](shared))), golden(name))


def test_multi3hate_is_what_was_kept(counts: Any, shared: Path) -> None:
    recount(counts, "crossed_multi3hate.json", shared)


@pytest.mark.slow
def test_rtp_lx_is_what_was_kept(counts: Any, shared: Path) -> None:
    recount(counts, "crossed_rtp_lx.json", shared)


# --- plain route: Multi3Hate -----------------------------------------------------------------------------------------


def majorities(shared: Path) -> pd.DataFrame:
    """Memes by countries, 1 where most annotators say hate, 0.5 for a tie."""
    labels = pd.read_csv(shared / "data" / "multi3hate" / "labels.csv", keep_default_na=False)
    share = labels.groupby(["item", "country"])["label"].mean().unstack()
    return (share > 0.5) * 1.0 + (share == 0.5) * 0.5


def test_multi3hate_leans_spread_and_noise(shared: Path) -> None:
    kept, table = golden("crossed_multi3hate.json")["human"], majorities(shared)
    means = table.mean()
    for country, mean in means.items():
        lean = kept["leans"][country]
        assert lean["value"] == pytest.approx(mean, abs=1e-6)
        # Without a bootstrap: mean +- 1.96 standard errors of 300 memes.
        reach = 1.96 * table[country].std() / 300**0.5
        ends = (lean["interval"]["low"], lean["interval"]["high"])
        assert ends == pytest.approx((mean - reach, mean + reach), abs=0.01)
    assert kept["spread"]["value"] == pytest.approx(means.max() - means.min(), abs=1e-6)
    # The noise in the variance of the five means, from the covariance of memes and not from draws.
    covariance = table.cov().to_numpy() / 300
    noise = np.trace(covariance) / 5 - (covariance.sum() - np.trace(covariance)) / 20
    corrected = kept["sd of country effects"]
    assert corrected["noise variance"] == pytest.approx(noise, rel=0.15)
    assert corrected["value"] == pytest.approx((means.var() - noise) ** 0.5, rel=0.04)
    # The range of five correlated normals with that covariance, drawn directly.
    drawn = np.random.default_rng(1).multivariate_normal(np.zeros(5), covariance, 20_000)
    ranges = np.ptp(drawn, axis=1)
    assert kept["range of noise alone"]["mean"] == pytest.approx(ranges.mean(), rel=0.06)
    assert kept["range of noise alone"]["upper 5%"] == pytest.approx(np.quantile(ranges, 0.95), rel=0.1)


def test_multi3hate_permutation(shared: Path) -> None:
    kept, table = golden("crossed_multi3hate.json")["permutation within items"], majorities(shared).to_numpy()
    observed = np.ptp(table.mean(axis=0))
    assert kept["spread of majority leans"]["observed"] == pytest.approx(observed, abs=1e-6)
    random = np.random.default_rng(3)
    larger = 0
    for _ in range(500):
        shuffled = np.array([random.permutation(row) for row in table])
        larger += np.ptp(shuffled.mean(axis=0)) >= observed - 1e-12
    # No shuffle of 199 reached it; the exact p is below 0.015 with these data.
    assert kept["spread of majority leans"]["p"] == pytest.approx(1 / 200)
    assert (larger + 1) / 501 < 0.015


def heldout_by_loops(human: pd.DataFrame, judge: dict[Any, Any]) -> tuple[int, int, int]:
    """Comparisons, human hits, judge hits; `human` has the columns place, annotator and label."""
    n = hits = judge_hits = 0
    for place, rows in human.groupby("place", sort=False):
        if place not in judge:
            continue
        pairs = list(zip(rows["annotator"], rows["label"], strict=True))
        for who, label in pairs:
            ranked = Counter(y for a, y in pairs if a != who).most_common()
            if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
                continue
            n += 1
            hits += label == ranked[0][0]
            judge_hits += judge[place] == ranked[0][0]
    return n, hits, judge_hits


@pytest.mark.parametrize(
    "name", ["qwen2vl7b_p0", "qwen2vl7b_p5", "gpt4o CNrun, C is hate", "gpt4o INrun, B or C is hate"]
)
def test_multi3hate_held_out(name: str, shared: Path) -> None:
    folder = shared / "data" / "multi3hate"
    human = pd.read_csv(folder / "labels.csv", keep_default_na=False)
    human["place"] = list(zip(human["item"], human["country"], strict=True))
    said = pd.read_csv(folder / "judges.csv", keep_default_na=False, dtype=str)
    if name.startswith("gpt4o"):
        said = said[said["judge"].str.startswith("gpt4o_" + name[6:11]) & ~said["judge"].str.endswith("general")]
        hate = {"B", "C"} if "B or C" in name else {"C"}
        judge = {(r.item, r.persona): int(r.label in hate) for r in said.itertuples() if r.label}
    else:
        said = said[said["judge"] == name]
        judge = {(r.item, c): int(r.label) for r in said.itertuples() for c in ("US", "DE", "MX", "IN", "CN")}
    n, hits, judge_hits = heldout_by_loops(human, judge)
    kept = golden("crossed_multi3hate.json")["judges"][name]["held out"]["skip"]
    assert kept["n"] == n
    assert (kept["human"], kept["judge"]) == pytest.approx((hits / n, judge_hits / n), abs=1e-6)
    assert kept["difference"]["value"] == pytest.approx((judge_hits - hits) / n, abs=2e-6)


# --- plain route: RTP-LX ---------------------------------------------------------------------------------------------


@cache
def rtp(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    human = pd.read_csv(folder / "labels_full.csv.gz", keep_default_na=False)
    judge = pd.read_csv(folder / "judges_full.csv.gz", keep_default_na=False)
    return human, judge[judge["judge"] == "gpt4"]


def usable(judge: pd.DataFrame) -> pd.DataFrame:
    top = np.where(judge["question"] == "Toxicity", 5, 3)
    return judge[(judge["country"] != "EN") & (judge["label"] >= 1) & (judge["label"] <= top)]


def test_rtp_lx_rows_that_were_not_used(shared: Path) -> None:
    _, judge = rtp(shared / "data" / "rtp_lx")
    english = judge["country"] == "EN"
    off = len(judge) - int(english.sum()) - len(usable(judge))
    missing = 999 * 25 * 8 - int((~english).sum())
    assert list(golden("crossed_rtp_lx.json")["judge rows not used"].values()) == [off, int(english.sum()), missing]


@pytest.mark.parametrize("question", ["Violence", "Toxicity"])
def test_rtp_lx_held_out(question: str, shared: Path) -> None:
    human, judge = (part[part["question"] == question] for part in rtp(shared / "data" / "rtp_lx"))
    kept = golden("crossed_rtp_lx.json")["questions"][question]["held out"]["skip"]
    # Three annotators: the reference exists where the two others agree.
    human = human.assign(position=human["annotator"].str[-1])
    table = human.pivot(index=["item", "country"], columns="position", values="label")
    said = usable(judge).set_index(["item", "country"])["label"]
    table = table.join(said.rename("judge"), how="inner")
    n = hits = judge_hits = 0
    differences = []
    for mine, one, two in (("0", "1", "2"), ("1", "0", "2"), ("2", "0", "1")):
        agree = table[one] == table[two]
        n += int(agree.sum())
        hits += int((agree & (table[mine] == table[one])).sum())
        judge_hits += int((agree & (table["judge"] == table[one])).sum())
        gain = agree * ((table["judge"] == table[one]) * 1 - (table[mine] == table[one]) * 1)
        differences.append(pd.DataFrame({"n": agree * 1, "gain": gain}))
    assert (kept["n"], kept["tied references"]) == (n, 3 * len(table) - n)
    assert (kept["human"], kept["judge"]) == pytest.approx((hits / n, judge_hits / n), abs=1e-6)
    # The interval of the difference, without draws: linearised ratio over prompts.
    by_prompt = sum(differences[1:], differences[0]).groupby("item").sum()
    value = by_prompt["gain"].sum() / by_prompt["n"].sum()
    residual = by_prompt["gain"] - value * by_prompt["n"]
    reach = 1.96 * (len(residual) * residual.var()) ** 0.5 / n
    for method in ("percentile", "bca"):
        ends = kept["difference"][method]
        assert (ends["low"], ends["high"]) == pytest.approx((value - reach, value + reach), abs=0.25 * reach)


def majority_scores(human: pd.DataFrame, top: int) -> pd.DataFrame:
    """Prompts by locales: score (1 the most harmful) of the plurality label, tied labels averaged."""

    def score(labels: pd.Series) -> float:
        count = Counter(labels)
        tied = [x for x, times in count.items() if times == max(count.values())]
        return sum((x - 1) / (top - 1) for x in tied) / len(tied)

    return human.groupby(["item", "country"])["label"].agg(score).unstack()


def test_rtp_lx_leans_and_flattening(shared: Path) -> None:
    human, judge = (part[part["question"] == "Insult"] for part in rtp(shared / "data" / "rtp_lx"))
    kept = golden("crossed_rtp_lx.json")["questions"]["Insult"]
    scores = majority_scores(human, 3)
    for country, mean in scores.mean().items():
        assert kept["human"]["leans"][country]["value"] == pytest.approx(mean, abs=1e-6)
    assert kept["human"]["spread"]["value"] == pytest.approx(np.ptp(scores.mean()), abs=1e-6)
    said = (usable(judge).set_index(["item", "country"])["label"].unstack() - 1) / 2
    said = said.dropna()  # prompts that the judge labelled in all 25 locales
    same = scores.loc[said.index, said.columns]
    part = kept["flattening"]
    assert part["n"] == said.size
    assert part["human spread"]["value"] == pytest.approx(np.ptp(same.mean()), abs=1e-6)
    assert part["judge spread"]["value"] == pytest.approx(np.ptp(said.mean()), abs=1e-6)
    assert part["ratio of spreads"]["value"] == pytest.approx(np.ptp(said.mean()) / np.ptp(same.mean()), abs=1e-5)
    sds = []
    for table in (same, said):
        noise = table.cov().to_numpy() / len(table)
        size = len(noise)
        error = np.trace(noise) / size - (noise.sum() - np.trace(noise)) / (size * (size - 1))
        sds.append((table.mean().var() - error) ** 0.5)
    assert (part["human sd"], part["judge sd"]) == pytest.approx(sds, rel=0.01)
    assert part["ratio of sds"]["value"] == pytest.approx(sds[1] / sds[0], rel=0.01)


def test_rtp_lx_annotators_as_a_sample(shared: Path) -> None:
    human, _ = rtp(shared / "data" / "rtp_lx")
    rows = human[human["question"] == "Bias"].assign(score=lambda frame: (frame["label"] - 1) / 2)
    means = rows.groupby(["country", "annotator"])["score"].mean()
    within = means.groupby("country").var().mean()
    between = means.groupby("country").mean().var()
    kept = golden("crossed_rtp_lx.json")["questions"]["Bias"]["annotators as a sample"]
    assert kept["sd of annotators within a country"] == pytest.approx(within**0.5, abs=1e-6)
    assert kept["sd of countries"]["value"] == pytest.approx((between - within / 3) ** 0.5, abs=1e-6)


def test_rtp_lx_grid_letters(shared: Path) -> None:
    human, _ = rtp(shared / "data" / "rtp_lx")
    kept = golden("crossed_rtp_lx.json")["grid"]
    for country in ("KO", "UK", "DE"):
        letters = ""
        for question in kept["questions"]:
            rows = human[(human["question"] == question) & (human["country"] == country)]
            votes: Counter[int] = Counter()
            for _, labels in rows.groupby("item")["label"]:
                count = Counter(labels)
                votes[max(x for x in count if count[x] == max(count.values()))] += 1
            letters += str(max(x for x in votes if votes[x] == max(votes.values())))
        assert kept["human letters (3 strictest)"][country] == letters
