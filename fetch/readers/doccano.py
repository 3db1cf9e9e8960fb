"""doccano: one line a document with its labels, and no name of who gave them unless the export is one file a person."""

from __future__ import annotations

from collections.abc import Sequence

from countback.fetch.errors import UserError
from countback.fetch.readers.answers import Answers, Collector
from countback.fetch.readers.options import Options, per_file
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source, as_list, as_object, plain


def doccano_answers(sources: Sequence[Source], options: Options, tally: Tally) -> Answers:
    """The labels of each document. Raises UserError where nothing says who labelled: agreement cannot be computed."""
    out = Collector()
    tally.cannot_know("doccano does not export who was asked and did not answer.", "skipped", "not_asked", "draft")
    for source in sources:
        value = source.value
        who = per_file(options.annotator, source.name, "annotator")
        for i, raw in enumerate(as_list([value] if isinstance(value, dict) else value, source.name)):
            where = f"{source.name}: document {i}"
            document = as_object(raw, where)
            tally.read["documents"] += 1
            item = plain(document.get(options.column("item") or "id"))
            owned = document.get("annotations")
            if isinstance(owned, list) and any(isinstance(a, dict) and "user" in a for a in owned):
                _by_user(out, item, owned, source.name, tally, where)
                continue
            labels = document.get("label", document.get("labels", document.get("cats")))
            named = options.column("annotator")
            person = plain(document.get(named)) if named else who
            if person is None:
                raise UserError(
                    f"{source.name} has no rater identity: doccano's export does not say who gave a label, so "
                    "agreement cannot be computed. Turn off 'Share annotations across all users' and export again, "
                    "which gives one file for each person, and read them with annotator='{file}'."
                )
            labels = [labels] if isinstance(labels, str | int) else as_list(labels, f"{where}.label")
            _add(out, item, person, labels, source.name, tally)
    return out.answers()


def _by_user(out: Collector, item: str, owned: list[object], file: str, tally: Tally, where: str) -> None:
    """The shape of version 1: annotations with a label and a user each."""
    by_user: dict[str, list[object]] = {}
    for annotation in owned:
        held = as_object(annotation, where)
        by_user.setdefault(plain(held.get("user")), []).append(held.get("label"))
    for user, labels in by_user.items():
        _add(out, item, user, labels, file, tally)


def _add(out: Collector, item: str, person: str, labels: list[object], file: str, tally: Tally) -> None:
    kept = [plain(label) for label in labels if not isinstance(label, list)]
    tally.set_aside["spans"] += len(labels) - len(kept)
    if labels and not kept:
        return
    out.add(item, person, kept[0] if len(kept) == 1 else plain(kept) if kept else "", file=file)
