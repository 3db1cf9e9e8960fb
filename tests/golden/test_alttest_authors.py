"""The authors' own printed rows, and their code's per-human values, from the released files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.claims.papers.alt_test.recipes import (
    EPSILONS,
    LabelSet,
    advantage_probability,
    read_label_set,
    winning_rate,
)
from countback.claims.registry import find_papers, load_paper
from countback.models.alttest import AltTest, alt_test


def label_set(shared: Path, name: str) -> LabelSet:
    raw = shared / "data" / "alttest" / "raw"
    return read_label_set(raw / f"{name}_human_annotations.json", raw / f"{name}_llm_annotations.json")


def run(labels: LabelSet, judge: str, epsilon: float, scoring: str, cluster: Any = None) -> AltTest:
    values = np.array(labels.labels, np.float64) if scoring == "neg_rmse" else None
    return alt_test(
        labels.item,
        labels.annotator,
        labels.label,
        labels.judges[judge],
        epsilon=epsilon,
        values=values,
        cluster=cluster,
    )


def printed_rows(shared: Path) -> list[dict[str, str]]:
    with (shared / "data" / "alttest" / "expected_from_notebook.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_claims_are_the_printed_rows(shared: Path) -> None:
    """Each printed cell is one claim, with the string as printed."""
    claims = {claim.id: claim.reported for claim in load_paper(find_papers(("alt-test",))[0]).claims}
    expected = {}
    for row in printed_rows(shared):
        base = f"{row['dataset']}.{row['judge']}".replace("_", "-")
        expected[f"{base}.winning-rate"] = row["winning_rate"]
        expected[f"{base}.advantage"] = row["advantage_probability"]
        expected[f"{base}.verdict"] = row["verdict"]
    assert claims == expected
    assert len(claims) == 156


def test_the_rows_settle_epsilon_for_seven_sets_of_nine(shared: Path) -> None:
    """Which epsilons of the authors, and which scoring, print all rows of a set."""
    fits: dict[str, set[tuple[str, float]]] = {}
    for row in printed_rows(shared):
        labels = label_set(shared, row["dataset"])
        scorings = ["accuracy", "neg_rmse"] if isinstance(labels.labels[0], int) else ["accuracy"]
        here = set()
        for scoring in scorings:
            for epsilon in EPSILONS:
                result = run(labels, row["judge"], epsilon, scoring)
                shown = (
                    f"{result.winning_rate:.2f}",
                    f"{result.advantage_probability:.2f}",
                    "PASSED" if result.passes else "FAILED",
                )
                if shown == (row["winning_rate"], row["advantage_probability"], row["verdict"]):
                    here.add((scoring, epsilon))
        fits[row["dataset"]] = fits.get(row["dataset"], here) & here
    assert fits == {
        "wax": {("accuracy", 0.1)},
        "lgbteen": {("accuracy", 0.2)},
        "mtbench": {("accuracy", 0.1), ("accuracy", 0.15), ("accuracy", 0.2)},
        "framing": {("accuracy", 0.15)},
        "cebab_aspects": {("accuracy", 0.1)},
        "summeval": {("neg_rmse", 0.1), ("neg_rmse", 0.15), ("neg_rmse", 0.2)},
        "10k_prompts": {("neg_rmse", 0.15)},
        "cebab_stars": {("neg_rmse", 0.1)},
        "lesion": {("neg_rmse", 0.15)},
    }


def clusters(shared: Path, name: str) -> Any:
    """The text, review or image an item belongs to, read off its name: the prefix before "__" (for the stars without
    the six digits that number the versions of a review)."""
    with (shared / "data" / "alttest" / "raw" / f"{name}_human_annotations.json").open(encoding="utf-8") as file:
        humans = json.load(file)
    items = dict.fromkeys(item for own in humans.values() for item in own)
    groups: dict[str, int] = {}
    names = [item.split("__")[0] for item in items]
    if name == "cebab_stars":
        names = [item[:-6] for item in names]
    return np.array([groups.setdefault(group, len(groups)) for group in names])


@pytest.mark.parametrize("name", ["lesion", "cebab_stars", "summeval"])
def test_every_reference_value(shared: Path, name: str) -> None:
    """Winning rate at three epsilons, advantage, per-human n, mean and p of the authors' code; p by clusters of a
    plain reimplementation."""
    with (shared / "reference" / "agreement.json").open(encoding="utf-8") as file:
        entries = [e for e in json.load(file) if e["dataset"] == name and e["statistic"].startswith("alt_test.")]
    labels, cluster = label_set(shared, name), clusters(shared, name)
    checked = 0
    for entry in entries:
        epsilon, judge, value = entry["params"]["epsilon"], entry["judge"], entry["value"]
        result = run(labels, judge, epsilon, "neg_rmse")
        if entry["statistic"] == "alt_test.winning_rate":
            assert result.winning_rate == value
        elif entry["statistic"] == "alt_test.advantage_probability":
            assert result.advantage_probability == pytest.approx(value, rel=1e-14)
        elif entry["statistic"].startswith("alt_test.per_human"):
            n, mean, p = np.array(value).T
            assert result.n.tolist() == n.tolist()
            assert result.difference.tolist() == pytest.approx(mean.tolist(), abs=1e-15)
            assert result.p.tolist() == pytest.approx(p.tolist(), rel=1e-12, abs=0)
        else:
            robust = run(labels, judge, epsilon, "neg_rmse", cluster)
            assert robust.p.tolist() == pytest.approx(value["p_cluster"], rel=1e-12, abs=0)
            assert robust.winning_rate == value["winning_rate_cluster_robust_t"]
            groups = [len(np.unique(cluster[labels.item[labels.annotator == human]])) for human in robust.humans]
            assert groups == value["clusters_per_human"]
        checked += 1
    assert checked == 6 * len(labels.judges)


class Copies:
    """The released files of one set, copied under the names that the recipes ask for."""

    def __init__(self, shared: Path, name: str, folder: Path) -> None:
        self.folder = folder
        for kind in ("human", "llm"):
            source = shared / "data" / "alttest" / "raw" / f"{name}_{kind}_annotations.json"
            (folder / f"{kind}_annotations.json").write_bytes(source.read_bytes())

    def path(self, name: str) -> Path:
        return self.folder / Path(name).name


def test_a_changed_label_changes_the_recount(shared: Path, tmp_path: Path) -> None:
    """One human label moved shows in the exact advantage; a judge made constant shows in the printed digits."""
    with_ = {"dataset": "lesion", "judge": "gemini_pro", "epsilon": 0.15, "scoring": "neg_rmse"}
    values = []
    for change in ("none", "one label", "constant judge"):
        folder = tmp_path / change.replace(" ", "-")
        folder.mkdir()
        files = Copies(shared, "lesion", folder)
        humans = json.loads((folder / "human_annotations.json").read_text("utf-8"))
        models = json.loads((folder / "llm_annotations.json").read_text("utf-8"))
        if change == "one label":
            item = next(item for item, label in humans["student_1"].items() if label == 2)
            humans["student_1"][item] = 6
        if change == "constant judge":
            models["gemini_pro"] = dict.fromkeys(models["gemini_pro"], 6)
        (folder / "human_annotations.json").write_text(json.dumps(humans), "utf-8")
        (folder / "llm_annotations.json").write_text(json.dumps(models), "utf-8")
        found = advantage_probability(files, **with_), winning_rate(files, **with_)  # type: ignore[arg-type]
        values.append([recount.value for recount in found])
    assert [f"{float(x):.2f}" for x in values[0]] == ["0.81", "1.00"]
    assert values[1][0] != values[0][0]
    assert [f"{float(x):.2f}" for x in values[2]] != ["0.81", "1.00"]
    assert values[2][1] == 0
