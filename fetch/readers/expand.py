"""A question that takes several labels, as one yes-or-no question for each label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from countback.fetch.codebook import VALID, Codebook
from countback.fetch.readers.columns import Column
from countback.fetch.readers.matching import Book
from countback.fetch.readers.options import Options

if TYPE_CHECKING:
    from countback.fetch.readers.answers import Answers

NO, YES = "no", "yes"


def one_question_each(answers: Answers, options: Options) -> tuple[Answers, Options]:
    """Every answer once for each label of its question, and the codebook (no, yes) that they are read with.

    An answer that is missing is missing for each label; one that is no set of labels keeps its text for each.
    """
    book = Book(options)
    width = max(len(answers.label.values), 1)
    key = (answers.question.codes.astype(np.int64) * width + answers.label.codes) * 2 + (answers.state == VALID)
    present, position = np.unique(key, return_inverse=True)
    questions: list[str] = []
    cells: list[str] = []
    lengths = []
    for k in present.tolist():
        name, text = answers.question.values[k // 2 // width], answers.label.values[k // 2 % width]
        allowed = book.codebook.allowed
        labels = [x for x in book.codebook.labels if allowed is None or x in allowed.get(name, ())]
        chosen = _chosen(book, text, name) if k % 2 else None
        questions += [f"{name}: {label}" if name else label for label in labels]
        cells += [text if chosen is None else YES if label in chosen else NO for label in labels]
        lengths.append(len(labels))
    length = np.array(lengths, np.int64)
    rows = np.repeat(np.arange(len(answers)), length[position])
    within = np.arange(rows.size) - np.repeat(np.cumsum(length[position]) - length[position], length[position])
    where = (np.cumsum(length) - length)[position[rows]] + within
    question, label = Column.of(questions), Column.of(cells)
    spread = replace(
        answers.take(rows),
        question=Column(question.values, question.codes[where]),
        label=Column(label.values, label.codes[where]),
    )
    return spread, replace(options, codebook=Codebook.of([NO, YES]), multi=False)


def _chosen(book: Book, text: str, question: str) -> set[str] | None:
    """The labels that a cell names; None where it is blank, or names something else."""
    parts = book.parts(text, several=True)
    matches = [book.codebook.match(part, question) for part in parts or []]
    if not matches or any(match.label < 0 for match in matches):
        return None
    return {book.codebook.labels[match.label] for match in matches}
