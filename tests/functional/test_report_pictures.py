"""Pictures in the report: what they rest on is said everywhere, their numbers are in words, old files still open."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from countback.audit.report import build, gather, now
from countback.audit.run import audit
from countback.audit.sources import Sources
from countback.claims.pictures import (
    PRINTED,
    RELEASED,
    STORED,
    SYNTHETIC,
    UNVERIFIED,
    Bar,
    Cell,
    GridPicture,
    HeldOutPicture,
    Histogram,
    LeanPicture,
    NullPicture,
    Picture,
    Prior,
    RestsOn,
    SharesPicture,
    Source,
    SpreadsPicture,
    as_json,
)
from countback.fetch.errors import UserError

FILE = Source("labels.zip", "ab" * 32, "verified")
LINE = {
    "id": "elsewhere/rate", "paper": "elsewhere", "kind": "recount", "where": {"section": "2"}, "reads": "a rate",
    "reported": "81.1%", "reported_interval": None, "recounted": None, "recounted_interval": None, "gap": None,
    "n": None, "verdict": "unchecked", "known": False, "agrees": None, "reason": "archive absent: x", "evidence": {},
}  # fmt: skip


def pictures(what: Any = RELEASED, *, name: str = "judge-1") -> list[Picture]:
    """One of each kind, with numbers that stand nowhere else."""
    told: Any = {"rests_on": RestsOn(what, (FILE,)), "paper": "elsewhere", "says": "How to read it.", "n": 491,
                 "interval": "95% percentile", "seed": 7, "missing": ("Nothing of France.",)}  # fmt: skip
    bar = Bar("Pakistan", name, 61.25, 51.5, 71.75, 118)
    lean = Bar("Nigeria", name, 0.2345, 0.1234, 0.3456, 31)
    printed = Bar("Pakistan", "held-out human", 81.1, printed="81.1%", claim="rate")
    return [
        HeldOutPicture(
            title="Held out", rates=(printed, bar), leads=(Bar("Pakistan", name, -3.5, -9.25, 2.25),), **told
        ),
        LeanPicture(title="Leans", bars=(lean,), **told),
        GridPicture(
            title="Grid",
            labels=("A", "B"),
            cells=(
                Cell("Nigeria", "power", "A", True, True, 1, 0.625),
                Cell("Kenya", "power", "B", False, False, 0, 0.95),
            ),
            **told,
        ),
        NullPicture(
            title="Nulls",
            nulls=(Histogram("all three", 8, (-0.5, 0.5, 1.5), (4321, 679), 0.1358, 0, 1, p=0.0002, draws=5000),),
            **told,
        ),
        SharesPicture(title="Shares", priors=(Prior("half-normal 1", 0.123, 0.045, 0.312, 0.0375, 0.28125),), **told),
        SpreadsPicture(title="Spreads", bars=(Bar("", name, 0.1937, 0.0123, 0.4402),), **told),
    ]


IN_WORDS = {
    "heldout": ("Pakistan: held-out human 81.1% as printed, judge-1 61.2% [51.5%, 71.8%]",
                "Pakistan: judge-1 −3.5 [−9.2, +2.2]"),
    "lean": ("Nigeria: judge-1 0.234 [0.123, 0.346]",),
    "grid": ("power: Nigeria A, a tie, kept in 62%, unstable, Kenya B, kept in 95%",),
    "null": ("all three: observed 8; chance 0.136 [0, 1]; p 0.0002 as high",),
    "shares": ("half-normal 1: 12.3% [4.5%, 31.2%]; P 0.037, prior 0.281",),
    "spreads": ("judge-1 0.194 [0.012, 0.440]",),
}  # fmt: skip


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """The page of a file of verdicts with these entries of "pictures"; None leaves the list out."""

    def make(entries: list[Any] | None) -> str:
        told = {"schema": "countback.verdicts/1", "kit": {"countback": "9"}, "inputs": [], "summary": {}}
        told |= {"verdicts": [LINE]} | ({"pictures": entries} if entries is not None else {})
        path = tmp_path / "v.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        nothing = Sources(offline=True, cache=tmp_path / "cache")
        return build(gather((), path, nothing, tmp_path / "ledger.jsonl"), now())["report.html"].decode()

    return make


def figures(page: str) -> list[str]:
    return re.findall(r"<figure class=\"picture.*?</figure>", page, flags=re.DOTALL)


def described(figure: str) -> list[str]:
    """What each drawing of a figure says to whoever cannot see it."""
    found = re.findall(r'<svg role="img" aria-labelledby="(\S+) (\S+)".*?</svg>', figure, flags=re.DOTALL)
    return [unescape(re.search(rf'<desc id="{text}">(.*?)</desc>', figure)[1]) for _, text in found]  # type: ignore[index]


def test_each_kind_is_drawn_with_its_numbers_in_words_and_in_a_table(made):
    found = figures(made([as_json(each) for each in pictures()]))
    assert len(found) == 6
    for figure, picture in zip(found, pictures(), strict=True):
        words = described(figure)
        assert [any(said in text for text in words) for said in IN_WORDS[picture.kind]] == [True] * len(words)
        assert all(text.startswith("recounted from released files.") for text in words)
        assert "Rests on released files, proved by sha256. 491 " in figure
        assert f"sha256 <code>{FILE.sha256}</code>" in figure
        assert "95% percentile; seed 7." in figure
        assert "<p>Nothing of France.</p>" in figure
        assert figure.count("<svg") == figure.count("</svg>") == len(words)
        assert figure.count("<table>") == len(words) + (picture.kind == "null")  # and one of the draws
    table = re.sub(r"<[^>]+>", "|", found[0])
    assert re.search(r"\|Pakistan\|+judge-1\|+61\.2%\|+51\.5% to 71\.8%\|+118\|", table)
    table = re.sub(r"<[^>]+>", "|", found[3])
    assert "0: 4,321; 1: 679" in table


def test_a_printed_number_leads_to_its_claim(made):
    page = made([as_json(pictures(PRINTED)[0])])
    link = re.search(r'<a href="#(elsewhere-rate-[0-9a-f]{8})"><code>rate</code>', figures(page)[0])
    assert link is not None
    assert f'<tr id="{link[1]}"' in page


@pytest.mark.parametrize(
    ("what", "shout"),
    [(SYNTHETIC, "SYNTHETIC"), (UNVERIFIED, "UNVERIFIED"), (PRINTED, "as printed"), (STORED, "stored")],
)
def test_what_it_rests_on_stands_in_every_drawing_caption_and_description(made, what, shout):
    for figure in figures(made([as_json(each) for each in pictures(what)])):
        drawings = re.findall(r"<svg.*?</svg>", figure, flags=re.DOTALL)
        assert drawings
        for drawing in drawings:
            assert re.search(rf"<text[^>]*>[^<]*{shout}", drawing)  # seen
            assert re.search(rf"<desc[^>]*>[^<]*{shout}", drawing)  # read aloud
        caption = figure[figure.index("<figcaption>") :]
        loud = what in (SYNTHETIC, UNVERIFIED)
        assert ('<p class="warning">' in caption) == loud
        assert (f'<p class="warning">{shout}: ' in caption) == loud


@pytest.mark.slow
def test_every_drawing_from_a_twin_is_marked(tmp_path):
    from countback.claims.papers.cubes.twin import make_twin

    make_twin(tmp_path / "cube_judge_alignment.zip", 0)
    sources = Sources(tmp_path, offline=True, unverified=True, cache=tmp_path / "cache")
    files = build(gather(("cubes",), None, sources, tmp_path / "ledger.jsonl"), now())
    entries = json.loads(files["verdicts.json"])["pictures"]
    own = [entry for entry in entries if entry["rests_on"]["files"][0]["status"] != "stored"]
    assert [entry["kind"] for entry in own] == ["heldout", "lean", "spreads", "grid", "null"]
    assert {entry["rests_on"]["what"] for entry in own} == {SYNTHETIC}
    found = figures(files["report.html"].decode())[-5:]  # behind the stored studies
    drawings = [drawing for figure in found for drawing in re.findall(r"<svg.*?</svg>", figure, flags=re.DOTALL)]
    assert len(drawings) == 6
    assert all(re.search(r"<text[^>]*>SYNTHETIC stand-in: proves nothing<", drawing) for drawing in drawings)
    assert all('<p class="warning">SYNTHETIC: ' in figure for figure in found)
    headline = re.search(
        r"all four countries: held-out human ([0-9.]+)% .*?gemini-3-flash-preview ([0-9.]+)%", described(found[0])[0]
    )
    assert headline is not None
    assert headline.groups() == ("66.0", "81.1")  # 324 and 398 of 491, which the twin was solved for


def test_ids_are_unique_and_the_page_is_the_same_twice(made, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795910400")
    twice = [as_json(each) for each in pictures() + pictures(SYNTHETIC)]
    page = made(twice)
    ids = Counter(re.findall(r'\sid="([^"]+)"', page))
    assert [name for name, count in ids.items() if count > 1] == []
    assert made(twice) == page


def test_a_file_without_pictures_is_whole(made):
    for entries in (None, []):
        page = made(entries)
        assert figures(page) == []
        assert "Pictures of" not in page
        assert "archive absent" in page


def test_a_picture_of_another_kit_is_named_and_the_rest_drawn(made):
    known = as_json(pictures()[1])
    later = known | {"schema": "countback.picture/2"}
    page = made([later, known, {"paper": "elsewhere", "kind": "hologram", "schema": "countback.picture/1"}])
    assert len(figures(page)) == 1
    assert "does not know the kind lean of schema countback.picture/2" in page
    assert "does not know the kind hologram of schema countback.picture/1" in page


def test_a_picture_with_nothing_to_draw_says_why(made):
    grid = as_json(pictures()[2]) | {"cells": []}
    (figure,) = figures(made([grid]))
    assert "<svg" not in figure
    assert "<p>Nothing of France.</p>" in figure


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}]]>\x0b\u202e$x^{$\n\ud800'


def test_hostile_words_stay_text(made):
    entries = json.loads(json.dumps([as_json(each) for each in pictures(name="NAME")]).replace("NAME", "N"))

    def poisoned(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: value[key] if key in ("schema", "kind", "what", "paper", "side") else poisoned(value[key])
                for key in value
            }
        return (
            [poisoned(each) for each in value]
            if isinstance(value, list)
            else HOSTILE
            if isinstance(value, str)
            else value
        )

    page = made(poisoned(entries))
    assert page.count("<script") == 1
    assert "<img" not in page
    assert "{{ 7*7 }}" in page
    assert len(figures(page)) == 6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bars": [{"group": "", "name": "x", "value": "much"}]}, "pictures.0.lean.bars.0.value"),
        ({"bars": [{"group": "", "name": "x", "value": 1e99}]}, "pictures.0.lean.bars.0.value"),
        ({"rests_on": {"what": "hearsay"}}, "pictures.0.lean.rests_on.what"),
        ({"bars": [{"group": "", "name": "x", "value": 1}] * 601}, "pictures.0.lean.bars"),
    ],
)
def test_a_wrong_picture_is_named(made, change, words):
    with pytest.raises(UserError, match=re.escape(words)):
        made([as_json(pictures()[1]) | change])


@pytest.mark.parametrize("value", [0.0, -1e9, 1e9, 1e-300, 5e-324])
def test_any_one_number_can_be_drawn(made, value):
    lean = as_json(pictures()[1]) | {"bars": [as_bar(value)], "title": "One"}
    null = as_json(pictures()[3]) | {
        "nulls": [{"name": "n", "observed": value, "edges": [value, value], "counts": [0]}]
    }
    assert len(figures(made([lean, null]))) == 2


def as_bar(value: float) -> dict[str, Any]:
    return {"group": "g", "name": "x", "value": value, "low": value, "high": value}


# --- Stored results --------------------------------------------------------------------------------------------------

STUDY = {
    "schema": "countback.study/1",
    "title": "How surprising the spreads are",
    "question": "Would four countries without culture spread as far?",
    "answer": ["Often: in 31% of draws.", "The human spread alone decides nothing."],
    "settings": {"items": 31, "countries": 4, "truths": list(range(500))},
    "seed": 11,
    "versions": {"numpy": "2.1"},
    "rows": [
        {"name": "human majority", "value": 0.1943, "low": 0.071, "high": 0.3219},
        {"name": "claude-sonnet-4.5", "value": 0.055, "low": None, "high": None},
    ],
    "reading": "The dot is the printed spread; the bar is what noise gives.",
}
FIT = {
    "schema": "countback.fit/1",
    "synthetic": False,
    "unverified": False,
    "input": {"name": "crossed labels", "labels": 3100},
    "design": {"confounded": ""},
    "model": {"seed": 5, "engine": "approximate"},
    "fits": [
        {
            "prior": "half-normal 0.5",
            "country share": {"population": {"median": 0.081, "low": 0.021, "high": 0.244}, "confounded": False},
            "P(share < 5%)": 0.171,
            "P(share < 5%), prior alone": 0.402,
        },
        {"prior": "half-normal 2", "verdict": "unchecked: model fit failed"},
    ],
}


def stored(paper: Path, folder: str, content: Any) -> Path:
    (paper / folder).mkdir(exist_ok=True)
    path = paper / folder / "one.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def page(paper: Path, tmp_path: Path) -> Any:
    """The report of the small paper, from an audit made now."""

    def make() -> str:
        nothing = Sources(offline=True, cache=tmp_path / "cache")
        return build(gather((str(paper),), None, nothing, tmp_path / "ledger.jsonl"), now())["report.html"].decode()

    return make


def test_a_stored_study_is_a_section_with_its_answer(page, paper):
    assert "How surprising" not in page()
    stored(paper, "studies", STUDY)
    text = unescape(page())
    section = re.search(r'<section class="study" id="([^"]+)">(.*?)</section>', text, flags=re.DOTALL)
    assert section is not None
    assert f'<a href="#{section[1]}">How surprising the spreads are</a>' in text  # in the contents
    for words in (STUDY["question"], *STUDY["answer"], STUDY["reading"], "Seed 11.", "numpy 2.1", "studies/one.json"):
        assert str(words) in section[2]
    assert "human majority 0.194 [0.071, 0.322], claude-sonnet-4.5 0.055" in described(section[2])[0]
    assert re.search(r"<dt>items</dt><dd>31</dd>", section[2])
    assert re.search(r"<dt>truths</dt><dd>\[0, 1, [0-9, ]{200,240} … \(the rest stands in the file\)</dd>", section[2])


def test_a_study_of_synthetic_labels_is_marked_whatever_it_says_of_itself(page, paper):
    stored(paper, "studies", STUDY | {"reading": "From synthetic studies."})
    (figure,) = figures(page())
    assert described(figure)[0].startswith("SYNTHETIC studies")
    assert re.search(r"<text[^>]*>SYNTHETIC studies", figure)
    assert "<p>SYNTHETIC studies: labels drawn from known truths" in figure


def test_rows_of_a_design_stand_under_it(page, paper):
    rows = [{"name": f"{n} items: {what}", "value": 0.25} for n in (10, 31) for what in ("confirmed", "broken")]
    stored(paper, "studies", STUDY | {"rows": rows})
    (figure,) = figures(page())
    assert "10 items: confirmed 0.25, broken 0.25; 31 items: confirmed 0.25, broken 0.25." in described(figure)[0]


def test_ratios_and_probabilities_have_scales_of_their_own(page, paper):
    ratio = {"name": "P(wide): flattened over followed", "low": 3.0, "high": 40.0}
    rows = [
        {"name": "P(wide | no country)", "value": 0.25},
        ratio | {"value": 12.34},
        {"name": "P(wide | followed)", "value": 0.5},
        {"name": "P(narrow | followed)", "value": 0.75},
        ratio | {"value": 0.9, "name": "P(wide): one over other"},
    ]
    stored(paper, "studies", STUDY | {"rows": rows})
    (figure,) = figures(page())
    assert [words.removeprefix("a result stored beside the paper. ") for words in described(figure)] == [
        "P(wide | …): no country 0.25, followed 0.5; P(narrow | …): followed 0.75.",
        "P(wide): flattened over followed 12.3 [3.0, 40.0], one over other 0.900 [3.000, 40.000].",
    ]
    assert "<strong>Between 0 and 1</strong>" in figure
    assert "<strong>On a scale of their own</strong>" in figure


def test_a_stored_fit_is_a_picture_of_its_priors(page, paper):
    stored(paper, "fits", FIT)
    (figure,) = figures(page())
    assert described(figure) == [
        "a result stored beside the paper. half-normal 0.5: 8.1% [2.1%, 24.4%]; P 0.171, prior 0.402; "
        "half-normal 2: unchecked: model fit failed."
    ]
    assert "3,100 labels" in figure


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"synthetic": True}, "SYNTHETIC"),
        ({"unverified": True}, "UNVERIFIED"),
        ({"synthetic": True, "unverified": True}, "SYNTHETIC"),
    ],
)
def test_a_fit_of_a_stand_in_says_so(page, paper, change, words):
    stored(paper, "fits", FIT | change)
    (figure,) = figures(page())
    assert described(figure)[0].startswith(words)
    assert re.search(rf"<text[^>]*>{words}", figure)
    assert f'<p class="warning">{words}' in figure


SUMMARY = {
    "schema": "countback.fit-summary/1",
    "model": "ordinal",
    "engine": "pymc",
    "data": {"files": {"labels.csv": "0" * 64}, "labels": 620, "notes": []},
    "seed": 3,
    "design": "crossed",
    "threshold": 0.05,
    "priors": [
        {
            "prior": "wide",
            "median": 0.2,
            "low": 0.1,
            "high": 0.3,
            "below": 0.01,
            "prior_below": 0.2,
            "gates": {"passed": True},
        },
        {
            "prior": "narrow",
            "median": 0.9,
            "low": 0.9,
            "high": 0.9,
            "below": 0.9,
            "prior_below": 0.7,
            "gates": {"passed": False},
        },
    ],
}


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ("crossed", "20.0% [10.0%, 30.0%]; P 0.010, prior 0.200"),
        ("hybrid", "; P 0.010"),
        ("nested", "20.0% [10.0%, 30.0%], confounded;"),
    ],
)
def test_a_stored_summary_of_a_fit_is_the_same_picture(page, paper, design, told):
    stored(paper, "fits", SUMMARY | {"design": design})
    (figure,) = figures(page())
    (words,) = described(figure)
    assert told in words
    assert "narrow: model fit failed" in words  # no number of a fit that failed
    assert "90" not in words
    assert ("No probability is given: the design is nested" in figure) == (design == "nested") == ("; P " not in words)


def test_a_confounded_fit_gives_no_probability(page, paper):
    fit = json.loads(json.dumps(FIT))
    fit["design"]["confounded"] = "countries have items of their own"
    fit["fits"][0]["P(share < 5%)"] = None
    stored(paper, "fits", fit)
    (figure,) = figures(page())
    assert "No probability is given: countries have items of their own" in figure
    assert "half-normal 0.5: 8.1% [2.1%, 24.4%], confounded;" in described(figure)[0]


@pytest.mark.parametrize(
    ("folder", "content", "words"),
    [
        ("studies", "{", "not JSON"),
        ("studies", FIT, "expected schema countback.study/1, found countback.fit/1"),
        ("studies", [1], "expected schema countback.study/1, found list"),
        ("studies", {k: v for k, v in STUDY.items() if k != "rows"}, "rows: Field required"),
        ("fits", FIT | {"fits": [{"prior": "p", "P(share < 5%)": 2}]}, "less than or equal to 1"),
    ],
)
def test_a_stored_file_that_is_none_is_named(page, paper, folder, content, words):
    path = stored(paper, folder, content)
    with pytest.raises(UserError, match=re.escape(words)) as error:
        page()
    assert str(path) in str(error.value)


# --- A paper folder of one's own -------------------------------------------------------------------------------------

OWN = """
from countback.claims.pictures import {names}

def pictures(data, printed):
    print("said")
    {body}
"""
PRINTED_ONLY = OWN.format(
    names="PRINTED, LeanPicture, RestsOn",
    body='own = printed.bar("models", "g", "x")\n'
    '    return [LeanPicture(title="Mine", says="", rests_on=RestsOn(PRINTED), bars=(own,))]',
)


def test_a_folder_of_ones_own_draws_its_printed_numbers(page, paper, capsys):
    (paper / "pictures.py").write_text(PRINTED_ONLY)
    (figure,) = figures(page())
    assert "g: x 2 as printed" in described(figure)[0]
    assert capsys.readouterr() == ("", "said\n")


def test_a_paper_chosen_of_a_file_brings_its_pictures_only(paper, tmp_path):
    (paper / "pictures.py").write_text(PRINTED_ONLY)
    nothing = Sources(offline=True, cache=tmp_path / "cache")
    told = audit([paper], nothing.locate).as_json()
    told["verdicts"].append(LINE)
    told["pictures"].append(as_json(pictures()[0]))
    (tmp_path / "v.json").write_text(json.dumps(told))
    files = build(gather((str(paper),), tmp_path / "v.json", nothing, tmp_path / "ledger.jsonl"), now())
    assert [each["title"] for each in json.loads(files["verdicts.json"])["pictures"]] == ["Mine"]
    assert len(figures(files["report.html"].decode())) == 1


def test_nothing_is_made_unless_a_json_is_asked_for(tmp_path):
    """And what is made of printed numbers alone needs no number crunching."""
    code = (
        "import sys; from countback.audit.cli import cli; names = ('countback.audit.gallery', 'numpy', 'matplotlib')\n"
        "for more in ([], ['--json', 'v.json']):\n"
        "    cli(['check', 'cubes', '--offline', '--quiet', *more], standalone_mode=False)\n"
        "    print([name for name in names if name in sys.modules])"
    )
    env = {**os.environ, "COUNTBACK_DATA": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "['countback.audit.gallery']"]
    assert len(json.loads((tmp_path / "v.json").read_text())["pictures"]) >= 5


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return [1]", "gave a int, expected pictures"),
        ("return 1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit"),
        ('data.path("labels.zip")', "where data is absent, draw printed numbers"),
        (
            'return [LeanPicture(title="Mine", says="", rests_on=RestsOn(RELEASED), bars=())]',
            "says that it rests on released files, and asked for no file",
        ),
    ],
)
def test_a_broken_pictures_py_is_named(page, paper, body, words):
    (paper / "pictures.py").write_text(OWN.format(names="RELEASED, LeanPicture, RestsOn", body=body))
    with pytest.raises(UserError, match=re.escape(words)) as error:
        page()
    assert str(paper / "pictures.py") in str(error.value)
