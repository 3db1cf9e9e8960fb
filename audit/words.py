"""Text from papers and file names, made safe to print: what nobody sees, or what moves the cursor, is spelt out."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, zero-width and direction marks, lone surrogates, line separators


def visible(text: str) -> str:
    """The text with hidden characters as escapes such as \\x1b and \\u202e; line breaks stay."""
    if text.isascii() and text.replace("\n", "").isprintable():  # the common case
        return text
    return "".join(
        c.encode("unicode_escape").decode() if c != "\n" and unicodedata.category(c) in _HIDDEN else c for c in text
    )


def sentence(text: str) -> str:
    """A clause as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}."
