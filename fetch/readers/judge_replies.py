"""A judge's reply to a label: exactly, from JSON, from a fence, by a declared pattern, or not at all.

A verdict is never inferred from prose: "This is not acceptable" holds the label "acceptable". A reply that fails says
how it failed, and the row becomes "judge_failed", never a label in the middle of the scale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from countback.fetch.errors import UserError
from countback.fetch.readers.source import DoubledKeyError, once, plain

_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n?(.*?)```", re.DOTALL)
_KEYS_SHOWN = 3


@dataclass(frozen=True)
class Reply:
    """label: a label's text, "" where there is none; method: how it was found, or how the search failed."""

    label: str
    method: str


def parse_reply(text: str, is_label: Callable[[str], str], *, key: str = "label", pattern: str | None = None) -> Reply:
    """Parses one reply. `is_label` gives the label that a text stands for, or "" for none.

    `key` is the JSON key that holds the label; `pattern` a regular expression with one group, which must match exactly
    once. Raises UserError where the pattern is not such an expression.
    """
    if not text.strip():
        return Reply("", "failed: empty")
    if whole := is_label(text):
        return Reply(whole, "exact")
    fences = _FENCE.findall(text)
    if len(fences) == 1 or (fences and not _outside(text).strip()):
        return _of_several([_from_json(f, is_label, key, "fenced") for f in fences])
    if fences:
        return Reply("", "failed: several answers")
    if text.count("```") == 1:
        return Reply("", "failed: truncated")
    if text.lstrip()[0] in '{["':
        return _from_json(text, is_label, key, "json")
    if pattern is not None:
        return _by_pattern(text, is_label, pattern)
    return Reply("", "failed: prose")


def _outside(text: str) -> str:
    return _FENCE.sub("", text)


def _of_several(replies: list[Reply]) -> Reply:
    """One answer given more than once is that answer; two answers are none."""
    if len(replies) == 1:
        return replies[0]
    if replies[0].label and all(r.label == replies[0].label for r in replies):
        return Reply(replies[0].label, "repeated")
    return Reply("", "failed: several answers")


def _from_json(text: str, is_label: Callable[[str], str], key: str, method: str) -> Reply:
    text = text.strip()
    if method == "fenced" and (bare := is_label(text)):
        return Reply(bare, method)
    decoder = json.JSONDecoder(object_pairs_hook=once)
    found, position = [], 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            found.append(_value(value, is_label, key, method))
            while position < len(text) and text[position] in " \t\r\n,":
                position += 1
    except DoubledKeyError:
        return Reply("", "failed: several answers")
    except (ValueError, RecursionError):
        if found:  # a whole answer, and then words
            return Reply("", "failed: text after JSON")
        balanced = text.count("{") == text.count("}") and text.count("[") == text.count("]")
        return Reply("", "failed: not JSON" if balanced else "failed: truncated")
    return _of_several(found) if found else Reply("", "failed: empty")


def _value(value: object, is_label: Callable[[str], str], key: str, method: str) -> Reply:
    if isinstance(value, list) and len(value) > 1:
        return Reply("", "failed: several answers")
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        label = is_label(plain(value))
        return Reply(label, method) if label else Reply("", "failed: label not in codebook")
    if key not in value:
        keys = ", ".join(map(repr, list(value)[:_KEYS_SHOWN])) or "none"
        return Reply("", f"failed: no key {key!r}, found {keys}")
    held = value[key]
    if isinstance(held, list) and len(held) > 1:
        return Reply("", "failed: several answers")
    label = is_label(plain(held[0] if isinstance(held, list) and held else held))
    return Reply(label, method) if label else Reply("", "failed: label not in codebook")


def _by_pattern(text: str, is_label: Callable[[str], str], pattern: str) -> Reply:
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UserError(f"reply_pattern {pattern!r} is no regular expression: {error}.") from None
    if compiled.groups != 1:
        raise UserError(f"reply_pattern {pattern!r} has {compiled.groups} groups; expected one, around the label.")
    matches = compiled.findall(text)
    if len(matches) != 1:
        return Reply("", f"failed: pattern matched {'never' if not matches else 'several times'}")
    label = is_label(matches[0])
    return Reply(label, "pattern") if label else Reply("", "failed: label not in codebook")
