"""Labels read with few questions: a codebook from the data, decisions written down, judges lined up by text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from countback.audit.judge.input import Inputs, read_inputs
from countback.audit.judge.settings import read_settings
from countback.audit.judge.study import build
from countback.fetch.errors import UserError
from judge_data import write


def read(labels: Path, judges: Path | None = None, **told: Any) -> Inputs:
    return read_inputs(labels, judges, read_settings(labels, judges, **told))


def kinds(inputs: Inputs) -> dict[str, Any]:
    return {choice.kind: choice.facts for choice in inputs.choices}


def test_numbers_are_in_order_and_their_gaps_are_on_the_scale(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", [(1, "a", "", "10"), (1, "b", "", "8"), (2, "a", "", "8"), (2, "b", "", " 10")])
    inputs = read(labels)
    assert inputs.table.labels == ("8", "9", "10")
    assert inputs.ordered
    assert kinds(inputs)["codebook"] == {"labels": {"": ("8", "9", "10")}, "ordered": True}
    assert inputs.report.counts["valid"] == 4


def test_words_have_no_order_until_somebody_says_one(tmp_path: Path) -> None:
    rows = [(i, who, "", label) for i, label in enumerate(["good", "bad", "middling"] * 2) for who in "ab"]
    labels = write(tmp_path / "l.csv", rows)
    assert not read(labels).ordered
    told = read(labels, codebook="bad,middling,good")
    assert told.ordered
    assert told.table.labels == ("bad", "middling", "good")
    assert "codebook" not in kinds(told)
    # with two labels either order gives the same, but for its sign
    assert read(write(tmp_path / "two.csv", [(1, "a", "", "yes"), (1, "b", "", "no")])).ordered


def test_a_question_that_lacks_a_label_by_chance_keeps_its_scale(tmp_path: Path) -> None:
    scales = {"harm": "123", "bias": "123", "tone": "12345", "rare": "12"}
    rows = [(i, who, q, label) for q, own in scales.items() for i, label in enumerate(own) for who in "ab"]
    labels = write(tmp_path / "l.csv", rows, ("item", "annotator", "question", "label"))
    found = read(labels).scales
    assert found["rare"] == ("1", "2", "3")  # the smallest scale that holds 1 and 2, not the scale of tone
    assert (found["harm"], found["tone"]) == (("1", "2", "3"), ("1", "2", "3", "4", "5"))


def test_too_many_texts_are_no_labels(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", [(i, "a", "", f"comment {i}") for i in range(60)])
    with pytest.raises(UserError, match="60 different texts") as caught:
        read(labels)
    assert "--labels LOWEST,...,HIGHEST" in str(caught.value)


def test_few_repeats_are_dropped_and_said_many_are_a_question(tmp_path: Path) -> None:
    rows = [(i, who, "", "12"[i % 2]) for i in range(30) for who in "ab"]
    few = read(write(tmp_path / "few.csv", [*rows, (3, "a", "", "1")]))
    assert kinds(few)["duplicates"] == {"repeated": 1, "labels": 61}
    assert few.report.counts["valid"] == 59
    kept = read(write(tmp_path / "kept.csv", [*rows, (3, "a", "", "1")]), choices=["duplicates=last"])
    assert kept.report.counts["valid"] == 60
    many = write(tmp_path / "many.csv", rows + rows[:20])
    with pytest.raises(UserError, match="--set duplicates=first"):
        read(many)


def test_no_human_label_is_exit_code_three(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", [(1, "m", "1"), (2, "m", "2")], ("item", "judge", "label"))
    with pytest.raises(UserError, match="holds no label by a human") as caught:
        read(labels)
    assert caught.value.exit_code == 3


def test_answers_of_which_none_is_a_label_are_named(tmp_path: Path) -> None:
    """Labels that were named as they are not: 3 answers "1" and 1 answer "2", and no word of judges."""
    rows = [(1, "a", "US", "1"), (1, "b", "US", "1"), (2, "a", "US", "1"), (2, "b", "US", "2")]
    labels = write(tmp_path / "l.csv", rows)
    with pytest.raises(UserError, match=r"found '1' 3, '2' 1\. Name theirs, from lowest to highest") as caught:
        read(labels, codebook="yes,no")
    assert caught.value.exit_code == 2


def humans(tmp_path: Path) -> Path:
    rows = [(i, f"{c}{who}", c, "12"[i % 2]) for i in range(4) for c in ("US", "PK") for who in "ab"]
    return write(tmp_path / "l.csv", rows)


def test_judges_with_decimals_are_read_only_where_nothing_is_merged(tmp_path: Path) -> None:
    labels = humans(tmp_path)
    clear = write(tmp_path / "j.csv", [(0, "m", "1.0"), (1, "m", "2.0"), (2, "m", "0.5")], ("item", "judge", "label"))
    inputs = read(labels, clear)
    assert kinds(inputs)["number forms"] == {"forms": {"1.0": "1", "2.0": "2"}}
    assert inputs.judges is not None
    assert inputs.judges.counts() == {"valid": 2, "judge_failed": 1}
    both = write(tmp_path / "k.csv", [(0, "m", "1.0"), (1, "m", "1"), (2, "m", "2.0")], ("item", "judge", "label"))
    assert kinds(read(labels, both))["number forms"] == {"forms": {"2.0": "2"}}


def test_a_judge_without_countries_answers_for_all_and_the_column_is_pointed_at(tmp_path: Path) -> None:
    labels = humans(tmp_path)
    rows = [(0, "m", "US", "1"), (1, "m", "PK", "2"), (9, "m", "PK", "2")]
    judges = write(tmp_path / "j.csv", rows, ("item", "judge", "persona", "label"))
    inputs = read(labels, judges)
    assert kinds(inputs)["country column"] == {"column": "persona", "values": ["PK", "US"]}
    (judge,) = build(inputs).judges
    assert judge.everywhere
    # items 0 and 1 in both countries; item 9 is nobody's
    assert (judge.rows, int(judge.asked.sum()), judge.unmatched) == (3, 4, 1)
    told = read(labels, judges, judge_columns=["country=persona"])
    (judge,) = (study := build(told)).judges
    assert not judge.everywhere
    asked = [
        (study.items[i], study.countries[c])
        for i, c, a in zip(study.item, study.country, judge.asked, strict=True)
        if a
    ]
    assert sorted(asked) == [("0", "US"), ("1", "PK")]


def test_an_answer_for_one_country_goes_before_one_for_all(tmp_path: Path) -> None:
    labels = humans(tmp_path)
    judges = write(tmp_path / "j.csv", [(0, "m", "", "1"), (0, "m", "PK", "2")], ("item", "judge", "country", "label"))
    study = build(read(labels, judges))
    (judge,) = study.judges
    given = {
        study.countries[c]: study.labels[a]
        for i, c, a in zip(study.item, study.country, judge.answers, strict=True)
        if study.items[i] == "0"
    }
    assert given == {"US": "1", "PK": "2"}


def test_a_file_that_names_no_judge_is_one_judges(tmp_path: Path) -> None:
    labels = humans(tmp_path)
    judges = write(tmp_path / "gpt.csv", [(0, "1"), (1, "2")], ("item", "label"))
    inputs = read(labels, judges)
    assert kinds(inputs)["one judge"] == {"file": "gpt.csv"}
    assert [judge.name for judge in build(inputs).judges] == ["gpt"]


def test_judges_among_the_annotators(tmp_path: Path) -> None:
    rows = [(i, who, "", "12"[i % 2]) for i in range(4) for who in ("ann", "bob", "gpt-4")]
    labels = write(tmp_path / "l.csv", rows)
    assert not build(read(labels)).judges
    study = build(read(labels, choices=["judges=gpt-4"]))
    assert [judge.name for judge in study.judges] == ["gpt-4"]
    assert len(study.unit) == 8


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        ([("x", "m", "1")], ("item", "judge", "label"), "No item of the judges' file"),
        ([(0, "m", "France", "1")], ("item", "judge", "country", "label"), "No country of the judges' file"),
    ],
)
def test_judges_that_do_not_fit_stop(tmp_path: Path, rows: list[Any], header: tuple[str, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        build(read(humans(tmp_path), write(tmp_path / "j.csv", rows, header)))


def test_two_answers_that_only_a_country_tells_apart(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", [(0, "a", "1"), (0, "b", "2")], ("item", "annotator", "label"))
    rows = [(0, "m", "US", "1"), (0, "m", "PK", "2")]
    with pytest.raises(UserError, match="for 'PK' and 'US', and the labels name no country"):
        build(read(labels, write(tmp_path / "j.csv", rows, ("item", "judge", "country", "label"))))
