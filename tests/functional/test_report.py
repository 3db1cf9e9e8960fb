"""`countback report` end to end: the page and its siblings say what the verdicts say, whatever the papers hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

FILES = {
    "report.html",
    "verdicts.json",
    "junit.xml",
    "summary.md",
    "badge.json",
    "claimreview.jsonld",
    "ro-crate-metadata.json",
}
WRONG = ("3.80,4.60,4.20", "3.80,4.60,4.30")  # the mean of 3.80 and 4.60 is 4.20


class Page(HTMLParser):
    """Elements with their attributes, and the text that each `tr` and `article` with an id holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.elements.append((tag, named))
        if tag in ("tr", "article") and named.get("id"):
            self._open.append((tag, str(named["id"])))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            self.inside[name] = " ".join((self.inside.get(name, "") + " " + data).split())

    def ids(self) -> list[str]:
        return [str(named["id"]) for _, named in self.elements if "id" in named]

    def links(self) -> list[str]:
        return [str(named["href"]) for tag, named in self.elements if tag == "a"]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "verdicts.json").read_text())


@pytest.fixture
def report(countback, paper, tmp_path):
    """Build the report of the small paper; the folder, and the page as read."""

    def build(*arguments: object) -> tuple[Path, Page]:
        out = tmp_path / "out"
        done = countback("report", *(arguments or (paper, "--offline")), "--out", out)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return out, Page((out / "report.html").read_text(encoding="utf-8"))

    return build


def test_every_file_is_there_and_other_files_are_left_alone(report, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    out, _ = report()
    assert {path.name for path in out.iterdir()} == FILES | {"mine.txt"}
    assert (out / "mine.txt").read_text() == "mine"


def test_the_page_needs_nothing_from_elsewhere_and_every_link_in_it_leads_somewhere(report):
    _, page = report()
    ids = page.ids()
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    inner = [link[1:] for link in page.links() if link.startswith("#")]
    assert set(inner) <= set(ids)
    assert len(inner) > 10
    assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base"} == set()
    assert [named for _, named in page.elements if "src" in named] == []


def test_each_claim_stands_in_the_page_with_its_verdict_and_numbers(report):
    out, page = report()
    verdicts = told(out)["verdicts"]
    assert len(verdicts) == 6
    rows = {text for name, text in page.inside.items() if not name.startswith("f-")}
    for verdict in verdicts:
        row = next(text for text in rows if verdict["id"].removeprefix("demo/") + " " in text)
        assert verdict["verdict"] in row
        assert verdict["reported"] in row
    mean = next(text for text in rows if "row-mean[A]" in text)
    assert "(3.80 + 4.60) / 2" in mean
    assert "Table 1, A, Help; Table 1, A, Hon" in mean


def test_a_finding_is_laid_out_so_that_a_reader_can_redo_it(report, paper):
    edit(paper / "tables" / "t1.csv", *WRONG)
    _, page = report()
    finding = next(text for name, text in page.inside.items() if name.startswith("f-demo-row-mean-A"))
    for words in (
        "Table 1, A, All",
        "inconsistent",
        "4.30, which stands for 4.295 to 4.305",
        "the mean: (3.80 + 4.60) / 2",
        "4.2; with every operand anywhere in its rounding, 4.195 to 4.205",
        "by −0.09 at the nearest ends",  # 4.205 against 4.295
        "Table 1, A, Help",
        "Table 1, A, Hon",
    ):
        assert words in finding


def test_a_cell_is_marked_with_its_worst_verdict_and_leads_to_the_claim(report, paper):
    edit(paper / "tables" / "t1.csv", *WRONG)
    out, page = report()
    text = (out / "report.html").read_text(encoding="utf-8")
    cell = re.search(r'<td class="v-inconsistent">4\.30.*?</td>', text)
    assert cell is not None
    assert "≠" in cell[0]
    assert re.search(r'aria-label="≠ inconsistent: row-mean\[A\]"', cell[0])
    assert re.search(r'<td class="v-consistent">3\.65.*?✓.*?</td>', text)
    operand = re.search(
        r"<td>3\.80.*?</td>", text[text.index('class="cells"') :]
    )  # no claim is about it; it is used in the finding
    assert operand is not None
    assert "†" in operand[0]
    # 4.00 must be the mean of 4.30 and 3.80, which is 4.05
    assert re.search(r'<td class="v-inconsistent">4\.00', text)
    assert "f-demo-row-mean-A" in " ".join(page.ids())


def test_of_several_claims_about_a_cell_the_worst_comes_first(report, paper):
    edit(paper / "tables" / "t1.csv", *WRONG)
    positive = '[[relation]]\nid = "positive"\nreads = "above 1"\nrelation = "more-than"\nof = ["t1|A|All", "=1"]\n\n'
    edit(paper / "claims.toml", '[[relation]]\nid = "row-mean"', positive + '[[relation]]\nid = "row-mean"')
    out, _ = report()
    assert [v["verdict"] for v in told(out)["verdicts"][:2]] == ["consistent", "inconsistent"]
    cell = re.search(r'<td class="v-inconsistent">4\.30.*?</td>', (out / "report.html").read_text(encoding="utf-8"))
    assert cell is not None
    assert re.findall(">([≠✓])</a>", cell[0]) == ["≠", "✓"]


def test_junit_fails_for_a_new_finding_and_skips_a_known_one(report, paper):
    edit(paper / "tables" / "t1.csv", *WRONG)
    with (paper / "claims.toml").open("a", encoding="utf-8") as claims:
        claims.write(
            '\n[[known]]\nclaims = ["row-mean[A]"]\nverdict = "inconsistent"\nsince = 2026-11-29\nwhy = "slip"\n'
        )
    out, page = report()
    suite = ElementTree.parse(out / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "1", "1")
    cases = {case.get("name"): case for case in suite}
    assert cases["average[All]"].find("failure") is not None
    skipped = cases["row-mean[A]"].find("skipped")
    assert skipped is not None
    assert "known finding" in str(skipped.get("message"))
    assert json.loads((out / "badge.json").read_text())["color"] == "red"
    markdown = (out / "summary.md").read_text(encoding="utf-8")
    assert markdown.startswith("## countback: 1 new, 1 known, 6 claims (")
    assert markdown.index("average") < markdown.index("Known findings")
    assert "slip" in (out / "report.html").read_text(encoding="utf-8")
    assert page.inside  # the page was built from the same verdicts


def test_the_badge_has_the_date_and_only_keys_of_the_endpoint(countback, paper, tmp_path):
    done = countback("report", paper, "--offline", "--out", tmp_path / "out", SOURCE_DATE_EPOCH="1795910400")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "badge.json").read_text()) == {
        "schemaVersion": 1,
        "label": "numbers recounted",
        "message": "6 agree, 0 disagree, 0 unchecked (2026-11-29)",
        "color": "brightgreen",
    }


def test_two_builds_of_one_day_are_equal(countback, paper, tmp_path):
    for name in ("one", "two"):
        done = countback("report", paper, "--offline", "--out", tmp_path / name, SOURCE_DATE_EPOCH="1795910400")
        assert done.returncode == 0, done.stderr
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in FILES)


def test_claim_reviews_are_of_decided_claims_only_and_link_to_the_page(countback, tmp_path):
    done = countback("report", "cubes", "--offline", "--out", tmp_path / "out", "--url", "https://example.org/r")
    assert done.returncode == 0, done.stderr
    verdicts = told(tmp_path / "out")["verdicts"]
    decided = {v["id"]: v["verdict"] for v in verdicts if v["verdict"] not in ("unchecked", "uninformative")}
    graph = json.loads((tmp_path / "out" / "claimreview.jsonld").read_text())["@graph"]
    assert {one["itemReviewed"]["name"]: one["reviewRating"]["alternateName"] for one in graph} == decided
    assert 0 < len(decided) < len(verdicts)
    ids = Page((tmp_path / "out" / "report.html").read_text(encoding="utf-8")).ids()
    for one in graph:
        before, _, fragment = one["url"].partition("#")
        assert before == "https://example.org/r/report.html"
        assert fragment in ids
        assert one["reviewRating"]["ratingValue"] == (
            1 if decided[one["itemReviewed"]["name"]] == "inconsistent" else 5
        )


def test_the_crate_names_every_file_with_its_bytes(report):
    out, _ = report()
    graph = {one["@id"]: one for one in json.loads((out / "ro-crate-metadata.json").read_text())["@graph"]}
    root = graph["./"]
    assert {part["@id"] for part in root["hasPart"]} == FILES - {"ro-crate-metadata.json"}
    for part in root["hasPart"]:
        content = (out / part["@id"]).read_bytes()
        assert graph[part["@id"]]["sha256"] == hashlib.sha256(content).hexdigest()
        assert graph[part["@id"]]["contentSize"] == str(len(content))
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}


def test_what_was_not_checked_has_its_reason_and_a_command(countback, tmp_path):
    done = countback("report", "alt-test", "--offline", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    part = text[text.index('id="unchecked"') :]
    assert "archive absent" in part
    assert "countback fetch alt-test" in part
    assert json.loads((tmp_path / "out" / "badge.json").read_text())["color"] == "lightgrey"


def test_released_data_is_named_with_its_sha256(countback, shared, tmp_path):
    out = tmp_path / "out"
    done = countback("report", "alt-test", "--data", shared / "data" / "alttest", "--out", out, "--offline")
    assert done.returncode == 0, done.stderr
    text = (out / "report.html").read_text(encoding="utf-8")
    released = shared / "data" / "alttest" / "raw" / "wax_human_annotations.json"
    assert hashlib.sha256(released.read_bytes()).hexdigest() in text
    assert "winning_rate(dataset = wax" in text
    assert told(out)["summary"]["reproduced"] == len(told(out)["verdicts"])


# --- from a file of verdicts --------------------------------------------------------------------------------------


def verdict(**changes: Any) -> dict[str, Any]:
    """One line of the stable JSON, of a paper that no registry has."""
    line: dict[str, Any] = {
        "id": "elsewhere/c1",
        "paper": "elsewhere",
        "kind": "recount",
        "where": {"section": "2"},
        "reads": "a share",
        "reported": "81.1%",
        "reported_interval": ["81.05", "81.15"],
        "recounted": 80.25,
        "recounted_interval": [78.0, 82.5],
        "gap": -0.8,
        "n": 491,
        "verdict": "differs",
        "known": False,
        "agrees": False,
        "reason": "",
        "evidence": {"recipe": "share", "with": {"judge": "j"}, "files": [{"file": "a.csv", "sha256": "0" * 64}]},
    }
    return line | changes


def written(path: Path, *lines: dict[str, Any], **changes: Any) -> Path:
    content = {"schema": "countback.verdicts/1", "kit": {"countback": "9"}, "inputs": [], "summary": {}}
    path.write_text(json.dumps(content | {"verdicts": list(lines)} | changes), encoding="utf-8")
    return path


def test_verdicts_of_a_paper_that_is_not_at_hand(report, tmp_path):
    out, page = report("--from", written(tmp_path / "v.json", verdict()))
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "The folder of this paper was not at hand" in text
    finding = next(words for name, words in page.inside.items() if name.startswith("f-"))
    assert "Recounted 80.25, n 491, its interval 78 to 82.5" in finding
    assert "share(judge = j)" in finding
    assert told(out)["verdicts"] == [verdict()]


def test_the_same_report_from_a_file_as_from_a_run(countback, paper, tmp_path):
    assert countback("check", paper, "--offline", "-q", "--json", tmp_path / "v.json").returncode == 0
    for name, arguments in (("run", (paper, "--offline")), ("file", (paper, "--from", tmp_path / "v.json"))):
        done = countback("report", *arguments, "--out", tmp_path / name, SOURCE_DATE_EPOCH="1795910400")
        assert done.returncode == 0, done.stderr
    assert all((tmp_path / "run" / name).read_bytes() == (tmp_path / "file" / name).read_bytes() for name in FILES)


@pytest.mark.parametrize("reason", ["synthetic data", "unverified data", "unconfirmed transcription: t1|A|All"])
def test_data_that_proves_nothing_is_said_in_big_words(report, tmp_path, reason):
    line = verdict(verdict="unchecked", agrees=True, reason=reason, gap="0")
    out, _ = report("--from", written(tmp_path / "v.json", line))
    text = (out / "report.html").read_text(encoding="utf-8")
    assert f"<strong>{reason.partition(':')[0].upper()}</strong> 1 claim of elsewhere rests on it." in text
    assert "1 of 1 that were compared agree, which proves nothing" in text
    assert json.loads((out / "badge.json").read_text())["color"] == "lightgrey"
    assert json.loads((out / "claimreview.jsonld").read_text())["@graph"] == []
    assert ElementTree.parse(out / "junit.xml").getroot().get("skipped") == "1"


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}]]>\x0b\u202e$x^{$'


def test_a_hostile_file_stays_text_everywhere(report, tmp_path):
    lines = [
        verdict(id=f"elsewhere/{HOSTILE}", reads=HOSTILE, reported=HOSTILE, where={"table": HOSTILE}, reason=HOSTILE),
        verdict(
            id="elsewhere/r",
            verdict="inconsistent",
            evidence={"relation": HOSTILE, "of": [{"from": HOSTILE, "printed": HOSTILE}], "rounding": HOSTILE},
        ),
        verdict(id=f"{HOSTILE}/x", paper=HOSTILE, kind=HOSTILE, verdict="unchecked", reason=HOSTILE, evidence={}),
        verdict(id="elsewhere/s", recounted="\ud800", evidence={"notes": [HOSTILE], "readings": {HOSTILE: 1.0}}),
    ]
    out, page = report("--from", written(tmp_path / "v.json", *lines, kit={HOSTILE: HOSTILE}))
    only_ours(page)
    assert ElementTree.parse(out / "junit.xml").getroot().get("tests") == "4"
    markdown = (out / "summary.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)<(script|img)", markdown)
    assert told(out)["verdicts"] == lines


def only_ours(page: Page) -> None:
    """One script, which the page's policy allows by its hash; no handler, no image; nothing that a template made."""
    assert [tag for tag, _ in page.elements if tag in ("script", "img")] == ["script"]
    assert [named for _, named in page.elements if any(name.startswith("on") for name in named)] == []
    assert all(link.startswith(("#", "https://")) for link in page.links())


def test_a_hostile_paper_folder_stays_text(report, paper):
    edit(paper / "paper.toml", "A made-up paper for tests", "<script>alert(1)</script>")
    edit(
        paper / "paper.toml",
        'licence = "none"',
        "licence = '<img src=x onerror=alert(1)>'\nurl = 'javascript:alert(1)'",
    )
    edit(paper / "claims.toml", "the number of models", "<script>alert(1)</script> {{ 7*7 }}")
    edit(paper / "tables" / "t1.csv", "B,3.50", '"<script>alert(2)</script>",3.50')
    out, page = report()
    only_ours(page)
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in text
    assert "{{ 7*7 }}" in text


def test_the_policy_allows_the_script_by_its_hash(report):
    out, page = report()
    text = (out / "report.html").read_text(encoding="utf-8")
    script = text[text.index("<script>") + len("<script>") : text.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(str(n["content"]) for tag, n in page.elements if n.get("http-equiv") == "Content-Security-Policy")
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


MISTAKES = {
    "not JSON": ("[", "not JSON"),
    "another schema": (
        '{"schema": "countback.diff/1"}',
        'expected schema "countback.verdicts/1", found countback.diff/1',
    ),
    "a list": ("[]", "found list"),
    "no verdicts": ('{"schema": "countback.verdicts/1", "kit": {}, "inputs": []}', "verdicts: Field required"),
    "NaN": ('{"schema": "countback.verdicts/1", "kit": NaN}', "NaN is no number"),
}


@pytest.mark.parametrize(("content", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_file_that_is_none_is_one_sentence(countback, tmp_path, content, words):
    path = tmp_path / "v.json"
    path.write_text(content, encoding="utf-8")
    done = countback("report", "--from", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([verdict(), verdict()], 'the claim "elsewhere/c1" stands in it twice'),
        ([verdict(verdict="true")], "verdicts.0.verdict"),
        ([verdict(evidence={"of": "no list", "relation": "mean"})], "verdicts.0.evidence.of"),
    ],
)
def test_a_wrong_line_is_named(countback, tmp_path, lines, words):
    done = countback("report", "--from", written(tmp_path / "v.json", *lines), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr


def test_a_paper_that_the_file_has_nothing_about(countback, paper, tmp_path):
    done = countback("report", paper, "--from", written(tmp_path / "v.json", verdict()), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "no verdict on demo; it has elsewhere" in done.stderr


def test_a_file_that_cannot_be_replaced_leaves_nothing_half_written(countback, paper, tmp_path):
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    done = countback("report", paper, "--offline", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.html"]


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_a_missing_library_is_a_sentence_that_names_the_extra(countback, paper, tmp_path, library):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / f"{library}.py").write_text("raise ImportError('absent')")
    done = countback("report", paper, "--offline", "--out", tmp_path / "out", PYTHONPATH=str(tmp_path / "without"))
    assert done.returncode == 2
    assert "pip install 'countback[report]'" in done.stderr
    assert library in done.stderr
    assert not (tmp_path / "out").exists()
