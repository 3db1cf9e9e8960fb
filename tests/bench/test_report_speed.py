"""A report of 20,000 claims and one of the whole registry, beside writing the same verdicts as JSON and as a table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from countback.audit.report import build, gather, now
from countback.audit.report.data import read_told, sections
from countback.audit.report.drawn import shown
from countback.audit.run import audit
from countback.audit.sources import Sources
from countback.claims.registry import find_papers

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.bench


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor, and what came out."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    nothing = Sources(offline=True, cache=tmp_path_factory.mktemp("cache"))
    return audit(find_papers(()), nothing.locate).as_json()


def many(registry: dict[str, Any], count: int) -> dict[str, Any]:
    """The registry's verdicts over and over, as claims of one paper."""
    lines = registry["verdicts"]
    told = [lines[n % len(lines)] | {"id": f"many/{n}", "paper": "many"} for n in range(count)]
    return registry | {"verdicts": told, "inputs": []}


@pytest.mark.parametrize("count", [0, 20_000], ids=["registry", "20000"])
def test_report_beside_json_and_pandas(registry: dict[str, Any], tmp_path: Path, count: int) -> None:
    told = many(registry, count) if count else registry
    source = tmp_path / "verdicts.json"
    source.write_text(json.dumps(told))
    nothing = Sources(offline=True, cache=tmp_path / "cache")
    ours, files = timed(lambda: build(gather((), source, nothing, tmp_path / "ledger.jsonl"), now()))
    plain, _ = timed(lambda: json.dumps(json.loads(source.read_text()), indent=1))
    table, html = timed(lambda: pandas.json_normalize(json.loads(source.read_text())["verdicts"]).to_html())
    size = len(files["report.html"])
    print(
        f"\n{len(told['verdicts']):,} claims: report {ours:.2f} s, page {size / 1e6:.1f} MB; json.dumps {plain:.2f} s, "
        f"ratio {ours / plain:.1f}; pandas to_html {table:.2f} s, {len(html) / 1e6:.1f} MB, ratio {ours / table:.2f}"
    )
    assert files["report.html"].count(b'<tr id="') == len(told["verdicts"])


def test_pictures_beside_the_audit_they_are_of(tmp_path: Path) -> None:
    nothing = Sources(offline=True, cache=tmp_path / "cache")
    checked, run = timed(lambda: audit(find_papers(()), nothing.locate))
    plain, _ = timed(lambda: run.as_json(pictures=False))
    ours, told = timed(run.as_json)
    papers = sections(read_told(told, "run"), run.papers)
    drawing, drawn = timed(lambda: [shown(paper.pictures, ()) for paper in papers])
    count = sum(len(each.drawings) for some in drawn for each in some)
    print(
        f"\n{len(told['pictures'])} pictures without files: {ours - plain:.2f} s to make, audit {checked:.2f} s, "
        f"ratio {(ours - plain) / checked:.2f}; {count} drawings {drawing:.2f} s, ratio {drawing / checked:.2f}"
    )
    assert count > 0
