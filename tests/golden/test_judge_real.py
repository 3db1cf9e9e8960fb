"""`countback judge` on three real data sets: its numbers by a second route that shares no code, and their traps.

The second route counts from the raw files with csv, json and loops or plain NumPy; the traps are those that the data's
own SOURCE.md files describe, and the audit is told none of them.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from countback.audit.judge import audit_labels
from countback.audit.judge.notes import trap_lines
from countback.audit.judge.settings import read_settings
from countback.audit.judge.text import present
from countback.audit.judge.tree import Audit, JudgeReport

THREE = ("IdentityAttack", "Bias", "Insult", "Microaggression", "Violence", "SexualContent", "SelfHarm")


def audit(labels: Path, judges: Path | None = None, *, draws: int = 200, **told: Any) -> Audit:
    return audit_labels(labels, judges, read_settings(labels, judges, **told), draws=draws, seed=1)


def facts(found: Audit, kind: str) -> list[Any]:
    return [trap.facts for trap in found.traps if trap.kind == kind]


def report(found: Audit, name: str) -> JudgeReport:
    return next(judge for judge in found.judges if judge.name == name)


# --- RTP-LX ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rtp(shared: Path) -> tuple[Audit, dict[Any, list[str]], list[dict[str, str]]]:
    folder = shared / "data" / "rtp_lx"
    labels, judges = folder / "labels_full.csv.gz", folder / "judges_full.csv.gz"
    humans: dict[Any, list[str]] = defaultdict(list)
    with gzip.open(labels, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            humans[row["item"], row["country"], row["question"]].append(row["label"])
    with gzip.open(judges, "rt", encoding="utf-8", newline="") as file:
        given = list(csv.DictReader(file))
    return audit(labels, judges), humans, given


def of_gpt4(given: list[dict[str, str]]) -> dict[Any, str]:
    """Its label in each unit; "" where the answer is not on the question's scale."""
    labels = {}
    for row in given:
        if row["judge"] == "gpt4":
            top = 5 if row["question"] == "Toxicity" else 3
            number = float(row["label"])
            on = number.is_integer() and 1 <= number <= top
            labels[row["item"], row["country"], row["question"]] = str(int(number)) if on else ""
    return labels


@pytest.mark.slow
def test_rtp_lx_held_out_by_a_second_route(rtp: Any) -> None:
    found, humans, given = rtp
    gpt4 = of_gpt4(given)
    n, human, judge, missing = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for (item, country, question), labels in humans.items():
        answer = gpt4.get((item, country, question))
        if answer is None:
            continue
        for k, own in enumerate(labels):
            first, second = labels[:k] + labels[k + 1 :]
            if first == second:
                for where in (country, "with EN", "all" if country != "EN" else "void"):
                    n[where] += 1
                    human[where] += own == first
                    judge[where] += answer == first
                    missing[where] += answer == ""
    gpt = report(found, "gpt4")
    assert gpt.left_out == ("EN",)
    assert gpt.overall is not None
    assert gpt.with_them is not None
    rows = [(gpt.overall, "all"), (gpt.with_them, "with EN"), *((c, c.where) for c in gpt.by_country)]
    assert len(gpt.by_country) == 25
    for c, where in rows:
        assert (c.n, c.missing) == (n[where], missing[where])
        assert c.human == pytest.approx(human[where] / n[where])
        assert c.judge == pytest.approx(judge[where] / n[where])
    # cluster-robust t: prompts are the clusters, so the sums over prompts are all it needs
    gain, size = Counter[str](), Counter[str]()
    for (item, country, question), labels in humans.items():
        answer = gpt4.get((item, country, question))
        if answer is None or country == "EN":
            continue
        for k, own in enumerate(labels):
            first, second = labels[:k] + labels[k + 1 :]
            if first == second:
                gain[item] += (answer == first) - (own == first)
                size[item] += 1
    g, s = (np.array([counter[item] for item in size], float) for counter in (gain, size))
    residual = g - g.sum() / s.sum() * s
    se = (len(g) * residual.var(ddof=1)) ** 0.5 / s.sum()
    t = 1.9623  # the 97.5% point of Student's t with 998 degrees of freedom
    low, high = gpt.overall.robust
    assert low == pytest.approx(g.sum() / s.sum() - t * se, abs=1e-5)
    assert high == pytest.approx(g.sum() / s.sum() + t * se, abs=1e-5)
    assert gpt.overall.difference.low == pytest.approx(low, abs=0.002)
    assert gpt.overall.decision == "behind"


@pytest.mark.slow
def test_rtp_lx_traps(rtp: Any) -> None:
    found, humans, given = rtp
    gpt4 = of_gpt4(given)
    # void English labels: two thirds are absent, and the rest have nothing to do with the humans'
    (void,) = facts(found, "left out")
    answered = sum(country == "EN" and label != "" for (_, country, _), label in gpt4.items())
    assert (void["country"], void["answered"], void["units"]) == ("EN", answered, 999 * 8)
    assert abs(void["kappa"]) < 0.05
    assert void["kappa elsewhere"] > 0.4
    # labels off the scale
    off = next(f for f in facts(found, "off the scale") if f["judge"] == "gpt4")
    assert off["answers"] == sum(label == "" for label in gpt4.values()) == 391
    assert "'0.0' (Microaggression)" in off["forms"]
    # scores are no labels
    (scores,) = facts(found, "no label")
    assert (scores["judge"], scores["valid"], scores["scores"]) == ("acs", 0, True)
    # ids are places in a list, and a place is a person
    (places,) = facts(found, "positions")
    assert (places["first"], places["last"], places["countries"], places["annotators"]) == (0, 2, 26, 78)
    assert places["correlation"] == pytest.approx(0.95, abs=0.03)
    # GPT-4 hardly better than chance on one question
    assert [f["part"] for f in facts(found, "weak question")] == ["Microaggression"]
    # humans who agree as no humans do
    (apart,) = facts(found, "agreement apart")
    for row in (apart["high"], apart["low"]):
        units = [v for (_, country, question), v in humans.items() if (country, question) == (row.where, row.part)]
        equal = sum(a == b for labels in units for a, b in combinations(labels, 2))
        assert row.equal.value == pytest.approx(equal / (3 * 999))
    toxicity = {r.where: r.equal.value for r in found.agreement if r.part == "Toxicity"}
    assert toxicity["TR"] > 0.95
    assert toxicity["NL"] < 0.5
    text = " ".join(click.unstyle(present(found)).split())
    for words in (
        "gpt4: KEEP THE HUMANS",
        "acs: NO VERDICT",
        "these labels are void",
        "26 of 26 countries have at most 3 annotators",
        "flatter than 3 people a country is not yet flatter than a country",
        "Whether its wording was the same in each country, these labels cannot tell",
    ):
        assert words in text
    assert found.design.kind == "crossed"
    assert found.design.separable
    assert found.scope.scales["Toxicity"] == tuple("12345")
    assert all(found.scope.scales[question] == tuple("123") for question in THREE)


# --- Multi3Hate ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hate(shared: Path) -> tuple[Path, Path, dict[Any, list[str]], list[dict[str, str]]]:
    folder = shared / "data" / "multi3hate"
    labels, judges = folder / "labels.csv", folder / "judges.csv"
    humans: dict[Any, list[str]] = defaultdict(list)
    with labels.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            humans[row["item"], row["country"]].append(row["label"])
    with judges.open(encoding="utf-8", newline="") as file:
        return labels, judges, humans, list(csv.DictReader(file))


def held_out(humans: dict[Any, list[str]], judge: dict[Any, str]) -> tuple[int, int, int]:
    n = human = hits = 0
    for unit, labels in humans.items():
        if unit in judge:
            for k, own in enumerate(labels):
                others = Counter(labels[:k] + labels[k + 1 :])
                if others["0"] != others["1"]:
                    top = max(others, key=lambda label: others[label])
                    n, human, hits = n + 1, human + (own == top), hits + (judge[unit] == top)
    return n, human, hits


def test_multi3hate_as_a_first_run(hate: Any) -> None:
    labels, judges, humans, given = hate
    found = audit(labels, judges)
    assert found.design.kind == "crossed"
    for k in range(6):
        name = f"qwen2vl7b_p{k}"
        judge = {
            (row["item"], c): row["label"]
            for row in given
            if row["judge"] == name
            for c in ("US", "DE", "MX", "CN", "IN")
        }
        n, human, hits = held_out(humans, judge)
        overall = report(found, name).overall
        assert overall is not None
        assert (overall.n, overall.human, overall.judge) == (n, pytest.approx(human / n), pytest.approx(hits / n))
        assert overall.difference.clusters == len({item for item, _ in judge})  # memes, not memes times countries
        assert overall.decision == "open"
        assert report(found, name).alternative[0].humans == 0
    # one file is short by one meme
    (short,) = facts(found, "short")
    memes = {name: {r["item"] for r in given if r["judge"] == name} for name in ("qwen2vl7b_p4", "qwen2vl7b_p5")}
    assert (short["judge"], short["items"], short["of"]) == ("qwen2vl7b_p5", 1, 67)
    assert {short["example"]} == memes["qwen2vl7b_p4"] - memes["qwen2vl7b_p5"]
    # the wording decides what it says
    (apart,) = facts(found, "shares apart")
    share = {n: np.mean([r["label"] == "0" for r in given if r["judge"] == n]) for n in (apart["low"], apart["high"])}
    assert (apart["low share"], apart["high share"]) == (
        pytest.approx(share[apart["low"]]),
        pytest.approx(share[apart["high"]]),
    )
    assert share[apart["high"]] - share[apart["low"]] > 0.3
    # it knows no country, its flatness is nothing; GPT-4o answers on another scale, and for whom stands in a column
    assert len(facts(found, "one answer")) == 6
    assert {f["judge"][:5] for f in facts(found, "no label")} == {"gpt4o"}
    assert facts(found, "country column") == [{"column": "persona", "values": ["CN", "IN"]}]
    assert {row.kind for row in found.advice if row.judge.startswith("qwen")} == {"collect"}
    assert {row.kind for row in found.advice if row.judge.startswith("gpt4o")} == {"void"}


def test_multi3hate_with_the_personas_and_the_scale_told(hate: Any) -> None:
    labels, judges, humans, given = hate
    for meaning, better in (({"A": "0", "B": "1", "C": "1"}, False), ({"A": "0", "B": "0", "C": "1"}, True)):
        choice = "judge_file.aliases={" + ", ".join(f"{k} = '{v}'" for k, v in meaning.items()) + "}"
        found = audit(labels, judges, judge_columns=["country=persona"], choices=[choice])
        gaps = []
        for name in ("gpt4o_CNrun_china", "gpt4o_INrun_india"):
            judge = {(r["item"], r["persona"]): meaning.get(r["label"], "") for r in given if r["judge"] == name}
            n, human, hits = held_out(humans, judge)
            overall = report(found, name).overall
            assert overall is not None
            assert (overall.n, overall.human, overall.judge) == (n, pytest.approx(human / n), pytest.approx(hits / n))
            gaps.append(overall.difference.value)
        assert (max(gaps) < -0.2) == better  # reading "may offend" as no hate puts it far behind
    assert "country column" not in {trap.kind for trap in found.traps}


def test_multi3hate_humans_by_a_second_route(hate: Any) -> None:
    labels, _, humans, _ = hate
    found = audit(labels)
    pairs = [(a == b, country) for (_, country), given in humans.items() for a, b in combinations(given, 2)]
    for row in found.agreement:
        mine = [equal for equal, country in pairs if row.where in ("", country)]
        assert (row.equal.n, row.equal.value) == (len(mine), pytest.approx(np.mean(mine)))
        # nominal alpha: 1 - (observed over expected disagreement), coincidences weighted by 1 / (m - 1)
        observed, totals = 0.0, Counter[str]()
        for (_, country), given in humans.items():
            if row.where in ("", country):
                totals.update(given)
                observed += sum(a != b for a, b in combinations(given, 2)) * 2 / (len(given) - 1)
        size = sum(totals.values())
        expected = 2 * totals["0"] * totals["1"] / (size - 1)
        assert row.alpha.value == pytest.approx(1 - observed / expected)
    (lean,) = found.leans
    for country, figure in lean.countries.items():
        majority = [
            Counter(g).most_common()[0][0] == "1" for (_, c), g in humans.items() if c == country
        ]  # no ties here
        assert figure.value == pytest.approx(np.mean(majority))


# --- Label Studio ----------------------------------------------------------------------------------------------------


def test_a_label_studio_export_with_one_command(shared: Path) -> None:
    path = shared / "data" / "label_studio" / "LEOKA_team_6.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))
    found = audit(path)
    given: dict[Any, list[set[str]]] = defaultdict(list)
    for task in tasks:
        for annotation in task["annotations"]:
            for result in annotation["result"]:
                if result["type"] == "taxonomy":
                    key = (task["id"], annotation["completed_by"]["id"])
                    given[key].append({" > ".join(path) for path in result["value"]["taxonomy"]})
    once = {
        key: answers[0] for key, answers in given.items() if len(answers) == 1
    }  # one person answered one task twice
    by_task: dict[int, list[set[str]]] = defaultdict(list)
    for (task, _), answer in once.items():
        by_task[task].append(answer)
    labels = sorted({label for answers in by_task.values() for answer in answers for label in answer})
    rows = {row.part: row for row in found.agreement}
    assert sorted(rows) == [f"Category: {label}" for label in labels]
    for label in labels:
        equal = [(label in a) == (label in b) for answers in by_task.values() for a, b in combinations(answers, 2)]
        row = rows[f"Category: {label}"]
        assert (row.equal.n, row.equal.value) == (len(equal), pytest.approx(np.mean(equal)))
    texts = Counter(task["data"]["text"] for task in tasks)
    (twice,) = facts(found, "same text")
    assert twice["tasks"] == sum(n for n in texts.values() if n > 1) == 4
    (tabs,) = facts(found, "open tabs")
    assert tabs["longest"] == max(a["lead_time"] or 0 for task in tasks for a in task["annotations"])
    assert {f["flag"]: f["number"] for f in facts(found, "flag")}["marked as ground truth"] == 130
    weak = next(row for row in found.advice if row.kind == "low agreement")
    assert {row.part for row in weak.facts["rows"]} >= {"Category: Assaulted > Injured"}
    text = present(found)
    assert "example.invalid" not in text
    assert "there is no judge" in " ".join(text.split())
    assert found.concluded
    assert not [line for line in trap_lines(found.traps) if "Traceback" in line]
