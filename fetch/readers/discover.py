"""Which column is which, by names that leave no doubt. Where there is doubt, an error lists the columns and asks."""

from __future__ import annotations

from collections.abc import Sequence

from countback.fetch.errors import UserError
from countback.fetch.readers.options import LIST_ROLES, ROLES, Options
from countback.fetch.readers.people import bare, is_pii
from countback.fetch.readers.report import Tally

# Names in lower case and without punctuation. "id" alone is not among them: it may be the item's or the row's.
NAMES = {
    "item": "item itemid instance instanceid task taskid example exampleid document documentid docid vignette "
    "vignetteid",
    "annotator": "annotator annotatorid rater raterid worker workerid coder coderid user userid participant "
    "participantid pid prolificpid prolificid labeler labelerid labeller respondent respondentid",
    "judge": "judge judgemodel judgeid",
    "label": "label answer choice rating annotation response",
    "question": "question questionid criterion dimension metric",
    "country": "country countrycode locale culture",
    "kind": "kind",
    "seconds": "seconds leadtime leadtimeseconds durationseconds timeseconds",
    "time": "time timestamp t createdat submittedat completedat updatedat",
}
_WHO = {"annotator", "judge"}
_OPTIONAL = ("seconds", "time", "kind")  # doubt about these costs nothing that is not asked for later


def discover(header: Sequence[str], options: Options, tally: Tally, name: str, needed: Sequence[str]) -> dict[str, int]:
    """The position of each role that the header has; what was told comes first. Fills the tally's columns.

    Raises UserError where a needed role is missing, where two columns answer to one, and where a column was told that
    is not there or holds personal data.
    """
    found: dict[str, int] = {}
    for role in ROLES:
        told = options.column(role)
        if told is not None:
            found[role] = position(header, told, role, name)
    told_positions = set(found.values())
    taken = told_positions | {
        position(header, c, role, name) for role in LIST_ROLES for c in options.listed(role) or []
    }
    for role in ROLES:
        if role not in found and not (role in _WHO and found.keys() & _WHO):
            fits = [i for i, column in enumerate(header) if i not in taken and bare(column) in NAMES[role].split()]
            if len(fits) > 1 and role not in _OPTIONAL:
                raise UserError(_which(header, [header[i] for i in fits], role, name))
            if len(fits) == 1:
                found[role] = fits[0]
    judges = [i for i, column in enumerate(header) if i not in taken and bare(column) in NAMES["judge"].split()]
    if judges and found.get("annotator") not in (None, *told_positions):
        raise UserError(_which(header, [header[found["annotator"]], header[judges[0]]], "annotator", name))
    _refuse_missing(header, found, options, needed, name)
    for role, index in found.items():
        if is_pii(header[index]) and role != "annotator" and not options.keep_pii:
            raise UserError(
                f"{name}: the column {header[index]!r} holds personal data and was told to be the {role}; "
                "choose another one, or say keep_pii=True."
            )
    tally.columns.update({role: header[index] for role, index in found.items()})
    return found


def leave_out(header: Sequence[str], used: Sequence[int], tally: Tally) -> None:
    """Tells the report which columns were not read, those with personal data apart."""
    for index, column in enumerate(header):
        if index not in used:
            (tally.pii if is_pii(column) else tally.ignored).append(column)


def position(header: Sequence[str], column: str, role: str, name: str) -> int:
    """Where a told column is. Raises UserError where it is not."""
    if column not in header:
        raise UserError(f"{name} has no column {column!r} for {role!r}; its columns are {listed(header)}.")
    return list(header).index(column)


def listed(header: Sequence[str]) -> str:
    """The columns for a message, the first thirty of them."""
    shown = ", ".join(map(repr, header[:30]))
    return shown + (f" and {len(header) - 30} more" if len(header) > 30 else "") or "none"


def refuse_repeats(header: Sequence[str], name: str) -> None:
    """Raises UserError for a header without names, and for one that has a name twice."""
    named = [column for column in header if column]
    if not named:
        raise UserError(f"{name} has no header; expected a first line with the names of the columns.")
    if len(set(named)) < len(named):
        twice = next(column for column in named if named.count(column) > 1)
        raise UserError(f"{name} has two columns called {twice!r}; rename one, so that it is clear which is meant.")


def _which(header: Sequence[str], fits: Sequence[str], role: str, name: str) -> str:
    return (
        f"{name}: {' and '.join(map(repr, fits))} could each be the {role}. Say which: "
        f"columns={{{role!r}: {fits[0]!r}}}. The columns are {listed(header)}."
    )


def _refuse_missing(
    header: Sequence[str], found: dict[str, int], options: Options, needed: Sequence[str], name: str
) -> None:
    given = {"annotator"} if "judge" in found or options.annotator is not None else set()
    missing = [role for role in needed if role not in found and role not in given]
    if missing:
        free = [column for i, column in enumerate(header) if i not in found.values()]
        example = ", ".join(f"{role!r}: {free[0] if free else '...'!r}" for role in missing)
        wide = ""
        if "label" in missing:
            wide = (
                ' If the file is wide, say what its headers are: columns={"annotators": [...]}, {"questions": [...]} '
                'or {"items": [...]}.'
            )
        raise UserError(
            f"{name}: which column is the {' and which the '.join(missing)}? Found {listed(header)}. Answer with "
            f"columns={{{example}}}; the roles are item, annotator, label, and where there are any country, question, "
            f"seconds, time.{wide}"
        )
