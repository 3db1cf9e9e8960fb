"""`countback predict` as a user runs it: how a prediction stands, resolving, amending, and every mistake on the way."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from countback.audit.ledger import Kind, append
from countback.claims.prediction import load_predictions, registration_line
from countback.claims.registry import PAPERS

from tests.functional.inprocess import runner

PREDICTIONS = """[[prediction]]
id = "lead"
statement = "the judge leads in two of three countries, and by 5 points over all"
where = { section = "5" }
made = 2026-01-05
deadline = 2026-06-30T23:59:59Z
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
REGISTERED

[[prediction.forecast]]
on = 2026-01-06
model = "a made-up model"
of = "confirmed"
probability = 0.8

[[prediction]]
id = "share"
statement = "country explains 5% of the variance"
where = { section = "5" }
made = 2026-01-05
trigger = "a crossed study"
settles = "the share with its interval"
resolver = "share"
with = { threshold = 0.05 }
outcomes = [
  { outcome = "confirmed", when = "lower bound at 5% or more" },
  { outcome = "broken", when = "upper bound below 5%" },
  { outcome = "neither", when = "else" },
  { outcome = "void", when = "said by hand" },
]
REGISTERED

[[printed]]
countries = ["Spain"]
n = 100
human = 60
judge = 63
"""
GOOD = "country,n,human,judge\nFrance,100,50,60\nSpain,100,60,63\nPeru,100,50,52\n"  # 15 of 300 = 5 points
BAD = "country,n,human,judge\nFrance,100,50,39\nSpain,100,60,59\nPeru,100,50,49\n"  # b1
SOURCE = ("--source", "the authors' site")
IN_TIME = ("--released", "2026-06-30T23:59:59Z")


@pytest.fixture
def demo(paper: Path) -> Path:
    """The made-up paper with two registered predictions, and the tables that may settle one."""
    file = paper / "predictions.toml"
    file.write_text(PREDICTIONS.replace("REGISTERED\n", ""), encoding="utf-8")
    text = PREDICTIONS
    for prediction in load_predictions(paper, "demo")[0]:
        text = text.replace("REGISTERED", registration_line(prediction, date(2026, 1, 6)), 1)
    file.write_text(text, encoding="utf-8")
    (paper / "good.csv").write_text(GOOD, encoding="utf-8")
    (paper / "bad.csv").write_text(BAD, encoding="utf-8")
    return paper


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`countback ARGS` with a ledger of its own."""
    return runner(tmp_path, tmp_path / "ledger.jsonl", monkeypatch)


@pytest.fixture
def state(run, demo):
    """The predictions by id, from the command's JSON; further arguments go with it."""

    def ask(*arguments: object) -> dict:
        done = run("predict", demo, "--json", "-", *arguments)
        assert done.returncode == 0, done.stderr
        return {each["id"]: each for each in json.loads(done.stdout)["predictions"]}

    return ask


def resolve(run, demo, *arguments):
    return run("predict", "resolve", f"{demo}/lead", *arguments)


def test_a_registered_prediction_before_and_after_its_deadline(state):
    before = state("--as-of", "2026-06-30")["demo/lead"]  # the end of that day
    assert (before["state"], before["seconds_left"]) == ("open", 0)
    assert state("--as-of", "2026-07-01T00:00:00Z")["demo/lead"]["state"] == "overdue"
    assert state("--as-of", "2026-07-01T01:59:59+02:00")["demo/lead"]["state"] == "open"
    late = state("--as-of", "2026-07-02")["demo/lead"]
    assert (late["state"], late["seconds_left"]) == ("overdue", -2 * 86_400)
    assert state("--as-of", "2036-01-01")["demo/share"]["state"] == "open"  # no deadline


def test_the_present_value_of_each_criterion(state):
    present = state()["demo/lead"]["present"]
    assert present["source"] == "printed"
    k1, k2, b1, b2 = present["criteria"]
    assert k1 == {"id": "k1", "holds": None, "values": [{"name": "countries", "low": "1", "high": "3", "n": 1}]}
    assert k2["values"] == b1["values"] == [{"name": "D", "low": "3", "high": "3", "n": 100}]
    assert b2["values"] == []
    assert present["possible"] == ["confirmed", "broken", "both", "neither"]


def test_the_text_says_all_that_one_needs(run, demo):
    text = " ".join(run("predict", demo, "--as-of", "2026-06-29").stdout.split())
    for words in (
        "demo/lead open, 1 day left (2026-06-30T23:59:59Z)",
        "registered 2026-01-06, words and rule as registered",
        "waits for: labels of all three countries",
        "settled by: counts of all three countries",
        "k1 undecided: 1 countries at or above zero, at most 3 in the end; 2 of 3 needed",
        "b2 undecided: France not known; below -10 in each needed",
        "forecast: P(confirmed) = 0.800 by a made-up model, 2026-01-06",
        "demo/share open, no deadline",
        "resolved: 0 of 2; void: 0 of 0 resolved",
        "ledger: none yet",
    ):
        assert words in text
    assert list(demo.parent.glob("*.jsonl*")) == []  # looking writes nothing


def test_resolving_and_its_score(run, demo, state):
    done = resolve(run, demo, "--data", demo / "good.csv", *IN_TIME, *SOURCE)
    assert done.stdout == "demo/lead: confirmed (ledger entry 2)\n", done.stderr
    told = state()["demo/lead"]
    assert told["state"] == "confirmed"
    (record,) = told["resolutions"]
    assert record["happened"] == "2026-06-30T23:59:59Z"
    assert record["data"]["rows"][0] == {"country": "France", "n": "100", "human": "50", "judge": "60"}
    assert [criterion["holds"] for criterion in record["criteria"]] == [True, True, False, False]
    # P(confirmed) = 0.8 and confirmed: (1 - 0.8)^2 and -ln 0.8
    assert told["forecasts"][0]["score"] == pytest.approx({"brier": 0.04, "log": 0.2231436})
    text = run("predict", f"{demo}/lead").stdout
    assert "Brier score 0.040, log score 0.223" in text
    assert "resolved: 1 of 1; void: 0 of 1 resolved" in text
    assert run("ledger", "verify").returncode == 0


@pytest.mark.parametrize("name", ["COUNTS.CSV", "Counts.Json"])
def test_a_table_is_one_by_its_ending_however_that_is_written(name, run, demo):
    rows = [dict(zip(("country", "n", "human", "judge"), row.split(","), strict=True)) for row in GOOD.split()[1:]]
    (demo / name).write_text(GOOD if name == "COUNTS.CSV" else json.dumps(rows), encoding="utf-8")
    done = resolve(run, demo, "--data", demo / name, *IN_TIME, *SOURCE)
    assert done.stdout == "demo/lead: confirmed (ledger entry 2)\n", done.stderr


def test_a_forecast_that_was_wrong(run, demo, state):
    resolve(run, demo, "--data", demo / "bad.csv", *IN_TIME, *SOURCE)
    told = state()["demo/lead"]
    assert told["state"] == "broken"
    # P(confirmed) = 0.8 and broken: 0.8^2 and -ln 0.2
    assert told["forecasts"][0]["score"] == pytest.approx({"brier": 0.64, "log": 1.6094379})


def test_a_forecast_made_after_the_fact_has_no_score(run, demo, state):
    resolve(run, demo, "--data", demo / "good.csv", "--released", "2026-01-06T12:00:00Z", *SOURCE)
    assert state()["demo/lead"]["forecasts"][0]["score"] is None
    assert "not made before the day of the trigger" in " ".join(run("predict", demo).stdout.split())


def test_a_forecast_on_record_cannot_be_mended_afterwards(run, demo, state, tmp_path):
    """Once a ledger holds it, its probability stays; another one is a further row."""
    file = demo / "predictions.toml"
    text = file.read_text(encoding="utf-8")
    assert resolve(run, demo, "--data", demo / "bad.csv", *IN_TIME, *SOURCE).returncode == 0
    chained = (tmp_path / "ledger.jsonl").read_bytes()
    for was, now in (("probability = 0.8", "probability = 0.1"), ('of = "confirmed"', 'of = "broken"')):
        file.write_text(text.replace(was, now), encoding="utf-8")
        again = ("resolve", f"{demo}/lead", "--data", demo / "bad.csv", *IN_TIME, *SOURCE, "--reason", "again")
        for words in ((demo,), again):
            done = run("predict", *words)
            assert done.returncode == 4, done.stdout
            assert 'the ledger holds a forecast "2026-01-06: P(confirmed) = 0.8 by a made-up model"' in done.stderr
        assert (tmp_path / "ledger.jsonl").read_bytes() == chained
    row = '[[prediction.forecast]]\non = 2026-02-01\nmodel = "another"\nof = "broken"\nprobability = 0.6\n\n'
    first = text.index("[[prediction.forecast]]")
    file.write_text(text[:first] + row + text[first:], encoding="utf-8")
    scores = [each["score"]["brier"] for each in state()["demo/lead"]["forecasts"]]
    assert scores == pytest.approx([0.4**2, 0.8**2])


def test_data_that_came_a_second_late_is_void(run, demo, state):
    done = resolve(run, demo, "--data", demo / "good.csv", "--released", "2026-07-01T00:00:00Z", *SOURCE)
    assert "demo/lead: void" in done.stdout
    assert state()["demo/lead"]["forecasts"][0]["score"] is None
    assert "void: 1 of 1 resolved" in run("predict", f"{demo}/lead").stdout


def test_void_by_hand_and_resolved_again_with_a_reason(run, demo, state):
    assert resolve(run, demo, "--outcome", "void").returncode == 2
    done = resolve(run, demo, "--outcome", "void", "--reason", "nothing came in time")
    assert done.returncode == 0, done.stderr
    again = ("--data", demo / "good.csv", *IN_TIME, *SOURCE)
    refused = resolve(run, demo, *again)
    assert refused.returncode == 2
    assert "resolved as void on" in refused.stderr
    assert resolve(run, demo, *again, "--reason", "it had come after all").returncode == 0
    told = state()["demo/lead"]
    assert [each["outcome"] for each in told["resolutions"]] == ["void", "confirmed"]
    assert told["state"] == "confirmed"
    text = run("predict", f"{demo}/lead").stdout
    assert "as void (replaced below)" in text
    assert "it had come after all" in text
    assert "void: 0 of 1 resolved" in text


def test_any_day_is_answered_from_what_was_known_then(run, demo, state):
    """The ledger holds today's resolution; the day before it the prediction was overdue."""
    resolve(run, demo, "--data", demo / "good.csv", *IN_TIME, *SOURCE)
    assert state("--as-of", "2026-07-15")["demo/lead"]["state"] == "overdue"
    assert state("--as-of", "2999-01-01")["demo/lead"]["state"] == "confirmed"


def test_the_share(run, demo, state):
    file = demo / "share.json"
    share = {"share": 0.02, "low": 0.01, "high": 0.04, "level": 0.95, "countries": 4, "items": 10, "crossed": True}
    file.write_text(json.dumps(share | {"method": "by hand"}), encoding="utf-8")
    done = run("predict", "resolve", f"{demo}/share", "--data", file, *IN_TIME, *SOURCE)
    assert "demo/share: broken" in done.stdout, done.stderr
    assert "upper bound 0.04; against 0.05" in run("predict", demo).stdout
    file.write_text(json.dumps(share | {"method": "by hand", "crossed": False}), encoding="utf-8")
    done = run("predict", "resolve", f"{demo}/share", "--data", file, *IN_TIME, *SOURCE, "--reason", "x")
    assert done.returncode == 2
    assert "decides nothing" in done.stderr


MISTAKES = {
    "no zone": (("--released", "2026-06-01T00:00:00"), 2, "without a zone"),
    "a day": (("--released", "2026-06-01"), 2, "without a zone"),
    "no instant": (("--released", ""), 2, "--released is missing"),
    "the future": (("--released", "2999-01-01T00:00:00Z"), 2, "lies in the future"),
    "before it was predicted": (("--released", "2026-01-05T23:59:59Z"), 2, "not after the day it was predicted"),
    "an outcome that it cannot give": (("--outcome", "maybe"), 2, "cannot give 'maybe'; expected one of confirmed"),
    "another outcome than the data's": (("--outcome", "broken"), 2, "the data gives confirmed, not broken"),
    "no source": (("--source", " "), 2, "--source is missing"),
    "no such prediction": ((), 2, "no prediction"),
    "no such file": (("--data", "nowhere.csv"), 2, "does not exist"),
    "counts beyond n": (("--data", "beyond.csv"), 2, "101 hits in 100 comparisons; expected at most 100"),
    "not enough": (("--data", "part.csv"), 3, "leaves k2, b1 open"),
    "a file that no pin proves": (("--data", "new.zip"), 4, "is pinned by no [[release.file]]"),
    "a share for a lead": (("--data", "share.json"), 2, "expected a list of objects"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_and_writes_nothing(mistake, run, demo, tmp_path):
    arguments, code, sentence = MISTAKES[mistake]
    here = tmp_path / "here"
    (here / "beyond.csv").write_text(GOOD.replace("50,60", "50,101"))
    (here / "part.csv").write_text("".join(GOOD.splitlines(keepends=True)[:3]))
    (here / "new.zip").write_bytes(b"PK\x03\x04")
    (here / "share.json").write_text("{}")
    name = f"{demo}/other" if mistake == "no such prediction" else f"{demo}/lead"
    options = {"--data": demo / "good.csv", IN_TIME[0]: IN_TIME[1], SOURCE[0]: SOURCE[1]}
    options |= dict([arguments]) if arguments else {}
    done = run("predict", "resolve", name, *(word for option in options.items() for word in option))
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    "day", ["2026-06-30T23:59:59", "tomorrow", "yesterday", "2026-02-30", "2026", "0001-01-01T00:00:00+01:00"]
)
def test_as_of_neither_a_day_nor_an_instant(day, run, demo):
    done = run("predict", demo, "--as-of", day)
    assert done.returncode == 2
    assert f'--as-of: found "{day}"; expected a day such as 2027-06-30' in done.stderr


def test_before_its_day_a_prediction_was_not_made_yet(run, demo, state):
    assert state("--as-of", "2026-01-04")["demo/lead"]["state"] == "not made yet"
    assert state("--as-of", "2026-01-05T00:00:00Z")["demo/lead"]["state"] == "open"
    text = run("predict", demo, "--as-of", "2026-01-04").stdout
    assert "demo/lead  not made yet on 2026-01-04: it was made on 2026-01-05\n" in text
    assert "demo/lead  open" not in text
    assert "P(confirmed)" not in text


def test_what_d_and_D_are_is_said_once(run, demo):  # noqa: N802
    legend = "D: the same over the comparisons of all countries together"
    text = " ".join(run("predict", demo).stdout.split())
    assert text.count(legend) == 1
    assert legend not in " ".join(run("predict", f"{demo}/share").stdout.split())


def test_an_unregistered_prediction_shows_its_line_and_does_not_resolve(run, demo, paper):
    text = (demo / "predictions.toml").read_text()
    line = re.search(r"registered = .*\n", text)[0]
    (demo / "predictions.toml").write_text(text.replace(line, ""))
    shown = run("predict", f"{demo}/lead").stdout
    assert "not registered" in shown
    hashes = re.findall(r'"([0-9a-f]{64})"', line)
    assert all(digest in shown for digest in hashes)
    done = resolve(run, demo, "--data", demo / "good.csv", *IN_TIME, *SOURCE)
    assert done.returncode == 2
    assert "it is not registered" in done.stderr


class TestAmending:
    def change(self, demo: Path, old: str = "by 5 points over all", new: str = "by 5 points or so") -> None:
        file = demo / "predictions.toml"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def test_changed_words_stop_everything(self, run, demo):
        self.change(demo)
        for arguments in (
            ("predict", demo),
            ("predict", "resolve", f"{demo}/lead", "--outcome", "void", "--reason", "x"),
        ):
            done = run(*arguments)
            assert done.returncode == 4
            assert "its wording has sha256" in done.stderr
            assert "countback predict amend demo/lead" in done.stderr

    def test_an_amendment_needs_the_old_text(self, run, demo):
        self.change(demo)
        done = run("predict", "amend", f"{demo}/lead", "--reason", "a slip")
        assert done.returncode == 2
        assert "give the old text with --was FILE" in done.stderr

    def test_a_recorded_run_holds_the_old_text(self, run, demo, state):
        assert run("check", demo, "--offline", "--record").returncode == 0
        self.change(demo)
        done = run("predict", "amend", f"{demo}/lead", "--reason", "a slip")
        assert done.returncode == 0, done.stderr
        assert "[[prediction.amendment]]" in done.stdout
        text = " ".join(run("predict", f"{demo}/lead").stdout.split())
        assert "(wording): a slip" in text
        assert "was: statement: the judge leads in two of three countries, and by 5 points over all" in text
        assert "now: statement: the judge leads in two of three countries, and by 5 points or so" in text
        (row,) = state()["demo/lead"]["amendments"]
        assert row["reason"] == "a slip"
        assert "over all" in row["was"]
        assert "or so" in row["text"]

    def test_the_old_text_from_a_file_is_proved_by_its_hash(self, run, demo, tmp_path):
        (prediction, _), _ = load_predictions(demo, "demo")
        old = tmp_path / "old.txt"
        old.write_text(prediction.text("wording").replace("three", "four"))
        self.change(demo)
        assert run("predict", "amend", f"{demo}/lead", "--reason", "a slip", "--was", old).returncode == 2
        old.write_text(prediction.text("wording"))
        assert run("predict", "amend", f"{demo}/lead", "--reason", "a slip", "--was", old).returncode == 0
        assert run("predict", demo).returncode == 0

    def test_an_amendment_goes_to_others_with_the_paper(self, run, countback, demo, tmp_path):
        run("check", demo, "--offline", "--record")
        self.change(demo)
        block = run("predict", "amend", f"{demo}/lead", "--reason", 'a "slip"').stdout
        file = demo / "predictions.toml"
        first, second = file.read_text().split('[[prediction]]\nid = "share"')
        file.write_text(f'{first}{block}\n[[prediction]]\nid = "share"{second}')
        other = {"COUNTBACK_LEDGER": str(tmp_path / "another.jsonl")}
        done = countback("predict", demo, **other)
        assert done.returncode == 0, done.stderr
        assert 'a "slip"' in done.stdout
        assert run("predict", demo).returncode == 0  # and the ledger that holds it too

    def test_a_second_amendment_follows_the_first(self, run, demo):
        run("check", demo, "--offline", "--record")
        self.change(demo)
        run("predict", "amend", f"{demo}/lead", "--reason", "first")
        self.change(demo, "by 5 points or so", "by about 5 points")
        assert run("predict", demo).returncode == 4
        assert run("predict", "amend", f"{demo}/lead", "--reason", "second").returncode == 0
        text = " ".join(run("predict", f"{demo}/lead").stdout.split())
        assert "now: statement: the judge leads in two of three countries, and by 5 points or so" in text
        assert "was: statement: the judge leads in two of three countries, and by 5 points or so" in text
        assert text.index("first") < text.index("second")

    def test_nothing_to_amend(self, run, demo):
        done = run("predict", "amend", f"{demo}/lead", "--reason", "none")
        assert done.returncode == 2
        assert "nothing to amend" in done.stderr

    @pytest.mark.parametrize("arguments", [("--reason", " "), ()])
    def test_a_reason_is_needed(self, arguments, run, demo):
        self.change(demo)
        assert run("predict", "amend", f"{demo}/lead", *arguments).returncode == 2

    def test_one_prediction_at_a_time(self, run, demo):
        done = run("predict", "amend", demo, "--reason", "x")
        assert done.returncode == 2
        assert "found 2 predictions; expected one" in done.stderr


def test_a_broken_ledger_stops_predict(run, demo, tmp_path):
    run("check", demo, "--offline", "--record")
    ledger = tmp_path / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"the judge leads", b"the judge bleads"))
    for arguments in (("predict", demo), ("ledger", "verify"), ("diff", "@-1", "@-1")):
        done = run(*arguments)
        assert done.returncode == 4
        assert "entry 1 (line 1) was edited" in done.stderr
        assert done.stdout == ""


RESOLUTION = {
    "prediction": "demo/lead", "outcome": "confirmed", "happened": "2026-02-01T00:00:00Z", "source": "s", "reason": "",
    "data": {}, "criteria": [],
}  # fmt: skip
VALUE = {"name": "D", "low": "1/3", "high": "1/3", "n": 3}
FORGED: dict[str, tuple[Kind, dict, str]] = {
    "a resolution of nothing": ("resolution", {}, "prediction: Field required"),
    "an outcome that is none": ("resolution", RESOLUTION | {"outcome": "won"}, "outcome: Input should be"),
    "no instant": ("resolution", RESOLUTION | {"happened": "soon"}, "happened"),
    "no zone": ("resolution", RESOLUTION | {"happened": "2026-02-01T00:00:00"}, "happened"),
    "half a criterion": ("resolution", RESOLUTION | {"criteria": [{"id": "k1"}]}, "criteria.0.holds"),
    "an amendment of nothing": ("amendment", {"prediction": "demo/lead"}, "part: Field required"),
} | {
    f"a value of {low!r}": (
        "resolution",
        RESOLUTION | {"criteria": [{"id": "k2", "holds": True, "values": [VALUE | {"low": low}]}]},
        "criteria.0.values.0.low",
    )
    for low in ("much", "1/0", "1e999999999", 0.5, None)
}


@pytest.mark.parametrize("name", FORGED)
def test_an_entry_that_chains_and_that_no_command_wrote(name, run, demo, tmp_path):
    kind, body, sentence = FORGED[name]
    append(tmp_path / "ledger.jsonl", kind, body)
    done = run("predict", demo)
    assert (done.returncode, done.stdout) == (4, "")
    assert "entry 1 follows the chain and is not what countback writes" in done.stderr
    assert sentence in done.stderr


def test_a_whole_resolution_is_one(run, demo, state, tmp_path):
    """What the test above makes worse."""
    whole = RESOLUTION | {"criteria": [{"id": "k2", "holds": True, "values": [VALUE]}]}
    append(tmp_path / "ledger.jsonl", "resolution", whole)
    assert state()["demo/lead"]["state"] == "confirmed"
    assert "D +0.33 points on 3 comparisons" in run("predict", demo).stdout


def test_the_registry_in_one_command(run):
    done = run("predict", "--as-of", "2026-12-01")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "cubes/p1 open, 211 days left (2027-06-30T23:59:59Z)" in text  # 30 of December, 31+28+31+30+31+30
    assert "D +15.07 points on 491 comparisons; +5 or more needed" in text  # 74 / 491
    assert "forecast: P(confirmed) = 0.816 by hierarchical normal" in text  # as predictions.toml registers it
    assert "cubes/p2 open, no deadline" in text
    assert run("predict", "cubes/p1", "--as-of", "2027-07-01T00:00:00Z").stdout.startswith("cubes/p1  overdue")


def test_in_a_process_of_its_own(countback, demo, tmp_path):
    """What every other test here asks in this process."""
    ledger = {"COUNTBACK_LEDGER": str(tmp_path / "own.jsonl")}
    done = countback("predict", "resolve", f"{demo}/lead", "--data", demo / "good.csv", *IN_TIME, *SOURCE, **ledger)
    assert (done.returncode, done.stdout, done.stderr) == (0, "demo/lead: confirmed (ledger entry 2)\n", "")
    assert countback("predict", demo, **ledger).stdout.startswith("demo/lead  confirmed")
    (demo / "predictions.toml").unlink()
    done = countback("predict", f"{demo}/lead", **ledger)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_several_of_the_registry_at_once(run, tmp_path):
    """Nine countries at +10 of 100, France and India at -11, one at 0: k1, k2 and b2 together."""
    names = ["Pakistan", "Philippines", "Nigeria", "United States", *(f"country {n}" for n in range(6))]
    rows = [f"{name},100,50,60" for name in names[:9]] + [
        f"{names[9]},100,50,50",
        "France,100,50,39",
        "India,100,50,39",
    ]
    table = tmp_path / "counts.csv"
    table.write_text("\n".join(["country,n,human,judge", *rows]) + "\n", encoding="utf-8")
    ids = ["p1", "p1-new", "p1-k1", "p1-k2", "p1-b1", "p1-b2"]
    done = run(
        "predict",
        "resolve",
        *(f"cubes/{each}" for each in ids),
        "--data",
        table,
        "--released",
        "2026-11-01T00:00:00Z",
        *SOURCE,
    )
    assert done.returncode == 0, done.stderr
    outcomes = dict(re.findall(r"cubes/(\S+): (\w+)", done.stdout))
    # All: ten of twelve at or above, (90 - 22) / 1200 = 5.7 points. The eight: six of eight, (50 - 22) / 800 = 3.5.
    assert outcomes == {
        "p1": "both", "p1-new": "broken", "p1-k1": "confirmed", "p1-k2": "confirmed", "p1-b1": "confirmed",
        "p1-b2": "broken",
    }  # fmt: skip


def registry_counts(folder: Path, names: list[str]) -> Path:
    """A table in which the judge leads by ten hits of a hundred in every country named."""
    table = folder / "counts.csv"
    table.write_text("\n".join(["country,n,human,judge", *(f"{name},100,50,60" for name in names)]) + "\n")
    return table


NEW = ["France", "India", *(f"country {n}" for n in range(6))]  # eight; four are printed
IN_NOVEMBER = ("--released", "2026-11-01T00:00:00Z", *SOURCE)


def test_a_full_table_holds_the_countries_that_are_already_printed(run, tmp_path):
    """Twelve names that leave out two whose counts the article prints are not the twelve countries of the rule."""
    table = registry_counts(tmp_path, [*NEW, "Nigeria", "Philippines", "Atlantis", "Lemuria"])
    for name in ("p1", "p1-k1", "p1-new"):
        done = run("predict", "resolve", f"cubes/{name}", "--data", table, *IN_NOVEMBER)
        assert done.returncode == 2
        assert "without Pakistan and United States" in done.stderr
        assert done.stdout == ""
    assert "Atlantis" in run("predict", "resolve", "cubes/p1", "--data", table, *IN_NOVEMBER).stderr
    assert not (tmp_path / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (NEW, 0),  # the printed four may be left out where all others are there: 12 in all
        ([*NEW[:7], "Pakistan"], 3),  # a part of the twelve that leaves k2 open
        ([*NEW, "Atlantis"], 2),  # nine that are not printed, of eight
        ([*NEW[:7], "Pakistan", "Nigeria", "Philippines", "United States", "Atlantis"], 0),  # spelt as the user likes
    ],
)
def test_a_table_of_some_countries_is_refused_only_where_it_cannot_be_completed(run, tmp_path, names, code):
    table = registry_counts(tmp_path, names)
    rule = "p1-new" if names == NEW else "p1"
    assert run("predict", "resolve", f"cubes/{rule}", "--data", table, *IN_NOVEMBER).returncode == code


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in has the release's shape: it shows present values and decides nothing."""
    twins = pytest.importorskip("countback.claims.papers.cubes.twin")
    folder = tmp_path_factory.mktemp("twin")
    twins.write_twin(folder / "twin.zip", 1, walks=False)
    return folder


@pytest.mark.slow
def test_a_synthetic_release_is_no_release(twin, run):
    """Its name is not a pin's, so nothing takes it for the release."""
    done = run("predict", "cubes/p1", "--data", twin)
    assert "by the counts that the paper prints" in done.stdout
    done = run(
        "predict", "resolve", "cubes/p1", "--data", twin / "twin.zip", "--released", "2026-11-01T00:00:00Z", *SOURCE
    )
    assert done.returncode == 4


@pytest.mark.slow
def test_counts_from_a_synthetic_release_meet_the_forced_ones(twin):
    """Through settle.py, as the real release would be read: hits of four countries as the article forces them."""
    from countback.claims.papers.cubes import settle

    class Data:
        def path(self, name: str) -> Path:
            return twin / "twin.zip"

    counted = settle.lead(Data(), "gemini-3-flash-preview")
    assert counted.synthetic
    gaps = {lead.countries[0]: (lead.n, lead.low) for lead in counted.leads}
    assert gaps["Pakistan"] == (118, 36)
    assert gaps["United States"] == (127, 10)
    assert sum(n for n, _ in gaps.values()) == 491
    assert sum(gap for _, gap in gaps.values()) == 74
    assert set(counted.intervals) == {"D", *gaps}
    low, high = counted.intervals["Pakistan"]
    assert low < 100 * 36 / 118 < high
    (p1, *_), _ = load_predictions(PAPERS / "cubes", "cubes")
    decision = p1.decide(counted.leads)
    assert [criterion.holds for criterion in decision.criteria] == [None] * 4
