"""Tables that settle a prediction: what a count or a printed rate stands for, and every way to get one wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

import pytest
from countback.claims.prediction import Prediction, load_predictions
from countback.claims.registry import PAPERS
from countback.claims.resolve_lead import Lead
from countback.claims.resolve_share import Share
from countback.claims.settling import read_evidence, read_instant
from countback.fetch.errors import UserError

HEAD = "country,n,human,judge\n"
SHARE = {
    "share": 0.08, "low": 0.051, "high": 0.12, "level": 0.95, "countries": 4, "items": 40, "crossed": True,
    "method": "REML, item and annotator random",
}  # fmt: skip


@pytest.fixture(scope="module")
def cubes() -> dict[str, Prediction]:
    return {prediction.spec.id: prediction for prediction in load_predictions(PAPERS / "cubes", "cubes")[0]}


def csv_table(folder: Path, rows: str) -> Path:
    path = folder / "counts.csv"
    path.write_text(HEAD + rows, encoding="utf-8")
    return path


def test_counts(cubes, tmp_path):
    path = csv_table(tmp_path, 'Pakistan,118,70,106\n"Nigeria; Philippines",246,162,190\n')
    read = read_evidence(path, cubes["p1"])
    assert read.evidence == (Lead(("Pakistan",), 118, 36, 36), Lead(("Nigeria", "Philippines"), 246, 28, 28))
    assert read.rows[0] == {"country": "Pakistan", "n": "118", "human": "70", "judge": "106"}


def test_json_reads_as_csv(cubes, tmp_path):
    path = tmp_path / "counts.json"
    path.write_text('[{"country": "Pakistan", "n": 118, "human": 70, "judge": "89.8%"}]', encoding="utf-8")
    assert read_evidence(path, cubes["p1"]).evidence == (Lead(("Pakistan",), 118, 36, 36),)


@pytest.mark.parametrize(
    ("printed", "n", "low", "high"),
    [
        ("59.3%", 118, 70, 70),  # 69.915 to 70.033
        ("89.8%", 118, 106, 106),  # 105.905 to 106.023
        ("59%", 118, 70, 70),  # 69.03 to 70.21
        ("0.6", 118, 65, 76),  # 64.9 to 76.7
        ("0.59", 118, 70, 70),  # 69.03 to 70.21
        ("60%", 1000, 595, 605),
        ("0.0%", 100, 0, 0),
        ("100%", 1000, 995, 1000),  # no more than all
        ("1.00", 10, 10, 10),
    ],
)
def test_a_printed_rate_stands_for_every_count_that_prints_so(printed, n, low, high, cubes, tmp_path):
    (lead,) = read_evidence(csv_table(tmp_path, f"France,{n},{n // 2},{printed}\n"), cubes["p1"]).evidence
    assert (lead.low, lead.high) == (low - n // 2, high - n // 2)
    (lead,) = read_evidence(csv_table(tmp_path, f"France,{n},{printed},{n // 2}\n"), cubes["p1"]).evidence
    assert (lead.low, lead.high) == (n // 2 - high, n // 2 - low)


@pytest.mark.parametrize("n", [1, 3, 118, 127, 246])
def test_every_count_is_among_those_its_own_rate_stands_for(n, cubes, tmp_path):
    for hits in range(n + 1):
        rate = f"{100 * hits / n:.1f}%"
        (lead,) = read_evidence(csv_table(tmp_path, f"France,{n},0,{rate}\n"), cubes["p1"]).evidence
        assert lead.low <= hits <= lead.high
        step = Fraction(1, 20)  # half of the last printed digit, in percent
        value = Fraction(rate[:-1])
        assert lead.low == max(0, ceil((value - step) * n / 100))
        assert lead.high == min(n, floor((value + step) * n / 100))


TWELVE = "".join(f"{name},100,50,60\n" for name in ["Pakistan", "Nigeria", *"ABCDEFGHIJ"])
BAD = {
    "more hits than comparisons": ("France,100,50,101\n", "row 1: judge: 101 hits in 100 comparisons"),
    "a rate above one": ("France,100,50,100.4%\n", "row 1: judge: found '100.4%'"),
    "a rate that no count prints": ("France,3,1,50.0%\n", "no number of hits in 3 comparisons prints as 50.0%"),
    "no comparisons": ("France,0,0,0\n", "row 1: n is 0"),
    "a negative count": ("France,100,-1,50\n", "row 1: human"),
    "half a comparison": ("France,1.5,1,1\n", "row 1: n: found '1.5'; expected a whole number"),
    "no number": ("France,100,many,50\n", "row 1: human"),
    "a NaN": ("France,100,nan,50\n", "row 1: human"),
    "another alphabet's digits": ("France,١٠٠,1,1\n", "row 1: n: found"),
    "a country twice": ("France,100,50,60\nFrance,100,50,60\n", "France stands twice"),
    "a country twice in a sum": ("France; France,100,50,60\n", "France stands twice"),
    "a country twice in other letters": ("France,100,50,60\nfrance,100,50,60\n", "France stands twice"),
    "a country twice with other blanks": ("Sri  Lanka,1,1,1\nSri Lanka,1,1,1\n", "Sri  Lanka stands twice"),
    "more digits than can be": (f"France,{'9' * 5000},1,1\n", "row 1: n: found '999"),
    "more hits than can be": (f"France,100,{'9' * 5000},1\n", "row 1: human: "),
    "a cell that no reader takes": (f"{'x' * 200_000},1,1,1\n", "not CSV: field larger"),
    "no country": (" ,100,50,60\n", "row 1: a country without a name"),
    "twelve, and none is France": (TWELVE, "12 countries without France and India"),
    "thirteen countries": (TWELVE + "K,1,1,1\n", "13 countries; the rule has 12"),
    "a cell too few": ("France,100,50\n", "counts.csv:2: found 3 cells; expected 4"),
    "a cell too many": ("France,100,50,60,70\n", "counts.csv:2: found 5 cells; expected 4"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_a_table_that_cannot_be_right(mistake, cubes, tmp_path):
    rows, sentence = BAD[mistake]
    with pytest.raises(UserError) as error:
        read_evidence(csv_table(tmp_path, rows), cubes["p1"])
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_a_rule_on_eight_countries_takes_a_table_with_the_four_that_it_leaves_out(cubes, tmp_path):
    rows = [
        f"{name},100,50,60\n" for name in ["Pakistan", "Nigeria", "Philippines", "United States", "France", "India"]
    ]
    twelve = [*rows, *(f"{name},100,50,60\n" for name in "ABCDEF")]
    assert len(read_evidence(csv_table(tmp_path, "".join(twelve)), cubes["p1-new"]).evidence) == 12
    with pytest.raises(UserError, match="13 countries; the rule has 12"):
        read_evidence(csv_table(tmp_path, "".join([*twelve, "G,1,1,1\n"])), cubes["p1-new"])
    with pytest.raises(UserError, match="12 countries without Pakistan, which the rule names"):
        read_evidence(csv_table(tmp_path, "".join([*twelve[1:], "G,1,1,1\n"])), cubes["p1-new"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "counts.csv:1: found nothing; expected country,n,human,judge"),
        ("land,n,human,judge\nFrance,1,1,1\n", "expected country,n,human,judge"),
    ],
)
def test_a_table_with_another_head(text, sentence, cubes, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=sentence):
        read_evidence(path, cubes["p1"])


@pytest.mark.parametrize("text", ["{", "{}", "[1]", "3", '[{"country": "France"}]', "[" * 100_000])
def test_json_of_another_shape(text, cubes, tmp_path):
    path = tmp_path / "counts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"expected|not JSON"):
        read_evidence(path, cubes["p1"])


@pytest.mark.parametrize("country", ["null", "7", '["France"]', "{}"])
def test_a_country_in_json_is_a_name(country, cubes, tmp_path):
    path = tmp_path / "counts.json"
    path.write_text(f'[{{"country": {country}, "n": 9, "human": 5, "judge": 5}}]', encoding="utf-8")
    with pytest.raises(UserError, match=r"row 1: country: found .*; expected a name"):
        read_evidence(path, cubes["p1"])


def share_file(folder: Path, **changes: object) -> Path:
    path = folder / "share.json"
    path.write_text(json.dumps(SHARE | changes), encoding="utf-8")
    return path


def test_a_share_is_read_exactly(cubes, tmp_path):
    """0.05 as a binary float lies above 5%; the decimal as written is what counts."""
    read = read_evidence(share_file(tmp_path, low=0.05), cubes["p2"])
    assert read.evidence == Share(Fraction(2, 25), Fraction(1, 20), Fraction(3, 25), 4, 40, True)
    assert cubes["p2"].decide(read.evidence).outcome == "confirmed"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"crossed": False}, "decides nothing"),
        ({"crossed": "yes"}, "decides nothing"),
        ({"low": 0.09}, "low <= share <= high"),
        ({"high": 1.2}, "high: found '1.2'; expected a number from 0 to 1"),
        ({"share": "1/0"}, "share: found '1/0'"),
        ({"low": float("nan")}, "low: found 'NaN'"),
        ({"low": "1e-99999999"}, "low: found '1e-99999999'"),  # exact, it would have a hundred million digits
        ({"high": "1e999999999"}, "high: found '1e999999999'"),
        ({"high": "9" * 100_000}, "high: found '999"),
        ({"level": 0.9}, "expected 0.95"),
        ({"countries": 1}, "at least two"),
        ({"items": 0}, "at least two"),
        ({"method": " "}, "expected words"),
        ({"more": 1}, "expected share, low"),
    ],
)
def test_a_share_that_cannot_decide(changes, sentence, cubes, tmp_path):
    with pytest.raises(UserError) as error:
        read_evidence(share_file(tmp_path, **changes), cubes["p2"])
    assert sentence in str(error.value)


def test_labels_are_no_share(cubes, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,annotator,country,label\n", encoding="utf-8")
    with pytest.raises(UserError, match="--labels is missing; expected the labels in their order"):
        read_evidence(path, cubes["p2"])


@pytest.mark.parametrize("text", ["2027-06-30", "2027-06-30T23:59:59", "2027-06-30 23:59"])
def test_an_instant_without_a_zone(text):
    with pytest.raises(UserError, match="without a zone"):
        read_instant(text, "--released")


@pytest.mark.parametrize("text", ["", "soon", "2027-06-31T00:00:00Z", "30.06.2027", "9999-12-31T23:59:59-01:00"])
def test_no_instant(text):
    with pytest.raises(UserError, match="expected an instant such as"):
        read_instant(text, "--released")


def test_instants_are_told_in_utc():
    assert read_instant("2027-07-01T01:59:59+02:00", "x").isoformat() == "2027-06-30T23:59:59+00:00"
