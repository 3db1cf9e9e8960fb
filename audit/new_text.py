"""What `countback new` writes into a paper's folder: commented TOML for someone who writes no Python."""

from __future__ import annotations

PAPER = """\
# What the paper is, and which of its tables are typed here. At any time: countback check {folder}
# Lines that start with # are for you; delete them as you go.

id       = {id}
title    = "TITLE"
citation = "AUTHORS (YEAR). TITLE. PLACE."
version  = "which text was read: an arXiv number with its v, a DOI, or the day"
url      = ""
licence  = "as the paper or its repository states it, else: none stated"
requires = 1  # how many claims there must be: raise it when yours stand, so that none is lost unseen
# rounding = "half-even"  # only where the paper says how it rounds
"""

TABLE = """
[[table]]
id    = {id}  # tables/{file}, {source}
title = {named}
key   = {key}  # the column, or columns, that name a row
# summary = ["Average"]  # rows that sum up the others
"""

CLAIMS = """\
# What the paper says in numbers. The whole notation on one screen: python -m pydoc countback.claims.registry

# An example, not of this paper. It holds: see what the answer looks like, then delete both blocks.
[[claim]]
id       = "example-share"
where    = { section = "an example, not of this paper" }
reads    = "a share in percent"
reported = "17.0%"  # as printed, always in quotes

[[relation]]
id       = "example"
reads    = "46 of 270 in percent"
relation = "percent"
of       = [46, 270]
equals   = "#example-share"
"""

MARKS = """
# In tables/*.csv each cell that was read for you starts with "?": nobody has compared it with the paper yet. Compare
# it, the names of its row and column too, and delete the mark. Whatever uses a marked cell is unchecked.
# A block [[asserted]] lists the cells of a table; arithmetic or recounts, of the form below, take its place.
"""

CELLS = """
[[asserted]]  # {title}, {source}
id      = {cells_id}
table   = {id}
columns = {columns}
why     = "nobody has said yet what could check it"
"""

CHECK = """
# [[relation]]
# id       = {check_id}
# reads    = "in your words: what must be so"
# table    = {id}
# each     = "row"  # one claim per row; or column, or cell
# of       = {of}  # names of columns
# relation = "percent"  # sum, mean, ...: python -m pydoc countback.claims.relations, or countback.claims.predicates
# equals   = {last}
"""

RECOUNT = """
# A number that a released file decides, recounted by a function in recipes.py that is given its row and its column:
# [[recount]]
# id      = {recount_id}
# reads   = "in your words: what is counted"
# table   = {id}
# columns = [{last}]  # one claim per cell
# recipe  = "share"
# with    = {{ file = {released}, where = {where}, hits = "COLUMN", n = "COLUMN" }}
#           # columns of that file: {header}; without n each of its lines counts as one
# needs   = ["data"]
"""

RELEASES = """\
# What the authors released. A file is known by its sha256 and size, whatever it is called on a disk; it is not copied
# here. `countback check {folder} --data FOLDER` finds it in any folder, `countback fetch {folder}` where a url stands.

[[release]]
id        = "data"
title     = "TITLE OF THE DATA"
version   = "which version: a commit, a DOI, or the day"
licence   = ""  # as its authors state it; empty says that they state none
retrieved = {today}
landing   = "https://WHERE-IT-IS-PUBLISHED"
"""

PIN = """
[[release.file]]
name   = {name}
sha256 = {sha256}
size   = {size}
# url  = "https://..."  # of the very file, where there is one
"""

RECIPES = '''\
"""Recounts of this paper's numbers from the released files. `share` is one to start from; add your own beside it."""

import csv
from fractions import Fraction

from countback.claims.verdict import CannotRecount, Recount


def share(data, *, file, where, hits, n=None, row, column):
    """Column `hits` in percent of column `n`, or of the lines; of those whose column `where` holds the row's name."""
    with data.path(file).open(newline="", encoding="utf-8") as lines:
        found = [line for line in csv.DictReader(lines) if line[where] == row]
    total = sum(int(line[n]) if n else 1 for line in found)
    if not total:
        raise CannotRecount(f"{file}: nothing to count for {row}")
    return Recount(100 * Fraction(sum(int(line[hits]) for line in found), total), n=total)
'''
