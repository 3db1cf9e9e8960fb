"""A verdict in words: each relation as one would write it by hand, anchors, escapes."""

from __future__ import annotations

import hashlib

import pytest
from countback.audit.report.data import Evidence, anchor
from countback.audit.report.files import markdown
from countback.audit.report.picture_words import bar_words, plain
from countback.audit.report.words import RELATIONS, address, blocks, expression, number, printed_numbers, span
from countback.claims.pictures import Bar
from countback.claims.predicates import PREDICATES
from countback.claims.relations import VALUES


def check(relation: str, *printed: str, **more: object) -> Evidence:
    of = [{"from": f"t1|row {i}|A", "printed": text} for i, text in enumerate(printed, start=1)]
    return Evidence.model_validate({"relation": relation, "of": of, **more})


def test_every_relation_has_words():
    assert set(RELATIONS) == set(VALUES) | set(PREDICATES)


@pytest.mark.parametrize(
    ("relation", "printed", "written"),
    [
        ("mean", ("3.80", "4.60", "4.45"), "(3.80 + 4.60 + 4.45) / 3"),
        ("mean", ("3.80",), "3.80"),
        ("sum", ("1,827", "1,819"), "1,827 + 1,819"),
        ("difference", ("3.10", "3.03"), "3.10 − 3.03"),
        ("product", ("5", "12"), "5 × 12"),
        ("ratio", ("$3,022.50", "1,860"), "$3,022.50 / 1,860"),
        ("percent", ("21", "157"), "100 × 21 / 157"),
        ("change", ("2.0", "2.5"), "100 × (2.5 − 2.0) / 2.0"),
        ("remainder", ("100", "60", "15"), "100 − (60 + 15)"),
        ("remainder-mean", ("4.1", "100", "4.0", "40"), "(4.1 × 100 − 4.0 × 40) / (100 − 40)"),
        ("choose", ("11", "3"), "C(11, 3)"),
        ("inside", ("0.28", "0.10", "0.54"), "0.10 ≤ 0.28 ≤ 0.54"),
        ("at-most", ("491", "601"), "491 ≤ 601"),
        ("descending", ("0.59", "0.45", "0.27"), "0.59 ≥ 0.45 ≥ 0.27"),
        ("highest", ("7", "4", "5"), "7 = max(7, 4, 5)"),
    ],
)
def test_a_relation_as_written_by_hand(relation, printed, written):
    assert expression(check(relation, *printed)) == written


def test_weights_names_and_n_stand_where_they_belong():
    weights = [{"from": "=2", "printed": "2"}, {"from": "=3", "printed": "3"}]
    assert expression(check("weighted-mean", "4.0", "5.0", weights=weights)) == "(2 × 4.0 + 3 × 5.0) / (2 + 3)"
    formula = check("formula", "9", "2", expr="three * 3 + two", names=["three", "two"])
    assert expression(formula) == "three * 3 + two with three = 9, two = 2"
    assert expression(check("grim", "3.45", n=[{"from": "#n", "printed": "20"}])) == "3.45; n = 20"


def test_a_nested_check_is_in_brackets_and_its_numbers_are_all_listed():
    inner = {"relation": "difference", "of": [{"from": "#a", "printed": "622"}, {"from": "#b", "printed": "21"}]}
    nested = Evidence.model_validate({"relation": "at-most", "of": [{"from": "#n", "printed": "491"}, inner]})
    assert expression(nested) == "491 ≤ (622 − 21)"
    listed = [(each.place, each.text) for each in printed_numbers(nested, {})]
    assert listed == [("text, #n", "491"), ("text, #a", "622"), ("text, #b", "21")]


def test_an_unknown_relation_is_named_and_its_numbers_shown():
    assert expression(check("tally", "1", "2")) == "tally(1, 2)"


def test_addresses_and_numbers():
    assert address("table-04|GPT-5 mini|Help", {"table-04": "Table 4"}) == "Table 4, GPT-5 mini, Help"
    assert address("=18", {}) == "a number of ours, exact"
    assert number("-0.0238") == "−0.0238"
    assert number(0.333333333) == "0.333333"
    assert number(None) == ""
    assert span(("3", "3")) == "3"
    assert span(("-0.5", "0.5")) == "−0.5 to 0.5"


def test_notes_are_paragraphs_and_lists_whatever_lines_they_were_typed_in():
    notes = "One\nparagraph.\nStill it:\n- first\n  item\n- second - with a dash\n\nAnother."
    assert blocks(notes) == [
        (False, "One paragraph. Still it:"),
        (True, "first item"),
        (True, "second - with a dash"),
        (False, "Another."),
    ]
    assert blocks("") == []
    assert blocks("\n- only\n") == [(True, "only")]


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.808, 0.695, 0.88, "0.808 [0.695, 0.880]"),
        (0.0503, 0.0352, 0.1, "0.0503 [0.0352, 0.1000]"),
        (1.7, 1.33, 2.224, "1.70 [1.33, 2.22]"),
        (-0.194, -0.3, 0.071, "−0.194 [−0.300, 0.071]"),
        (123.4, 99.6, 1000.0, "123 [100, 1000]"),
        (0.0, 0.0, 1.0, "0 [0, 1]"),
    ],
)
def test_a_number_and_its_ends_have_as_many_decimals(value, low, high, shown):
    assert bar_words(Bar("a", "b", value, low, high), plain) == shown


def test_an_anchor_is_plain_stable_and_its_own():
    name = "demo/row[<b> é]"
    assert anchor(name) == "demo-row-b-" + hashlib.sha256(name.encode()).hexdigest()[:8]
    assert anchor("demo/a b") != anchor("demo/a-b")  # one slug, two claims


def test_markdown_shows_any_text_as_it_is():
    assert markdown("<b>*x*</b> [a](b) `c`\n# d @all") == (r"\<b\>\*x\*\</b\> \[a\]\(b\) \`c\` \# d @" + "\u200ball")
