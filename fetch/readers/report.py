"""IngestReport: what a reader read, mended, refused and cannot know. Nothing leaves the data without a line here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from countback.fetch.codebook import INVALID, MISSING
from countback.fetch.errors import UserError

_SHOWN = 20  # forms of a label that are printed before the list is cut


@dataclass(frozen=True)
class SourceFile:
    """A file as it was read: its name without the folder, size in bytes, sha256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PolicyOutcome:
    """What the labels would be under one policy for duplicates: how many are valid, how they are spread, and the
    share of pairs of annotators on one item and question that agree (None: no pair)."""

    valid: int
    labels: Mapping[str, int]
    agreement: float | None


@dataclass(frozen=True)
class DuplicateReport:
    """keys: how many (item, question, annotator) have two valid labels or more; conflicting: how many of them with
    different labels; order: what "first" and "last" go by; outcomes: by policy, to see what hangs on the choice."""

    policy: str
    keys: int
    conflicting: int
    order: str
    outcomes: Mapping[str, PolicyOutcome]

    def lines(self) -> list[str]:
        """One sentence, then one line for each policy."""
        out = [
            f"{self.keys} (item, question, annotator) have more than one valid label, {self.conflicting} of them with "
            f"different labels; policy {self.policy!r}, order by {self.order}"
        ]
        for policy, o in self.outcomes.items():
            agreement = "no pairs" if o.agreement is None else f"{o.agreement:.4f}"
            spread = ", ".join(f"{label!r} {n}" for label, n in list(o.labels.items())[:_SHOWN])
            spread += f" and {len(o.labels) - _SHOWN} more" if len(o.labels) > _SHOWN else ""
            out.append(f"  {policy}: {o.valid} valid labels ({spread}), pairwise agreement {agreement}")
        return out


@dataclass
class Tally:
    """What a reader counts while it reads; becomes the IngestReport."""

    read: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    columns: dict[str, str] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    pii: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def cannot_know(self, why: str, *states: str) -> None:
        """The format cannot show these missing states, so a share of answered over asked would be invented."""
        self.unknown.append(why)
        self.hidden.update(states)


@dataclass(frozen=True)
class IngestReport:
    """read: things found in the files, by kind. counts: rows of the table by reason; the six missing states are always
    named, with None where the format cannot show that state. repaired: what was mended, and repaired_forms the raw
    forms. refused: rows or answers that are not in the table, by why. set_aside: results that are not labels of an
    item (spans, regions, free text). unmatched: raw forms that are not in the codebook. flags: rows that are in the
    table and deserve a look. unknown: what this format cannot tell. replies: how judges' replies were parsed.
    """

    reader: str
    files: tuple[SourceFile, ...]
    columns: Mapping[str, str]
    read: Mapping[str, int]
    counts: Mapping[str, int | None]
    repaired: Mapping[str, int]
    repaired_forms: Mapping[str, int]
    refused: Mapping[str, int]
    set_aside: Mapping[str, int]
    unmatched: Mapping[str, int]
    flags: Mapping[str, int]
    unknown: tuple[str, ...]
    replies: Mapping[str, int]
    duplicates: DuplicateReport | None
    per_country: Mapping[str, int]
    pii_dropped: tuple[str, ...]
    ignored_columns: tuple[str, ...]
    ids: str
    notes: tuple[str, ...]

    @property
    def valid(self) -> int:
        """Rows that hold a label."""
        return self.counts["valid"] or 0

    def coverage(self) -> float:
        """Valid labels over everything that was asked. Raises UserError where the format hides the unanswered."""
        hidden = [state for state in MISSING if self.counts[state] is None]
        if hidden:
            raise UserError(
                f"Coverage cannot be computed from this export ({self.reader}): it does not show {', '.join(hidden)}. "
                f"{' '.join(self.unknown)} Use an export that does, or report the number of labels alone."
            )
        asked = sum(n or 0 for reason, n in self.counts.items() if reason not in ("not_asked", "duplicate"))
        if not asked:
            raise UserError("Coverage is undefined: nothing was asked.")
        return self.valid / asked

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def lines(self, *, public: bool = False) -> list[str]:
        """The report in words. `public` hides countries with fewer than five annotators' worth of labels."""
        missing = [f"{s} {'unknown' if self.counts[s] is None else self.counts[s]}" for s in MISSING]
        invalid = [f"{s} {self.counts[s]}" for s in INVALID if self.counts.get(s)]
        out = [f"read by {self.reader} from {', '.join(f.name for f in self.files)}: {_counted(self.read)}"]
        out.append(f"valid labels: {self.valid}")
        out.append(f"missing: {', '.join(missing)}")
        if invalid:
            out.append(f"not counted as labels: {', '.join(invalid)}")
        if self.columns:
            out.append("columns: " + ", ".join(f"{role}={name!r}" for role, name in self.columns.items()))
        sections = (("repaired", self.repaired), ("refused", self.refused), ("set aside", self.set_aside),
                    ("to look at", self.flags), ("judge replies", self.replies))  # fmt: skip
        out += [f"{title}: {_counted(counted)}" for title, counted in sections if counted]
        out += _forms("repaired forms", self.repaired_forms) + _forms(
            "not in the codebook", {f"{form!a}": n for form, n in self.unmatched.items()}
        )
        if len(self.per_country) > 1:
            shown = mask_small(self.per_country) if public else {c: str(n) for c, n in self.per_country.items()}
            out.append("annotators per country: " + ", ".join(f"{c} {n}" for c, n in shown.items()))
        if self.pii_dropped:
            out.append(f"personal data not read: {', '.join(self.pii_dropped)}")
        if self.ignored_columns:
            out.append(f"columns not used: {', '.join(self.ignored_columns)}")
        out.append(f"annotator ids: {self.ids}")
        if self.duplicates:
            out += self.duplicates.lines()
        return out + [f"unknown: {x}" for x in self.unknown] + [f"note: {x}" for x in self.notes]


def mask_small(counts: Mapping[str, int], k: int = 5) -> dict[str, str]:
    """Counts for a public table: a cell of fewer than k people is "<k", because it can identify them."""
    return {name: str(n) if n >= k else f"<{k}" for name, n in counts.items()}


def _counted(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {n}" for what, n in counted.items()) or "nothing"


def _forms(title: str, forms: Mapping[str, int]) -> list[str]:
    if not forms:
        return []
    shown = sorted(forms.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]
    cut = f", and {len(forms) - _SHOWN} more" if len(forms) > _SHOWN else ""
    return [f"{title}: " + ", ".join(f"{form} ({n})" for form, n in shown) + cut]
