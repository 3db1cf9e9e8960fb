"""Judges' replies: a label only where the reply gives one and only one."""

from __future__ import annotations

import pytest
from countback.fetch.errors import UserError
from countback.fetch.readers.judge_replies import Reply, parse_reply

LABELS = {"A", "B", "1"}


def is_label(text: str) -> str:
    return text.strip() if text.strip() in LABELS else ""


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("A", Reply("A", "exact")),
        (" B\n", Reply("B", "exact")),
        ('{"label": "A"}', Reply("A", "json")),
        ('{"label": 1}', Reply("1", "json")),
        ('"A"', Reply("A", "json")),
        ('"A" is better', Reply("", "failed: text after JSON")),
        ('["A"]', Reply("A", "json")),
        ('{"label": ["A"]}', Reply("A", "json")),
        ('```json\n{"label": "A"}\n```', Reply("A", "fenced")),
        ('Sure!\n```\n{"label": "A"}\n```\nHope this helps.', Reply("A", "fenced")),
        ("```\nA\n```", Reply("A", "fenced")),
        ('{"label": "A"}\n{"label": "A"}', Reply("A", "repeated")),
        ('```json\n{"label": "A"}\n```\n```json\n{"label": "A"}\n```', Reply("A", "repeated")),
        ("", Reply("", "failed: empty")),
        ("  \n", Reply("", "failed: empty")),
        ("```json\n```", Reply("", "failed: empty")),
        ('{"label": "A"', Reply("", "failed: truncated")),
        ('```json\n{"label": "A"}', Reply("", "failed: truncated")),
        ('{"label": "A"}{"label": "B"}', Reply("", "failed: several answers")),
        ('{"label": "A", "label": "B"}', Reply("", "failed: several answers")),
        ('{"label": ["A", "B"]}', Reply("", "failed: several answers")),
        ('["A", "B"]', Reply("", "failed: several answers")),
        ('```\n{"label": "A"}\n```\n or \n```\n{"label": "B"}\n```', Reply("", "failed: several answers")),
        ('{"label": "A"} because it is.', Reply("", "failed: text after JSON")),
        ("{label: A}", Reply("", "failed: not JSON")),
        ('{"label": "C"}', Reply("", "failed: label not in codebook")),
        ('{"label": null}', Reply("", "failed: label not in codebook")),
        ('{"label": {"label": "A"}}', Reply("", "failed: label not in codebook")),
        ('{"score": "A"}', Reply("", "failed: no key 'label', found 'score'")),
        ("{}", Reply("", "failed: no key 'label', found none")),
        ("The answer is A.", Reply("", "failed: prose")),
        ("A or B", Reply("", "failed: prose")),
    ],
)
def test_replies(text: str, reply: Reply) -> None:
    assert parse_reply(text, is_label) == reply


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Verdict: A", Reply("A", "pattern")),
        ("Verdict: A\nVerdict: A", Reply("", "failed: pattern matched several times")),
        ("No verdict.", Reply("", "failed: pattern matched never")),
        ("Verdict: C", Reply("", "failed: label not in codebook")),
        ('{"label": "B"}', Reply("B", "json")),  # JSON needs no pattern
    ],
)
def test_declared_patterns(text: str, reply: Reply) -> None:
    assert parse_reply(text, is_label, pattern=r"^Verdict: (\w+)$") == reply


@pytest.mark.parametrize("pattern", ["Verdict", "(a)(b)", "("])
def test_patterns_without_one_group(pattern: str) -> None:
    with pytest.raises(UserError, match="reply_pattern"):
        parse_reply("prose", is_label, pattern=pattern)


def test_other_keys() -> None:
    assert parse_reply('{"score": "A", "label": "B"}', is_label, key="score") == Reply("A", "json")
