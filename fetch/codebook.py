"""What a raw text means: a study's ordered labels, the six missing states, the reasons against a label.

A codebook is required and ordered (lowest or strictest label first, as given): without it a blank, a typing
error and a category cannot be told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from countback.fetch.errors import UserError

# The six ways in which a label can be missing; they are never added up without being named.
MISSING = (
    "not_asked",  # never put to this annotator
    "blank",  # put to them, and the cell is empty
    "skipped",  # they pressed skip, or cancelled
    "discarded",  # they or a curator threw the answer out
    "draft",  # begun, never submitted
    "judge_failed",  # a judge replied with something that is not a label
)
# The ways in which something was answered that does not count as a label.
INVALID = (
    "not_in_codebook",  # free text, or a label nobody declared
    "padded",  # a label with white space around it, where only exact labels count
    "case",  # a label in other case
    "number_form",  # "1.0" for "1"
    "several_labels",  # two labels in a single-choice field
    "duplicate",  # another row of the same annotator on the same item and question was kept
    "unresolved",  # the export holds several clicks and not which of them stood
    "unmatched_item",  # an item that the other source does not hold
)
REASONS = ("valid", *MISSING, *INVALID)
_CODE = {reason: code for code, reason in enumerate(REASONS)}
VALID = 0

Normalise = Literal["exact", "space", "space+case"]
_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_LOST = re.compile("[\ufffd\ud800-\udfff]")  # U+FFFD, and halves of a character outside the basic plane
STRINGIFIED = frozenset({"None", "nan", "NaN", "NaT", "<NA>"})  # what str() makes of a missing value
SET_SEPARATOR = "+"


def reason_code(reason: str) -> int:
    """The code of a reason; the set is closed, so that no reader invents a state that no estimator knows."""
    if reason not in _CODE:
        raise UserError(f"Unknown reason {reason!r}. The reasons are: {', '.join(REASONS)}.")
    return _CODE[reason]


def is_lost(text: str) -> bool:
    """Whether a text holds a character that decoding has destroyed."""
    return _LOST.search(text) is not None


def tidy(text: str) -> str:
    """NFC, without zero-width characters, and without white space (no-break space too) at either end."""
    return unicodedata.normalize("NFC", text.translate(_ZERO_WIDTH)).strip()


@dataclass(frozen=True)
class Match:
    """What a raw text means under a codebook: a label code or -1, why not, and what was mended."""

    label: int
    reason: str = "valid"
    repair: str = ""


@dataclass(frozen=True)
class Codebook:
    """The ordered labels, and per question the ones allowed there (None: all of them everywhere).

    `aliases` maps a raw form to a label; `missing` maps a raw form to one of the six missing states.
    `normalise` says what is mended: nothing, white space and Unicode form, or letter case too.
    """

    labels: tuple[str, ...]
    allowed: Mapping[str, frozenset[str]] | None = None
    aliases: Mapping[str, str] | None = None
    missing: Mapping[str, str] | None = None
    normalise: Normalise = "exact"

    @classmethod
    def of(
        cls,
        labels: Sequence[str] | Mapping[str, Sequence[str]] | Codebook,
        *,
        aliases: Mapping[str, str] | None = None,
        missing: Mapping[str, str] | None = None,
        normalise: Normalise = "exact",
    ) -> Codebook:
        """From an ordered list, or one list per question. Raises UserError where that is no codebook."""
        if isinstance(labels, Codebook):
            return labels
        if isinstance(labels, str) or not isinstance(labels, Sequence | Mapping):
            raise UserError(f"The codebook is {labels!r}; expected the ordered labels, as in ['A', 'B', 'C'].")
        per_question = {str(q): list(v) for q, v in labels.items()} if isinstance(labels, Mapping) else {}
        ordered = _merge_orders(per_question) if per_question else _distinct(list(labels), "The codebook")
        for raw, label in (aliases or {}).items():
            if label not in ordered:
                raise UserError(f"The alias {raw!r} points to {label!r}, which is not among {list(ordered)}.")
            if raw in ordered and raw != label and not per_question:  # of several questions, one may not know it
                raise UserError(f"The alias {raw!r} is a label itself and stays one; take one of the two out.")
        for raw, state in (missing or {}).items():
            if state not in MISSING:
                raise UserError(f"missing[{raw!r}] is {state!r}; expected one of {', '.join(MISSING)}.")
        allowed = {q: frozenset(v) for q, v in per_question.items()} or None
        return cls(ordered, allowed, dict(aliases or {}), dict(missing or {}), normalise)

    def recognises(self, text: str) -> bool:
        """Whether a text is, or was meant to be, a label or a declared form of any question; raises nothing."""
        known = {tidy(form).casefold() for form in (*self.labels, *(self.aliases or ()), *(self.missing or ()))}
        return tidy(text).casefold() in known

    def match(self, raw: str | None, question: str = "") -> Match:
        """The meaning of one raw text. UserError for U+FFFD, and for a missing value made a word."""
        if raw is None:
            return Match(-1, "blank")
        found = self._exact(raw, question)
        if found is not None:
            return found
        if _LOST.search(raw):
            raise UserError(
                f"The label {raw!a} holds U+FFFD or half a character: it was decoded wrongly earlier on. "
                "Go back to the original bytes and name their encoding (encoding='cp1252', for example)."
            )
        clean = tidy(raw)
        if not clean:
            return Match(-1, "blank", "" if raw == "" else "only white space")
        if clean in STRINGIFIED:
            raise UserError(
                f"The label {clean!r} is not in the codebook {list(self.labels)}: most likely a missing value "
                "was turned into a word. Add it to the codebook if it is a category, or say "
                f"missing={{{clean!r}: 'blank'}}."
            )
        return self._near(raw, clean, question)

    def _exact(self, text: str, question: str) -> Match | None:
        """The codebook's labels first, so that "None" or "NA" may be one; then what was declared."""
        if text in self.labels and self._is_allowed(text, question):
            return Match(self.labels.index(text))
        if self.aliases and text in self.aliases and self._is_allowed(self.aliases[text], question):
            return Match(self.labels.index(self.aliases[text]), repair="alias")
        if self.missing and text in self.missing:
            return Match(-1, self.missing[text])
        return None

    def _near(self, raw: str, clean: str, question: str) -> Match:
        found = self._exact(clean, question) if clean != raw else None
        untidy = [x for x in self.labels if x != clean == tidy(x) and self._is_allowed(x, question)]
        if found is None and len(untidy) == 1:  # it is the codebook that is written in another form
            found, raw = Match(self.labels.index(untidy[0])), untidy[0] if raw == clean else raw
        if found is not None:
            if self.normalise == "exact":
                return Match(-1, "padded" if found.reason == "valid" else found.reason)
            return Match(found.label, found.reason, _difference(raw, clean))
        folded = [x for x in self.labels if tidy(x).casefold() == clean.casefold()]
        folded = [x for x in folded if self._is_allowed(x, question)]
        if len(folded) == 1:
            if self.normalise == "space+case":
                return Match(self.labels.index(folded[0]), repair="case")
            return Match(-1, "case")
        if re.fullmatch(r"-?\d+\.0+", clean) and clean.partition(".")[0] in self.labels:
            return Match(-1, "number_form")
        return Match(-1, "not_in_codebook")

    def _is_allowed(self, label: str, question: str) -> bool:
        return self.allowed is None or label in self.allowed.get(question, frozenset())


def _distinct(labels: list[str], what: str) -> tuple[str, ...]:
    if not labels:
        raise UserError(f"{what} is empty; expected the ordered labels, as in codebook=['A', 'B', 'C'].")
    for label in labels:
        if not isinstance(label, str) or not label:
            raise UserError(f"{what} holds {label!r}; expected texts that are not empty.")
    if len(set(labels)) < len(labels):
        double = next(x for x in labels if labels.count(x) > 1)
        raise UserError(f"{what} lists {double!r} twice; each label belongs there once.")
    return tuple(labels)


def _merge_orders(per_question: dict[str, list[str]]) -> tuple[str, ...]:
    """One order that agrees with every question's own; UserError where two questions contradict."""
    after: dict[str, set[str]] = {}
    for question, labels in per_question.items():
        _distinct(labels, f"The codebook of question {question!r}")
        for i, label in enumerate(labels):
            after.setdefault(label, set()).update(labels[i + 1 :])
    merged: list[str] = []
    while after:
        free = next((x for x in after if not any(x in later for later in after.values())), None)
        if free is None:
            raise UserError(
                f"The codebooks order {', '.join(sorted(after))} differently from question to question; "
                "read those questions separately."
            )
        merged.append(free)
        del after[free]
    return tuple(merged)


def _difference(raw: str, clean: str) -> str:
    """The name of what was mended between a raw text and its tidy form."""
    if any(ord(ch) in _ZERO_WIDTH for ch in raw):
        return "zero-width character"
    if "\u00a0" in raw:
        return "no-break space"
    return "padding" if raw.strip() == clean else "unicode form"
