"""No input makes a reader fail but with a UserError: random bytes, damaged exports, JSON of the wrong shapes."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from countback.fetch.errors import UserError
from countback.fetch.readers import READERS, read_labels
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SLOW = 10_000  # inputs of the slow test, over all readers
FAST = 60


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (["item", "annotator", "label"], [1, "a", "A"], [2, "b", 1.5], [None, "c", True]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


CHOICE = {"from_name": "q", "type": "choices", "value": {"choices": ["A"]}}
SAMPLES: dict[str, bytes] = {
    "long": b"item,annotator,country,question,label,seconds,time\n1,a,KE,q,A,2,2026-01-01T00:00:00Z\n1,b,KE,q,B,,\n",
    "wide": b"item;a1;a2\n1;A;B\n2;;A\n",
    "survey": b'ResponseId,Finished,IPAddress,Q1\nx,y,z,w\n"{""ImportId"":1}",,,\nR_1,True,1.2.3.4,A\nR_2,0,,-99\n',
    "label-studio-csv": b"id,q,annotator,annotation_id,lead_time\n1,A,3,7,2.0\n2,\"[\"\"A\"\",\"\"B\"\"]\",3,8,\n",
    "potato-csv": b"instance_id,user_id,q.A,q.B\n1,u,A,\n2,u,A,B\n",
    "label-studio": json.dumps(
        [{"id": 1, "data": {"k": 1}, "annotations": [{"id": 1, "completed_by": {"id": 3, "email": "x@y"},
          "result": [CHOICE], "lead_time": 1.5}], "drafts": [{"user": "x@y", "result": []}],
          "predictions": [{"model_version": "m", "result": [CHOICE]}]}]
    ).encode(),
    "label-studio-min": b'[{"id":1,"q":"A","annotator":3,"annotation_id":7,"lead_time":2}]',
    "potato": json.dumps(
        {"user_id": "u", "instance_id_ordering": ["1", "2"],
         "instance_id_to_label_to_value": {
             "1": [[{"schema": "q", "name": "A"}, "true"], [{"schema": "q", "name": "B"}, 1]]},
         "instance_id_to_behavioral_data": {"1": {"annotation_changes": [
             {"timestamp": 1.5, "schema_name": "q", "label_name": "A", "new_value": "A", "action": "select"}]}}}
    ).encode(),
    "argilla": json.dumps(
        [{"id": 1, "responses": [{"user_id": "u", "status": "submitted", "values": {"q": {"value": "A"}}}],
          "suggestions": {"q": {"value": "B", "agent": "m"}}, "q.responses": ["A"], "q.responses.users": ["v"]}]
    ).encode(),
    "doccano": b'{"id":1,"text":"t","label":["A"]}\n{"id":2,"annotations":[{"label":"A","user":1}]}\n',
    "xlsx": workbook(),
}  # fmt: skip

KEYS = sorted(  # every key that a reader of JSON looks at
    "id data annotations drafts predictions result completed_by email from_name type value choices taxonomy "
    "rating was_cancelled lead_time created_at updated_at model_version annotation user user_id "
    "created_username reviews history annotator annotation_id q responses status values suggestions "
    "question_name agent q.responses q.responses.users q.suggestion label labels instance_id_to_label_to_value "
    "instance_id_to_behavioral_data instance_id_ordering instance_id_to_span_to_value annotation_changes "
    "timestamp schema_name schema name action label_name".split()
)
WORDS = ["A", "B", "q", "choices", "submitted", "select", "None", "x@y.z", "\ud800", "\ufffd", '["A","B"]', "{"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.just(10**400),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(WORDS),
)
SHAPES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=18,
)
PATHS = st.lists(st.sampled_from([*KEYS, *range(2)]), max_size=7)


def put(value: Any, path: list[Any], new: Any) -> Any:
    """A copy of a JSON value with something else at a path, as far as the path goes."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, str(key): put(value.get(str(key)), rest, new)}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return [*value[:key], put(value[key], rest, new), *value[key + 1 :]]
    return put(value[0], path, new) if isinstance(value, list) and value else new


@st.composite
def damaged(draw: Callable[..., Any], sample: bytes) -> bytes:
    """A real export with some bytes changed, dropped or doubled."""
    data = bytearray(sample)
    pieces = [b",", b"\n", b'"', b"\xff", b"A", b"\xc2\xa0", b"\r"]
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        piece = draw(st.one_of(st.binary(max_size=3), st.sampled_from(pieces)))
        data[at : at + draw(st.integers(0, 3))] = piece
    cut = draw(st.integers(0, len(data)))
    return bytes(data[:cut]) if draw(st.booleans()) and draw(st.booleans()) else bytes(data)


@st.composite
def reshaped(draw: Callable[..., Any], sample: bytes) -> bytes:
    """A JSON export with values of the wrong kind in places that matter."""
    lines = sample.decode().strip().split("\n")
    value = [json.loads(line) for line in lines] if len(lines) > 1 else json.loads(lines[0])
    for _ in range(draw(st.integers(1, 3))):
        value = put(value, draw(PATHS), draw(SHAPES))
    try:
        return json.dumps(value).encode()
    except ValueError:  # an integer with more digits than Python turns into text
        return b"[]"


COLUMNS: list[dict[str, Any]] = [
    {},
    {"questions": ["q"]},
    {"annotators": ["a1", "a2"]},
    {"label": "q"},
    {"items": ["Q1"]},
]


FITTING: dict[str, dict[str, Any]] = {
    "wide": {"annotators": ["a1", "a2"]},
    "label-studio-csv": {"questions": ["q"]},
    "label-studio-min": {"questions": ["q"]},
}
BOOKS: list[Any] = [{"q": ["A", "B"]}, ["1-2", "A"], ["None", "A"]]


@st.composite
def inputs(draw: Callable[..., Any]) -> tuple[str | None, bytes, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(SAMPLES)))
    sample = SAMPLES[name]
    ways = [
        damaged(sample),
        damaged(sample),
        damaged(sample),
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")),
    ]
    if sample[:1] in b"[{":
        ways += [reshaped(sample), reshaped(sample), SHAPES.map(lambda value: json.dumps(value).encode())]
    reader = draw(st.sampled_from([None, name if name in READERS else "long"]))
    options = {
        "codebook": draw(st.sampled_from([["A", "B"]] * 3 + BOOKS)),
        "columns": draw(st.sampled_from([FITTING.get(name, {})] * 8 + COLUMNS)),
        "multi": draw(st.sampled_from([False, True, "each", ["q"]])),
        "several": draw(st.sampled_from(["error", "exclude"])),
        "duplicates": draw(st.sampled_from(["error", "first", "last", "drop-both"])),
        "namespace": draw(st.sampled_from([None, "file", "country", "global"])),
        "normalise": draw(st.sampled_from(["exact", "space", "space+case"])),
        "kind": draw(st.sampled_from([None, "human", "judge"])),
        "annotator": draw(st.sampled_from([None, "{file}"])),
        "country_names": draw(st.sampled_from(["as given"] * 3 + ["iso3"])),
        "encoding": draw(st.sampled_from(["utf-8"] * 6 + ["cp1252", "utf-16"])),
        "zone": draw(st.sampled_from([None, "UTC"])),
        "expected": draw(st.sampled_from([None, 3])),
        "keep_pii": draw(st.booleans()),
    }  # fmt: skip
    return reader, draw(st.one_of(ways)), options


SEEN: Counter[str] = Counter()


def survives(reader: str | None, data: bytes, options: dict[str, Any]) -> None:
    """Reads a file; anything but a table with a report, or a UserError with a message, is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("x.xlsx" if data.startswith(b"PK") else "x.export")
        path.write_bytes(data)
        refusal = ""
        try:
            table, report = read_labels(path, reader=reader, **options)
        except UserError as error:
            refusal = str(error) or "no message"
    if refusal:
        assert refusal != "no message"
        SEEN["refused"] += 1
        return
    SEEN[report.reader] += 1
    assert sum(n or 0 for n in report.counts.values()) == len(table)
    assert all(isinstance(line, str) for line in [*report.lines(), *report.lines(public=True)])
    json.dumps(report.to_dict())


@settings(max_examples=FAST * 5, deadline=None, suppress_health_check=list(HealthCheck))
@given(inputs())
def test_readers_survive_some_inputs(case: tuple[str | None, bytes, dict[str, Any]]) -> None:
    survives(*case)


@pytest.mark.slow
def test_readers_survive_ten_thousand_inputs() -> None:
    SEEN.clear()

    @settings(max_examples=SLOW, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inputs())
    def all_of_them(case: tuple[str | None, bytes, dict[str, Any]]) -> None:
        survives(*case)

    all_of_them()
    print(f"\n{sum(SEEN.values())} inputs: {dict(SEEN.most_common())}")
    assert sum(SEEN.values()) >= SLOW
    assert {*READERS, "long (xlsx)"} <= set(SEEN)  # damaged as they are, every reader still reads some of them


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_samples_themselves_are_read(name: str) -> None:
    """The fuzz starts from exports that are whole: unharmed, each is read by its reader."""
    SEEN.clear()
    told = FITTING.get(name, {})
    several = {"several": "exclude", "annotator": "u" if name == "doccano" else None}
    data = SAMPLES[name] if name != "doccano" else SAMPLES[name].split(b"\n")[1]
    survives(
        None, data, {"codebook": ["A", "B"], "columns": told, **several, "duplicates": "last", "people": {"x@y": "3"}}
    )
    assert {name if name != "xlsx" else "long (xlsx)": 1} == SEEN
