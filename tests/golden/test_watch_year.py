"""A year of looking, against fake hosts on 127.0.0.1: the transcript in watch_year.txt, and every state asserted.

Everything in it is made up: the paper, its hosts, its files. Only the clock is pretended, the command is the real one.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from countback.audit import ledger
from countback.claims.prediction import load_predictions, registration_line

from tests.functional import upstream_shapes as shapes
from tests.functional.fakehost import FakeHost, redirect, status
from tests.functional.inprocess import runner

TRANSCRIPT = Path(__file__).with_name("watch_year.txt")
PAPER = 'id = "demo"\ntitle = "A made-up paper"\ncitation = "nobody"\nversion = "1"\nlicence = "none"\nrequires = 1\n'
PREDICTION = """[[prediction]]
id = "lead"
statement = "the judge leads in two of three countries, and by 5 points over all"
where = { section = "5" }
made = 2026-10-07
deadline = 2027-06-30T23:59:59Z
trigger = "labels of all three countries"
settles = "counts of all three countries"
resolver = "lead"
with = { judge = "j", countries = 3, at_least = 2, margin = 5, trailing = ["France"], trail = -10 }
outcomes = [
  { outcome = "confirmed", when = "k1 and k2, not b2" },
  { outcome = "broken", when = "b1, or b2 without both" },
  { outcome = "both", when = "k1, k2 and b2" },
  { outcome = "neither", when = "else" },
  { outcome = "void", when = "too late" },
]
"""


class Year:
    """The paper's folder, a pretended day, and the transcript so far."""

    def __init__(self, folder: Path, host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
        self.host, self.monkeypatch = host, monkeypatch
        self.paper = folder / "demo"
        self.paper.mkdir()
        (self.paper / "paper.toml").write_text(PAPER)
        (self.paper / "upstream.toml").write_text(shapes.upstream_toml(host))
        file = self.paper / "predictions.toml"
        file.write_text(PREDICTION)
        (prediction,) = load_predictions(self.paper, "demo")[0]
        file.write_text(PREDICTION + registration_line(prediction, date(2026, 11, 29)) + "\n")
        self.run = runner(folder, folder / "ledger.jsonl", monkeypatch)
        self.folder = folder
        self.lines = ["Made up: no such paper, host or file exists. The command is real, its clock is pretended."]

    def do(
        self, day: str, why: str, *words: str, code: int, says: tuple[str, ...], not_says: tuple[str, ...] = ()
    ) -> None:
        """Run a command on a day; the exit code and the words that have to be there are given by hand."""
        moment = datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC)
        self.monkeypatch.setattr(ledger, "now", lambda: moment)
        folder = str(self.paper)
        done = self.run(*(folder if word == "demo" else word.replace("demo/", f"{folder}/") for word in words))
        text = (done.stdout + done.stderr).replace(str(self.folder), "").rstrip()
        text = text.replace(f"127.0.0.1:{self.host.server_port}", "127.0.0.1:PORT")
        self.lines += ["", f"## {day}: {why}", f"$ countback {' '.join(words)}   (exit {done.returncode})", text]
        flat = " ".join(text.split())
        assert done.returncode == code, text
        assert [words for words in says if words not in flat] == [], text
        assert [words for words in not_says if words in flat] == [], text


@pytest.fixture
def year(tmp_path, monkeypatch):
    with FakeHost() as host:
        shapes.quiet_world(host)
        yield Year(tmp_path, host, monkeypatch)


def test_a_year(year):
    host, do = year.host, year.do
    everything = ("demo/osf", "demo/preprint", "demo/code", "demo/repository")
    do(
        "2026-12-01",
        "first look, beside what the entry says of October",
        "watch",
        "demo",
        code=0,
        says=(
            "demo/code (anonymised repository Code-0000): first look: 2 files",
            "demo/repository (GitHub repository owner/name): first look: 1 latest commit, licence: none",
            "nothing changed; 4 places seen",
        ),
        not_says=("demo/osf", "demo/preprint"),
    )
    do(
        "2027-01-01",
        "nothing new",
        "watch",
        "demo",
        code=0,
        says=("nothing changed; 4 places seen",),
        not_says=everything,
    )

    changed = {"labels_zip": (427999, "c", "2027-01-20"), "scores_zip": (17718164, "b", "2026-05-26")}
    host.on(shapes.OSF_FILES, shapes.osf_files(**changed))
    do(
        "2027-02-01",
        "an archive changed in place",
        "watch",
        "demo",
        code=1,
        says=(
            "demo/osf (OSF project abcde): changed since 2027-01-01",
            "changed in place: labels.zip (size 427804,",
            "-> size 427999,",
            "a pin on it no longer holds",
            "1 changed; 4 places seen",
        ),
        not_says=("scores.zip", "new:", "gone:"),
    )

    changed["france_zip"] = (1000, "d", "2027-02-20")
    changed["india_zip"] = (1001, "e", "2027-02-20")
    host.on(shapes.OSF_FILES, shapes.osf_files(**changed))
    do(
        "2027-03-01",
        "files of new countries",
        "watch",
        "demo",
        code=1,
        says=(
            "new: france.zip (size 1000,",
            "new: india.zip (size 1001,",
            "labels for more countries? pin it in releases.toml, then run: countback fetch",
        ),
        not_says=("labels.zip", "gone:"),
    )

    host.on(shapes.ARXIV, shapes.arxiv(2, "2027-03-15T08:00:00Z"))
    host.on(shapes.COMMITS, shapes.commits("2", "1", "0"))
    do(
        "2027-04-01",
        "a second version of the preprint, and a commit",
        "watch",
        "demo",
        code=1,
        says=(
            "demo/preprint (arXiv preprint 2610.99999): changed since 2027-03-01",
            "new: v2 (submitted 2027-03-15T08:00:00Z)",
            "it may report what a prediction waits for",
            "demo/repository (GitHub repository owner/name): changed since 2027-03-01",
            "change 2",
            "2 changed; 4 places seen",
        ),
        not_says=("demo/osf", "gone:"),
    )

    host.on(shapes.OSF_FILES, lambda handler: handler.connection.close())
    host.on(shapes.ARXIV, status(429, b"Rate exceeded.", Retry_After="3600"))
    do(
        "2027-05-01",
        "a host is down, another has had enough",
        "watch",
        "demo",
        code=3,
        says=(
            "demo/osf (OSF project abcde): could not look: unreachable",
            "last seen 2027-04-01",
            "demo/preprint (arXiv preprint 2610.99999): could not look: rate-limited",
            "nothing changed where it could be seen; 2 of 4 places seen in whole",
        ),
        not_says=("demo/code", "demo/repository", "new:", "gone:"),
    )

    host.on(shapes.OSF_FILES, shapes.osf_files(**changed))
    host.on(shapes.OSF_NODE, shapes.osf_node("CC-By Attribution 4.0 International"))
    host.on(shapes.ARXIV, shapes.arxiv(2, "2027-03-15T08:00:00Z"))
    do(
        "2027-05-15",
        "up again, and a licence was added",
        "watch",
        "demo",
        code=1,
        says=(
            "demo/osf (OSF project abcde): changed since 2027-04-01",
            "licence: was none, is CC-By Attribution 4.0 International",
            "the terms of use changed",
            "1 changed; 4 places seen",
        ),
        not_says=("new:", "gone:", "demo/preprint"),
    )

    host.on(shapes.ANONYMOUS, status(410, b'{"error": "repository_expired"}'))
    do(
        "2027-06-01",
        "a link expired",
        "watch",
        "demo",
        code=1,
        says=(
            "demo/code (anonymised repository Code-0000): changed since 2027-05-15",
            "was seen, is expired: HTTP 410",
            "look at the landing page for a new one",
        ),
        not_says=("gone: README",),
    )
    do(
        "2027-06-15",
        "it stays expired",
        "watch",
        "demo",
        code=3,
        says=(
            "demo/code (anonymised repository Code-0000): could not look: expired",
            "last seen 2027-05-15",
            "nothing changed where it could be seen; 3 of 4 places seen in whole",
        ),
    )
    do(
        "2027-06-30",
        "the last day",
        "predict",
        "demo",
        code=0,
        says=("demo/lead open, less than a day left (2027-06-30T23:59:59Z)",),
    )
    do(
        "2027-07-01",
        "the deadline has passed",
        "predict",
        "demo",
        code=0,
        says=(
            "demo/lead overdue, less than a day past the deadline",
            "with --outcome void --reason",
            "resolved: 0 of 1",
        ),
    )
    do(
        "2027-07-02",
        "no trigger came",
        "predict",
        "resolve",
        "demo/lead",
        "--outcome",
        "void",
        "--reason",
        "two of three countries are out, the third is not",
        code=0,
        says=("demo/lead: void",),
    )
    do(
        "2027-07-03",
        "as it stands then",
        "predict",
        "demo",
        code=0,
        says=(
            "demo/lead void, 2 days past the deadline",
            "resolved 2027-07-02 as void",
            "reason: two of three countries are out",
            "resolved: 1 of 1; void: 1 of 1 resolved",
        ),
    )

    with FakeHost() as elsewhere:
        host.on(shapes.COMMITS, redirect(f"http://localhost:{elsewhere.server_port}/owner/name"))
        del changed["france_zip"]
        changed["data_labels_zip"] = changed.pop("labels_zip")
        host.on(shapes.OSF_FILES, shapes.osf_files(**changed))
        host.on(shapes.ANONYMOUS, shapes.anonymous(README_md="0a1b2c3d", judge_py="22222222"))
        do(
            "2027-08-01",
            "withdrawn, renamed, moved, and back again",
            "watch",
            "demo",
            code=1,
            says=(
                "renamed: labels.zip -> data.labels.zip",
                "gone: france.zip",
                "was expired, is seen",
                "changed in place: judge.py",
                "was seen, is moved: a redirect to",
                "3 changed",
            ),
            not_says=("new:", "gone: labels.zip"),
        )
    do(
        "2027-09-01",
        "half an answer",
        "watch",
        "demo",
        code=3,
        says=("could not look: moved", "3 of 4 places seen in whole"),
        not_says=("renamed", "gone:", "was "),
    )
    # eleven looks at four places, a registration and a resolution
    do("2027-10-01", "the record", "ledger", "verify", code=0, says=("46 entries, the chain is whole",))
    text = "\n".join(year.lines) + "\n"
    ledger = r"ledger:\s+/ledger\.jsonl:.*?proofs:\s+none"  # its lines break by the length of the folder's path
    text = re.sub(ledger, lambda found: " ".join(found[0].split()), text, flags=re.DOTALL)
    text = re.sub(r"last sha256 [0-9a-f]{64}", "last sha256 (differs with the port)", text)
    text = text.replace(f"localhost:{elsewhere.server_port}", "localhost:PORT")
    assert TRANSCRIPT.read_text(encoding="utf-8") == text
