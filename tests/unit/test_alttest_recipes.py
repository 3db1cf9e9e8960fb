"""Reading of the released annotation files: what is accepted, and what a wrong file is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from countback.claims.papers.alt_test.recipes import advantage_probability, read_label_set, winning_rate
from countback.fetch.errors import UserError


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        return self.folder / Path(name).name


def write(folder: Path, humans: object, models: object) -> Files:
    (folder / "human_annotations.json").write_text(json.dumps(humans), "utf-8")
    (folder / "llm_annotations.json").write_text(json.dumps(models), "utf-8")
    return Files(folder)


def test_codes_follow_file_order_and_sorted_labels(tmp_path: Path) -> None:
    write(tmp_path, {"b": {"x": 3, "y": 1}, "a": {"y": 2}}, {"m": {"y": 5, "z": 1, "x": 1}})
    labels = read_label_set(tmp_path / "human_annotations.json", tmp_path / "llm_annotations.json")
    assert labels.labels == (1, 2, 3, 5)
    assert labels.item.tolist() == [0, 1, 1]
    assert labels.annotator.tolist() == [0, 0, 1]
    assert labels.label.tolist() == [2, 0, 1]
    assert labels.judges["m"].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("humans", "models", "message"),
    [
        ({"a": {"x": 1}}, {"m": {"x": "1"}}, "all words or all numbers, found both"),
        ([1, 2], {}, "found list"),
        ({"a": ["x"]}, {"m": {}}, "found list for 'a'"),
        ({"a": {"x": None}}, {"m": {"x": 1}}, "found None as the label of 'a' on 'x'"),
        ({"a": {"x": True}}, {"m": {"x": 1}}, "found True"),
        ({"a": {"x": float("nan")}}, {"m": {"x": 1}}, "found nan"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, humans: object, models: object, message: str) -> None:
    files = write(tmp_path, humans, models)
    with pytest.raises(UserError, match=message):
        winning_rate(files, dataset="any", judge="m", epsilon=0.1, scoring="accuracy")


def test_broken_json_an_unknown_judge_and_words_under_rmse(tmp_path: Path) -> None:
    humans = {name: {str(i): "yes" for i in range(40)} for name in "abc"}
    files = write(tmp_path, humans, {"m": {str(i): "yes" for i in range(40)}})
    with pytest.raises(UserError, match="expected labels of 'other', found those of m"):
        winning_rate(files, dataset="any", judge="other", epsilon=0.1, scoring="accuracy")
    with pytest.raises(UserError, match="needs numbers as labels"):
        advantage_probability(files, dataset="any", judge="m", epsilon=0.1, scoring="neg_rmse")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "human_annotations.json").write_text('{"a": ', "utf-8")
    with pytest.raises(UserError, match="expected a JSON object"):
        winning_rate(Files(broken), dataset="any", judge="m", epsilon=0.1, scoring="accuracy")


def test_too_few_items_are_an_error_with_the_reason(tmp_path: Path) -> None:
    files = write(tmp_path, {"a": {"x": 1}, "b": {"x": 1}}, {"m": {"x": 1}})
    with pytest.raises(UserError, match="no human labelled 30 items"):
        winning_rate(files, dataset="any", judge="m", epsilon=0.1, scoring="accuracy")
