"""The findings of culture-converse, redone without the kit's relations, and what the claims would notice.

Numbers in this file are typed from the paper; the arithmetic is plain fractions, decimals and enumeration.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from countback.claims.arithmetic import judge_relation
from countback.claims.coverage import UNBOUND, cover, unbound_cells
from countback.claims.expand import addresses
from countback.claims.registry import PAPERS, Check, Claim, Nested, Operand, Paper, load_paper
from countback.claims.reported import parse
from countback.claims.verdict import FINDINGS, INCONSISTENT, Verdict
from countback.fetch.errors import UserError

FOLDER = PAPERS / "culture_converse"
CLAUDE = ("Help", "Harm", "Nat", "Typ", "TDQ Avg", "Clean %")
FOUND = {
    *(f"t4-average[{column}]" for column in ("Hon", "Harm", "3H Avg", "Plaus", "Clean %")),
    *(f"t14-average[{column}]" for column in ("Std 3H", "Trap 3H")),
    *(f"t17-t4[Claude Haiku 4.5, {column}]" for column in CLAUDE),
    "t18-count[ThaiExam, Llama-3.1-8B-IT Base]",
}


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load_paper(FOLDER)


@pytest.fixture(scope="module")
def verdicts(paper: Paper) -> dict[str, Verdict]:
    return {claim.id: judge_relation(claim, paper.spec.rounding) for claim in paper.claims if claim.check}


def table(number: int) -> dict[str, dict[str, str]]:
    with (FOLDER / "tables" / f"table-{number:02d}.csv").open(encoding="utf-8", newline="") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def test_the_findings_are_these_and_all_are_recorded(paper: Paper, verdicts: dict[str, Verdict]) -> None:
    found = {identity for identity, verdict in verdicts.items() if verdict.verdict in FINDINGS}
    assert found == FOUND
    assert all(verdicts[identity].known for identity in found)
    assert paper.spec.requires == len(paper.claims)
    kinds = Counter(verdict.claim.kind for verdict in verdicts.values())
    assert kinds["arithmetic"] >= 800


# --- the average rows ---------------------------------------------------------------------------------------------

SCORES = ("Help", "Hon", "Harm", "3H Avg", "Nat", "Plaus", "Typ", "TDQ Avg", "Clean %")


def averages() -> list[tuple[str, list[Fraction], Fraction, Fraction]]:
    """(name, the eighteen values, the printed average, half a unit of its last digit) of Tables 4 and 14."""
    columns = []
    for number, names in ((4, SCORES), (14, ("Std 3H", "Trap 3H"))):
        rows = table(number)
        order = [model for model in table(4) if model != "Average"]
        for name in names:
            half = Fraction(1, 20) if name == "Clean %" else Fraction(1, 200)
            columns.append((name, [Fraction(rows[m][name]) for m in order], Fraction(rows["Average"][name]), half))
    return columns


@pytest.mark.parametrize(
    ("identity", "total", "printed"),
    [
        ("t4-average[Hon]", "66.53", "3.73"),
        ("t4-average[Harm]", "71.94", "4.02"),
        ("t4-average[3H Avg]", "66.74", "3.73"),
        ("t4-average[Plaus]", "59.18", "3.31"),
        ("t4-average[Clean %]", "1454.4", "81.2"),
        ("t14-average[Std 3H]", "67.26", "3.76"),
        ("t14-average[Trap 3H]", "66.23", "3.70"),
    ],
)
def test_average_rows(verdicts: dict[str, Verdict], identity: str, total: str, printed: str) -> None:
    name = identity.partition("[")[2].rstrip("]")
    values, average, half = next((v, a, h) for n, v, a, h in averages() if n == name)
    assert (len(values), sum(values), average) == (18, Fraction(total), Fraction(printed))
    mean = Fraction(total) / 18
    assert abs(mean - average) > 2 * half  # both the mean and the printed average may be off by half a unit
    low, high = verdicts[identity].interval or ("", "")
    assert abs(Fraction(str(low)) - (mean - half)) < Fraction(1, 10**8)
    assert abs(Fraction(str(high)) - (mean + half)) < Fraction(1, 10**8)


def test_other_readings_of_average_do_not_explain_the_rows() -> None:
    """Weights would not: every model has the same number of episodes. Medians and means over model families do not."""
    models = [model for model in table(4) if model != "Average"]
    families: dict[str, list[int]] = defaultdict(list)
    for i, model in enumerate(models):
        families[re.split(r"[ -]", model)[0] if "OSS" not in model else model].append(i)
    assert sorted(map(len, families.values())) == [1, 1, 1, 1, 1, 1, 2, 3, 3, 4]
    medians, by_family, differ = [], [], []
    for _, values, average, half in averages():
        medians.append(abs(median(values) - average) > 2 * half)
        mean = sum(sum(values[i] for i in rows) / len(rows) for rows in families.values()) / len(families)
        by_family.append(abs(mean - average) > 2 * half)
        differ.append(abs(sum(values) / 18 - average) > 2 * half)
    assert sum(differ) == 7
    assert sum(medians) > 7
    assert sum(by_family) > 7


def test_which_other_lists_of_models_explain_both_average_rows() -> None:
    columns = averages()

    def explains(rows: tuple[int, ...]) -> bool:
        return all(abs(sum(v[i] for i in rows) / len(rows) - a) <= 2 * h for _, v, a, h in columns)

    everyone = range(18)
    fitting = [
        tuple(i for i in everyone if i not in rows)
        for size in (18, 17, 16, 15)
        for rows in combinations(everyone, size)
        if explains(rows)
    ]
    models = [model for model in table(4) if model != "Average"]
    left_out = {tuple(models[i] for i in missing) for missing in fitting}
    assert left_out == {
        ("Qwen 3.6 35B A3B", "Gemini 2.5 Flash", "Mistral Small 2603"),
        ("Qwen 3.6 35B A3B", "Gemini 2.5 Flash-Lite", "Mistral Small 2603"),
        ("Gemini 3.1 Flash-Lite", "GPT-OSS 120B", "Claude Haiku 4.5"),
    }
    nineteenth = {name: 19 * a - sum(v) for name, v, a, _ in columns}  # the middle of what one more row must hold
    assert nineteenth["3H Avg"] == Fraction("4.13")
    assert nineteenth["Clean %"] == Fraction("88.4")
    assert abs(sum(nineteenth[c] for c in ("Help", "Hon", "Harm")) / 3 - nineteenth["3H Avg"]) < Fraction(19, 100)
    twice = [m for i, m in enumerate(models) if all(abs(v[i] + sum(v) - 19 * a) <= 38 * h for _, v, a, h in columns)]
    assert twice == []  # and it is none of the eighteen taken twice


# --- the other findings -------------------------------------------------------------------------------------------


def test_one_model_differs_between_tables_4_and_17() -> None:
    four, seventeen = table(4), table(17)
    different = {
        (model, name)
        for model in seventeen
        for name in SCORES
        if four[model][name] != seventeen[model][name.removesuffix(" Avg")].split()[0]
    }
    assert different == {("Claude Haiku 4.5", name) for name in CLAUDE}
    for row in ({"Help": "3.21", "Hon": "3.50", "Harm": "3.83"}, {"Help": "3.20", "Hon": "3.50", "Harm": "3.84"}):
        assert abs(sum(map(Fraction, row.values())) / 3 - Fraction("3.51")) < Fraction(
            1, 100
        )  # each agrees with itself


def prints(part: int, whole: int, places: str) -> set[str]:
    """What a percentage prints as, halves rounded up or to even."""
    exact = Decimal(100 * part) / Decimal(whole)
    return {str(exact.quantize(Decimal(places), rule)) for rule in (ROUND_HALF_UP, ROUND_HALF_EVEN)}


def test_thai_exam_accuracy_is_no_count_of_565() -> None:
    assert not any("40.89" in prints(k, 565, "0.01") for k in range(566))
    assert prints(231, 565, "0.01") == {"40.88"}
    assert prints(231, 565, "0.001") == {"40.885"}  # rounded once more, halves up, it is 40.89
    assert prints(248, 565, "0.01") == {"43.89"}
    assert prints(248 - 231, 565, "0.01") == {"3.01"}


# --- what paper.toml notes and no claim states ---------------------------------------------------------------------


def test_measures_of_variation_disagree_about_typicality() -> None:
    rows = [row for model, row in table(4).items() if model != "Average"]
    values = {name: np.array([float(row[name]) for row in rows]) for name in ("Nat", "Plaus", "Typ")}
    together = sum(values.values(), np.zeros(18))
    measures = {
        name: (
            round(np.ptp(v), 2),
            round(v.std(), 2),
            round(np.cov(v, together, ddof=0)[0, 1] / together.var(), 2),
            round(float(np.subtract(*np.quantile(v, (0.75, 0.25)))), 3),
            round(np.corrcoef(v, together)[0, 1], 2),
        )
        for name, v in values.items()
    }
    assert measures["Typ"] == (0.14, 0.04, 0.09, 0.055, 0.75)
    assert measures["Nat"] == (0.24, 0.06, 0.1, 0.04, 0.59)


@pytest.mark.parametrize("region", ["KR", "PH", "TH", "VN"])
def test_an_inferred_number_of_cells_proves_nothing(region: str) -> None:
    """No share of 600; but one dialogue of six fewer, or three pairs in place of two, print the same."""
    share = table(13)[region]["GPT-5 mini % ±1"]
    prints_it = {n for n in (594, 600, 900) if any(share in prints(k, n, "0.1") for k in range(n + 1))}
    assert prints_it == {594, 900}


def test_biases_weighted_by_inferred_pairs() -> None:
    pairs = {"BN": 3, "CN": 2, "ID": 2, "JP": 2, "KR": 2, "MY": 4, "PH": 2, "SG": 4, "TH": 2, "VN": 2}
    assert sum(n * Fraction(table(13)[region]["Bias"]) for region, n in pairs.items()) / 25 == Fraction("-0.1244")


def test_ensemble_biases_beside_the_means_of_their_judges() -> None:
    rows = table(11)
    means = {}
    for name in rows:
        if "ensemble (" in name:
            judges = name.partition("(")[2].rstrip(")").split(" + ")
            means[rows[name]["Bias"]] = sum(Fraction(rows[judge]["Bias"]) for judge in judges) / 3
    assert means == {"-0.125": Fraction("-0.125"), "-0.180": Fraction("-0.18"), "-0.131": Fraction("-0.132")}


# --- what the claims would notice ---------------------------------------------------------------------------------


def test_every_number_of_a_table_is_bound_or_listed(paper: Paper) -> None:
    assert unbound_cells(paper) == []


def test_every_number_of_the_text_is_bound_listed_or_context(paper: Paper, shared: Path) -> None:
    document = (shared / "seeds" / "002_3474b2e9fc3399ad.txt").read_text(encoding="utf-8")
    found = cover(paper, document)
    assert len(found) > 2000
    assert [one for one in found if one.status == UNBOUND] == []


def operands(check: Check) -> Iterator[Operand]:
    for operand in (*check.of, *check.weights, *check.n, *((check.target,) if check.target else ())):
        if isinstance(operand, Nested):
            yield from operands(operand.check)
        else:
            yield operand


def swapped(check: Check, old: Operand, new: Operand) -> Check:
    """The check with one printed number replaced wherever it stands."""

    def swap(operand: Operand | Nested) -> Operand | Nested:
        if isinstance(operand, Nested):
            return Nested(swapped(operand.check, old, new))
        return new if operand == old else operand

    return replace(
        check,
        of=tuple(map(swap, check.of)),
        weights=tuple(map(swap, check.weights)),
        n=tuple(map(swap, check.n)),
        target=new if check.target == old else check.target,
    )


def test_every_number_that_a_claim_binds_could_make_it_fail(paper: Paper, verdicts: dict[str, Verdict]) -> None:
    """Each printed number, made far too large or far too small, turns some claim that rests on it."""
    uses: dict[Operand, list[Claim]] = defaultdict(list)
    for claim in paper.claims:
        for operand in dict.fromkeys(operands(claim.check)) if claim.check else ():
            if not operand.address.startswith("=") and operand.number is not None:
                uses[operand].append(claim)
    halves = {
        f"#src-{name}-{part}" for name in ("sobaco", "safetybench", "indodiscourse", "sghatecheck") for part in (1, 2)
    }
    unnoticed = []
    for operand, claims in uses.items():
        assert operand.number is not None
        if operand.number.kind != "number":  # a range or an interval is bound through its parts
            continue
        large = re.sub(r"\d", r"9\g<0>", operand.text.replace(",", ""), count=1)
        small = "".join("0" if c.isdecimal() else c for c in operand.text)
        for text in (large, small):
            changed = Operand(operand.address, text, parse(text, exact=operand.number.step == 0))
            if any(turns(claim, operand, changed, verdicts[claim.id], paper.spec.rounding) for claim in claims):
                break
        else:
            unnoticed.append(operand.address)
    assert len(uses) > 1200
    assert set(unnoticed) == halves  # either half of these sources is as large as the sample drawn from the whole


def turns(claim: Claim, old: Operand, new: Operand, before: Verdict, rounding: str) -> bool:
    assert claim.check is not None
    changed = replace(claim, check=swapped(claim.check, old, new))
    try:
        return judge_relation(changed, rounding).verdict != before.verdict
    except UserError:
        return True


def test_no_claim_rests_on_a_number_of_cells_that_the_paper_does_not_print(paper: Paper) -> None:
    """Weights are the episodes of Table 2; n is that of Table 19 or the number of episodes; Table 13 has neither."""
    stated = {"#s51-episodes", "#t15-episodes"}
    for claim in paper.claims:
        if claim.check is None:
            continue
        given = replace(claim.check, of=(), target=None)  # weights and n alone
        for operand in operands(given):
            assert operand.address in stated or operand.address.startswith(("table-02|", "table-19|")), claim.id
        used = [operand.address for operand in operands(claim.check)]
        if any(address.startswith("table-13|") for address in used):
            assert claim.check.relation in ("count", "inside", "more-than"), claim.id
        if any(address.startswith("table-11|") and "ensemble" in address for address in used):
            assert claim.check.relation in ("ascending", "difference", "equal", "inside", "less-than"), claim.id


def moved(text: str, units: int) -> str:
    """The printed number with its last digit one unit further from zero or nearer to it."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    assert match is not None
    digits = Decimal(match.group().replace(",", ""))
    unit = Decimal(1).scaleb(int(digits.as_tuple().exponent))
    return f"{text[: match.start()]}{digits + units * unit}{text[match.end() :]}"


def test_a_number_printed_twice_may_not_be_one_unit_off(paper: Paper, verdicts: dict[str, Verdict]) -> None:
    slips = 0
    for claim in paper.claims:
        check = claim.check
        if check is None or check.relation != "equal" or verdicts[claim.id].verdict in FINDINGS:
            continue
        assert check.target is not None
        assert check.target.number is not None
        for units in (-1, 1):
            text = moved(check.target.text, units)
            target = Operand(check.target.address, text, parse(text, exact=check.target.number.step == 0))
            slip = replace(claim, check=replace(check, target=target))
            assert judge_relation(slip, paper.spec.rounding).verdict == INCONSISTENT, (claim.id, text)
            slips += 1
    assert slips > 400  # 162 values in two tables, and the text against both


def test_one_altered_cell_of_a_copied_folder_is_reported(tmp_path: Path) -> None:
    """The whole way round: files on disk, read again, judged again."""
    for source in (*FOLDER.glob("*.toml"), *FOLDER.glob("recipes.py"), *FOLDER.glob("tables/*.csv")):
        copy = tmp_path / source.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(source.read_bytes())
    path = tmp_path / "tables" / "table-02.csv"
    path.write_text(path.read_text(encoding="utf-8").replace('"34,865"', '"34,856"'), encoding="utf-8")
    altered = load_paper(tmp_path)
    red = {
        claim.id
        for claim in altered.claims
        if claim.check and claim.known is None and judge_relation(claim, altered.spec.rounding).verdict == INCONSISTENT
    }
    assert red == {"t2-row-sum[MY]", "t2-region-sum[N]"}


def test_addresses_name_cells_of_the_tables(paper: Paper) -> None:
    for claim in paper.claims:
        for address in addresses(claim):
            if address.count("|") == 2:
                name, row, column = address.split("|")
                assert column in paper.tables[name].rows[row]
