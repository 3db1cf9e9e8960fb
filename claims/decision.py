"""What a resolver found: every criterion of a prediction with its present value, and the outcomes still possible."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

OPEN, CONFIRMED, BROKEN, BOTH, NEITHER, VOID = "open", "confirmed", "broken", "both", "neither", "void"
OVERDUE = "overdue"


@dataclass(frozen=True)
class Value:
    """One number of a criterion: it lies between `low` and `high`, which are equal where it is counted exactly.

    `n` is what it rests on (comparisons, countries), 0 where nothing is known.
    """

    name: str
    low: Fraction
    high: Fraction
    n: int = 0


@dataclass(frozen=True)
class Criterion:
    """One condition of a rule. `holds` is None as long as some completion of the data could still change it.

    `values` come from the data at hand, so those of an undecided criterion are present values and no more.
    """

    id: str
    holds: bool | None
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The criteria of a rule, and which outcomes some completion of the data could bring (in the rule's own order)."""

    criteria: tuple[Criterion, ...]
    possible: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """The one possible outcome, or "open" while there are several."""
        return self.possible[0] if len(self.possible) == 1 else OPEN
