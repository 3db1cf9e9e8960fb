"""What a user says about a file of labels: options, a TOML file, and errors that name the next step."""

from __future__ import annotations

from pathlib import Path

import pytest
from countback.audit.judge.settings import in_options, parse_columns, read_settings
from countback.fetch.errors import UserError

LABELS, JUDGES = Path("labels.csv"), Path("judges.csv")


def test_columns_by_role_and_lists_of_columns() -> None:
    assert parse_columns(["item=doc,label=verdict"]) == {"item": "doc", "label": "verdict"}
    assert parse_columns(["item=doc", "annotators=a 1,a 2, a 3"]) == {
        "item": "doc",
        "annotators": ["a 1", "a 2", "a 3"],
    }
    assert parse_columns(["annotators=a,b,item=doc"]) == {"annotators": ["a", "b"], "item": "doc"}
    assert parse_columns(["label=a=b"]) == {"label": "a=b"}  # only the first sign divides


@pytest.mark.parametrize("text", ["doc", "item=", "place=doc", "item=doc,verdict", ""])
def test_columns_that_are_no_columns(text: str) -> None:
    with pytest.raises(UserError, match="expected ROLE=COLUMN"):
        parse_columns([text])


def test_options_go_before_the_file(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(
        'labels = ["lo", "hi"]\nduplicates = "first"\nreader = "long"\n[columns]\nitem = "a"\nlabel = "b"\n'
        '[judge_file.columns]\ncountry = "persona"\n',
        encoding="utf-8",
    )
    settings = read_settings(
        LABELS, JUDGES, config=config, columns=["item=x"], choices=["duplicates=last", "judge_file.aliases={'A'='lo'}"]
    )
    assert settings.options == {"duplicates": "last", "columns": {"item": "x", "label": "b"}}
    assert settings.judge_options == {"columns": {"country": "persona"}, "aliases": {"A": "lo"}}
    assert (settings.codebook, settings.ordered, settings.reader) == (["lo", "hi"], True, "long")
    assert read_settings(LABELS, JUDGES, config=config, codebook="1, 2").codebook == ["1", "2"]
    assert read_settings(LABELS, None).ordered is None


def test_values_are_toml_or_text() -> None:
    found = read_settings(LABELS, None, choices=["multi=true", "expected=3", "judges=gpt-4", "zone=Asia/Karachi"])
    assert found.options == {"multi": True, "expected": 3, "judges": "gpt-4", "zone": "Asia/Karachi"}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"choices": ["duplicates"]}, "expected KEY=VALUE"),
        ({"choices": ["a.=1"]}, "expected KEY=VALUE"),
        ({"choices": ["labels=low"]}, "expected the labels in order"),
        ({"choices": ["ordered=maybe"]}, "true or false"),
        ({"choices": ["judge_file=1"]}, "expected a table"),
        ({"choices": ["judge_file.aliases={}"]}, "no such file"),
        ({"codebook": "one"}, "two labels or more"),
        ({"codebook": "a,,b"}, "two labels or more"),
    ],
)
def test_mistakes_name_what_was_expected(told: dict, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(UserError, match=words):
        read_settings(LABELS, None, **told)


def test_a_broken_config_is_named(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("labels = [", encoding="utf-8")
    with pytest.raises(UserError, match=r"c\.toml is not TOML"):
        read_settings(LABELS, None, config=config)
    with pytest.raises(UserError, match="cannot be read"):
        read_settings(LABELS, None, config=tmp_path)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 3000 + "]" * 3000, "[" * 60 + "]" * 60])
def test_toml_beyond_reason_is_no_toml(value: str, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(f"labels = {value}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"c\.toml is not TOML"):
        read_settings(LABELS, None, config=config)
    assert read_settings(LABELS, None, choices=[f"duplicates={value}"]).options["duplicates"] == value  # as a text


def test_python_advice_is_said_again_as_an_option() -> None:
    settings = read_settings(Path("my labels.csv"), JUDGES)
    cases = {
        "say namespace='country' (or 'file')": "--set namespace=country",
        "Answer with columns={'item': 'doc', 'label': 'the answer'}": "--columns 'item=doc,label=the answer'",
        "Name them: columns={'questions': [...]}": "--columns ROLE=COLUMN",
        "Say which it is with reader=, one of long, wide": "--reader NAME",
        "say keep_pii=True": "--set keep_pii=true",
        "say which: sheet='...'": "--set sheet=VALUE",
        "Say delimiter=';' or whichever it is": "--set 'delimiter=;'",
        "Say country='1'": "--set 'country=\"1\"'",  # a text, which TOML would take for a number
        "codebook=['A', 'B']": "--labels LOWEST,...,HIGHEST",
        "Say multi=['q'] or not": """--set 'multi=["q"]'""",
    }
    for message, option in cases.items():
        said = str(in_options(UserError(message), settings))
        assert said.startswith(message)
        assert f"countback judge 'my labels.csv' --judges judges.csv {option}" in said
    assert "--set judge_file.namespace=file" in str(
        in_options(UserError("say namespace='file'"), settings, judges=True)
    )
    wrong = read_settings(LABELS, None, choices=["duplicates=perhaps"])
    assert "--set duplicates=VALUE" in str(in_options(UserError("duplicates='perhaps' is not a choice"), wrong))
    plain = UserError("the file is empty", exit_code=4)
    assert in_options(plain, settings) is plain
