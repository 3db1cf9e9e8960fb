"""Designs whose labels look crossed and yet cannot tell countries: no share, decision or effect of them comes out."""

from __future__ import annotations

from dataclasses import replace

import click
import numpy as np
import pytest
from countback.audit.fit import run, text
from countback.audit.fit.drawing import drawings
from countback.audit.fit.options import Options
from countback.audit.fit.run import fit_labels
from countback.audit.fit.source import Labels
from countback.audit.fit.tree import Found, as_json
from fit_data import Engine, grid


def found(monkeypatch: pytest.MonkeyPatch, table: Labels, **options) -> Found:
    monkeypatch.setattr(run, "_posteriors", Engine([1 / 99] * 10))
    return fit_labels(table, Options(engine="nuts", **options))


def fenced(result: Found, why: str) -> None:
    said, tree = " ".join(click.unstyle(text.present(result)).split()), as_json(result)
    assert result.exit_code == 3
    assert why in result.fence
    assert why in said
    for word in ("COUNTRY'S SHARE OF THE", "P(share", "BELOW", "COUNTRIES ", "cubes/p2"):
        assert word not in said, word
    assert (tree["decision"], tree["rule of cubes/p2"]) == (None, {})
    assert isinstance(tree["moments"], str) or tree["moments"]["confounded"] is True
    for fit in tree["fits"]:
        assert (fit["P(share < 5%)"], fit["countries"]) == (None, None)
    assert [drawing.name for drawing in drawings(result)] == ["parts", "ranks"]


def one_person_for_shared_items() -> Labels:
    """Items 0-11 are shared, each country's by its first person alone; 12 items of their own by three people each."""
    table = grid(items=48)
    item, person = table.item, table.annotator % 3
    kept = np.where(item < 12, person == 0, (item - 12) // 12 == table.country)
    rows = {name: getattr(table, name)[kept] for name in ("item", "country", "annotator", "question", "label")}
    units = np.unique(table.unit[kept])
    of_units = {name: getattr(table, name)[units] for name in ("unit_item", "unit_country", "unit_question")}
    return replace(table, **rows, **of_units, unit=np.searchsorted(units, table.unit[kept]))


def a_question_of_its_own(table: Labels) -> Labels:
    """Each country's labels under a question of its own, as where the question is written in each language."""
    names = tuple(f"q{code}" for code in range(len(table.countries)))
    return replace(table, question=table.country, unit_question=table.unit_country, questions=names)


def test_one_person_of_each_country_labelled_what_is_shared(monkeypatch):
    result = found(monkeypatch, one_person_for_shared_items())
    assert result.design.separable  # of all labels, whose items of one country are then left out
    assert result.data.names == ("country", "item")
    fenced(result, "Each country has one annotator")
    assert "36 of the labels in the model" in " ".join(text.present(result).split())  # 12 items x 3 countries x 1


def test_a_question_of_its_own_for_each_country(monkeypatch):
    table = a_question_of_its_own(grid())
    fenced(found(monkeypatch, table), "not asked the same questions")
    said = " ".join(text.present(found(monkeypatch, table)).split())
    assert "what it was asked is in it as much as the country" in said


def test_questions_turned_round_between_countries(monkeypatch):
    """Country 0 is asked q0 about even items and q1 about odd ones, the others the other way round."""
    table = grid()
    table = replace(
        table,
        question=(table.item + (table.country > 0)) % 2,
        unit_question=(table.unit_item + (table.unit_country > 0)) % 2,
        questions=("q0", "q1"),
    )
    fenced(found(monkeypatch, table), "not asked the same questions")


def test_the_same_questions_in_all_countries_are_not_fenced(monkeypatch):
    result = found(monkeypatch, grid(questions=2))
    assert (result.fence, result.exit_code) == ("", 0)
    assert as_json(result)["fits"][0]["countries"]
