"""The forecast of a country's share: what it is given, that it adds up, and where there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from countback.claims import crossed
from countback.claims.outlook import from_designs
from countback.claims.prediction import load_predictions
from countback.claims.registry import PAPERS
from countback.claims.resolve_share import ShareRule
from countback.fetch.errors import UserError

FOLDER = PAPERS / "cubes"
P2 = next(each for each in load_predictions(FOLDER, "cubes")[0] if each.spec.id == "p2")


def outlook():
    assert isinstance(P2.rule, ShareRule)
    found = from_designs(FOLDER, P2.rule)
    assert found is not None
    return found


def test_p2_says_that_it_is_given_a_study_and_which():
    found = outlook()
    assert found.rests_on.startswith("no labels: it is given that a crossed study is made, with one of these designs")
    for design in crossed.DESIGNS:
        assert f"{design}: confirmed 0." in found.rests_on
    assert "median 0.038, spread 1.5" in found.model
    assert "tests/golden/forecast_share.md" in found.calibration


def test_p2_adds_up_and_moves_with_the_prior():
    found = outlook()
    assert list(found.probability) == ["confirmed", "broken", "neither"]
    assert sum(found.probability.values()) == pytest.approx(1)
    for name, chance in found.probability.items():
        low, high = found.others[name]
        assert low <= chance <= high
        assert found.mc_error[name] < 0.01
    low, high = found.others["confirmed"]
    assert high - low > 10 * found.mc_error["confirmed"]


def test_what_was_registered_is_what_is_said():
    said = outlook().probability
    assert {row.of: row.probability for row in P2.spec.forecast} == pytest.approx(said, abs=0.0006)
    assert all(crossed.ANY in row.model for row in P2.spec.forecast)


def test_another_threshold_or_a_paper_without_a_study_has_none(tmp_path):
    assert isinstance(P2.rule, ShareRule)
    assert from_designs(FOLDER, replace(P2.rule, threshold=Fraction(1, 10))) is None
    assert from_designs(tmp_path, P2.rule) is None


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"came": {}}', '{"came": {"a": [[1, 2, 3]]}}', '{"came": {"a": "x"}}']
)
def test_a_file_that_is_no_such_study_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "crossed.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="write it again: python -m countback"):
        from_designs(tmp_path, P2.rule)
