"""predictions.toml: what may stand in it, and that registered words cannot change without a record."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from countback.claims import resolve_lead, resolve_share
from countback.claims.prediction import (
    RESOLVERS,
    Amendment,
    changes,
    check_words,
    load_predictions,
    registration_line,
    sha256_text,
    source,
)
from countback.claims.registry import PAPERS
from countback.fetch.errors import IntegrityError, UserError

TOML = """[[prediction]]
id = "p"
statement = "the judge leads"
where = { section = "5" }
made = 2026-10-07
deadline = 2027-06-30T23:59:59Z
trigger = "labels"
settles = "counts"
resolver = "lead"
with = { judge = "j", countries = 3, at_least = 2, margin = 5, trailing = ["France"], trail = -10 }
outcomes = [
  { outcome = "confirmed", when = "k1 and k2" },
  { outcome = "broken", when = "b1 or b2" },
  { outcome = "both", when = "k1, k2 and b2" },
  { outcome = "neither", when = "else" },
  { outcome = "void", when = "too late" },
]
"""
PRINTED = '[[printed]]\ncountries = ["France"]\nn = 10\nhuman = 5\njudge = 11\n'


def write(folder: Path, text: str) -> Path:
    (folder / "predictions.toml").write_text(text, encoding="utf-8")
    return folder


def load(folder: Path, text: str):
    return load_predictions(write(folder, text), "demo")[0]


def registered(folder: Path, text: str = TOML) -> str:
    """The file with the line that registers its only prediction."""
    (prediction,) = load(folder, text)
    return text + registration_line(prediction, date(2026, 11, 29)) + "\n"


MISTAKES = {
    "a deadline without a zone": ("23:59:59Z", "23:59:59", "predictions.toml:6: prediction.0.deadline"),
    "a deadline that is a day": ("2027-06-30T23:59:59Z", "2027-06-30", "timezone"),
    "no such day": ("2026-10-07", "2026-13-07", "not valid TOML"),
    "an outcome that the resolver cannot give": ('"neither"', '"perhaps"', "can give confirmed, broken, both, neither"),
    "an outcome that is missing": ('  { outcome = "neither", when = "else" },\n', "", "each has to be listed once"),
    "an outcome twice": ('"neither"', '"both"', "each has to be listed once"),
    "no such resolver": ('"lead"', '"oracle"', "prediction.0.resolver: expected"),
    "no such number of the rule": ("margin = 5", "margins = 5", '"p": with.margin'),
    "a number that is none": ("margin = 5", 'margin = "much"', '"p": with.margin'),
    "a criterion that is none": ("trail = -10", 'trail = -10, only = "k9"', '"p": with.only'),
    "derived from nothing": ('id = "p"', 'id = "p"\nderived = "q"', 'derived from "q"'),
    "an unknown key": ("trigger", "triger", "unknown key 'triger'"),
    "a bad registration": (
        "resolver =",
        "registered = { on = 2026-11-29, wording = 'a', resolver = 'b' }\nresolver =",
        "64",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(mistake, tmp_path):
    old, new, sentence = MISTAKES[mistake]
    assert old in TOML
    with pytest.raises(UserError) as error:
        load(tmp_path, TOML.replace(old, new, 1))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_more_printed_hits_than_comparisons(tmp_path):
    with pytest.raises(UserError, match="France: more hits than comparisons"):
        load(tmp_path, TOML + PRINTED)


def test_two_predictions_need_two_ids(tmp_path):
    with pytest.raises(UserError, match='the id "p" stands twice'):
        load(tmp_path, TOML + TOML)


def test_a_forecast_of_an_outcome_that_is_none(tmp_path):
    forecast = '[[prediction.forecast]]\non = 2026-11-29\nmodel = "m"\nof = "perhaps"\nprobability = 0.5\n'
    with pytest.raises(UserError, match='a forecast of "perhaps"'):
        load(tmp_path, TOML + forecast)


def test_no_file_is_no_prediction(tmp_path):
    assert load_predictions(tmp_path, "demo") == ((), ())


WORDS = {
    "statement": ("the judge leads", "the judge leads a little"),
    "deadline": ("2027-06-30", "2027-07-01"),
    "one second": ("23:59:59Z", "23:59:58Z"),
    "trigger": ('"labels"', '"some labels"'),
    "settles": ('"counts"', '"rates"'),
    "a number of the rule": ("at_least = 2", "at_least = 1"),
    "what an outcome means": ('"k1 and k2"', '"k1 or k2"'),
    "the day it was made": ("2026-10-07", "2026-10-08"),
    "a space": ("the judge leads", "the judge  leads"),
}


@pytest.mark.parametrize("word", WORDS)
def test_any_changed_word_is_an_integrity_error(word, tmp_path):
    text = registered(tmp_path)
    check_words(load(tmp_path, text)[0], ())
    old, new = WORDS[word]
    (changed,) = load(tmp_path, text.replace(old, new, 1))
    with pytest.raises(IntegrityError) as error:
        check_words(changed, ())
    assert error.value.exit_code == 4
    assert "demo/p: its wording has sha256" in str(error.value)
    assert "countback predict amend demo/p" in str(error.value)


def test_the_same_instant_in_another_zone_is_the_same_word(tmp_path):
    text = registered(tmp_path).replace("2027-06-30T23:59:59Z", "2027-07-01T01:59:59+02:00")
    check_words(load(tmp_path, text)[0], ())


def test_layout_and_comments_are_no_words(tmp_path):
    text = "# a remark\n" + registered(tmp_path).replace("trigger = ", "trigger   =   ")
    check_words(load(tmp_path, text)[0], ())


def test_a_changed_resolver_is_an_integrity_error(tmp_path):
    text = registered(tmp_path)
    stands = sha256_text(source(resolve_lead))
    assert text.count(stands) == 1
    (changed,) = load(tmp_path, text.replace(stands, "0" * 64))
    with pytest.raises(IntegrityError, match='its resolver "lead" has sha256'):
        check_words(changed, ())


def test_the_source_of_a_resolver_is_its_whole_module():
    for name, module in (("lead", resolve_lead), ("share", resolve_share)):
        text = Path(module.__file__).read_text(encoding="utf-8")
        assert RESOLVERS[name] is module
        assert source(module) == text  # it has no trailing blanks, so nothing is normalised away
    assert source(resolve_lead) != source(resolve_share)


class TestAmendments:
    def chain(self, folder: Path, *statements: str):
        """The prediction with its last statement, registered with its first, and the amendments between."""
        text = registered(folder, TOML.replace("the judge leads", statements[0]))
        texts = [load(folder, text.replace(statements[0], each))[0] for each in statements]
        rows = [
            Amendment(
                on=date(2027, 1, number),
                reason="because",
                part="wording",
                was=before.text("wording"),
                now=sha256_text(after.text("wording")),
            )
            for number, (before, after) in enumerate(pairwise(texts), 1)
        ]
        return texts[-1], rows

    def test_an_amendment_accounts_for_a_change(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another")
        assert [change.part for change in changes(prediction, ())] == ["wording"]
        check_words(prediction, rows)

    def test_every_step_is_needed(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another", "a third")
        check_words(prediction, rows)
        for missing in (0, 1):
            with pytest.raises(IntegrityError):
                check_words(prediction, rows[:missing] + rows[missing + 1 :])

    def test_there_and_back(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another", "one thing")
        check_words(prediction, rows)
        with pytest.raises(IntegrityError):
            check_words(prediction, rows[:1])

    def test_a_record_held_twice_does_no_harm(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another", "a third")
        check_words(prediction, [*rows, *rows])
        check_words(prediction, [rows[0], rows[0], rows[1], rows[1]])

    def test_an_old_text_that_is_not_the_old_text(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another")
        forged = rows[0].model_copy(update={"was": rows[0].was.replace("one", "two")})
        with pytest.raises(IntegrityError):
            check_words(prediction, [forged])

    def test_an_amendment_of_one_part_says_nothing_of_the_other(self, tmp_path):
        prediction, rows = self.chain(tmp_path, "one thing", "another")
        with pytest.raises(IntegrityError):
            check_words(prediction, [rows[0].model_copy(update={"part": "resolver"})])


def test_the_registry_stands_as_registered():
    predictions, printed = load_predictions(PAPERS / "cubes", "cubes")
    ids = ["p1", "p1-new", "p1-k1", "p1-k2", "p1-b1", "p1-b2", "p2"]
    assert [prediction.spec.id for prediction in predictions] == ids
    for prediction in predictions:
        assert prediction.spec.registered is not None
        check_words(prediction, ())
    assert sum(row.n for row in printed) == 491
    assert sum(row.judge - row.human for row in printed) == 74
    assert sum(row.human for row in printed) == 324


def test_deadlines_of_the_registry():
    predictions, _ = load_predictions(PAPERS / "cubes", "cubes")
    for prediction in predictions[:-1]:
        assert prediction.spec.deadline.isoformat() == "2027-06-30T23:59:59+00:00"
    assert predictions[-1].spec.deadline is None
