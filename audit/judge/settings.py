"""What a user says about labels to be judged: options of the command, or a TOML file with the same words.

Keys are the options of countback.fetch.readers.options, and three more: `reader`, `labels` (the codebook), `ordered`.
The table [judge_file] holds the same for a separate file with the judges' labels.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from countback.fetch import toml
from countback.fetch.errors import UserError
from countback.fetch.readers.options import LIST_ROLES, ROLES

JUDGE_FILE = "judge_file"
_VALUE = r"""'[^']*'|"[^"]*"|\[[^\[\]]*\]|\{[^{}]*\}|True|False"""
_SAID = re.compile(rf"\b((?:columns|codebook|reader)(?==)|[a-z_]+(?==(?:{_VALUE})))=({_VALUE})?")


@dataclass(frozen=True)
class Settings:
    """`options` are those of `read_labels` for the labels, `judge_options` for the judges' file, columns among them.

    `codebook` is the ordered labels, or one list for each question; None to take those that humans used. `ordered` is
    None where nobody said whether the labels have an order. `command` is what the user typed, for messages
    that add to it: what is said last counts. `config` is the file that was read.
    """

    command: str
    reader: str | None = None
    codebook: Any = None
    ordered: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    judge_options: Mapping[str, Any] = field(default_factory=dict)
    config: Path | None = None


def read_settings(
    labels: Path,
    judges: Path | None,
    *,
    config: Path | None = None,
    reader: str | None = None,
    columns: Sequence[str] = (),
    judge_columns: Sequence[str] = (),
    codebook: str | None = None,
    choices: Sequence[str] = (),
) -> Settings:
    """The settings; options of the command go before those of the file. Raises UserError for what cannot be read."""
    said: list[tuple[str, object]] = [("--judges", judges), ("--reader", reader), ("--config", config)]
    said += [("--columns", text) for text in columns] + [("--judge-columns", text) for text in judge_columns]
    said += [("--labels", codebook), *(("--set", text) for text in choices)]
    typed = ["countback", "judge", str(labels)]
    typed += [word for option, value in said if value is not None for word in (option, str(value))]
    command = shlex.join(typed)
    tree = _load(config) if config is not None else {}
    for choice in choices:
        _put(tree, choice)
    told = tree.pop(JUDGE_FILE, {})
    if not isinstance(told, dict):
        raise UserError(f"{JUDGE_FILE} is {told!r}; expected a table of settings for the judges' file.")
    for target, given in ((tree, columns), (told, judge_columns)):
        if given:
            target["columns"] = {**target.get("columns", {}), **parse_columns(given)}
    if told and judges is None:
        raise UserError("Settings for a judges' file were given, and no such file; name it with --judges FILE.")
    book = tree.pop("labels", None) if codebook is None else _labels(codebook)
    ordered = tree.pop("ordered", True if codebook is not None or isinstance(book, list | dict) else None)
    if book is not None and not isinstance(book, list | dict):
        raise UserError(f"labels is {book!r}; expected the labels in order, as in ['low', 'middle', 'high'].")
    if ordered not in (True, False, None):
        raise UserError(f"ordered is {ordered!r}; expected true or false.")
    if "labels" in told or "ordered" in told:
        raise UserError(f"[{JUDGE_FILE}] cannot have labels of its own: judges are held against the humans' labels.")
    named = tree.pop("reader", None)
    return Settings(command, reader or named, book, ordered, tree, told, config)


def parse_columns(given: Sequence[str]) -> dict[str, str | list[str]]:
    """ "item=doc,annotators=a,b" as {"item": "doc", "annotators": ["a", "b"]}. Raises UserError for anything else."""
    found: dict[str, str | list[str]] = {}
    role = ""
    for part in (part.strip() for text in given for part in text.split(",")):
        name, equals, column = part.partition("=")
        if equals and name in ROLES + LIST_ROLES and column:
            role = name
            if role in LIST_ROLES:
                found[role] = [*found.get(role, []), column]
            else:
                found[role] = column
        elif role in LIST_ROLES and part:
            found[role] = [*found[role], part]
        else:
            raise UserError(
                f"--columns: {part!r} is not understood; expected ROLE=COLUMN, as in item=doc,annotator=coder,"
                f"label=answer. Roles: {', '.join(ROLES)}; with a list of columns each: {', '.join(LIST_ROLES)}. "
                "A column whose name holds a comma goes into the [columns] table of --config FILE."
            )
    return found


def in_options(error: UserError, settings: Settings, *, judges: bool = False) -> UserError:
    """A reader's error with its advice, which is in Python's notation, said again as an option of the command."""
    message = str(error)
    said = _SAID.search(message)
    if said is None or "--columns" in message:
        return error
    name, told = said.group(1), settings.judge_options if judges else settings.options
    value = _literal(said.group(2) or "")
    if value is not None and told.get(name) in (value, value[0] if isinstance(value, list) else value):
        value = None  # what the user said is what was wrong
    flag = f"{JUDGE_FILE}." if judges else ""
    if name == "columns":
        how = f"{'--judge-columns' if judges else '--columns'} {_as_columns(value)}"
    elif name == "codebook":
        how = "--labels LOWEST,...,HIGHEST"
    elif name == "reader":
        how = f"--set {flag}reader=NAME" if judges else "--reader NAME"
    else:
        how = f"--set {setting(flag + name, value)}"
    return UserError(f"{message}\nWith this command: {settings.command} {how}", exit_code=error.exit_code)


def setting(name: str, value: Any) -> str:
    """NAME=VALUE as a shell takes it after --set; None is a value that only the user knows."""
    if value is None:
        return f"{name}=VALUE"
    if isinstance(value, str):
        try:
            plain = isinstance(toml.loads(f"value = {value}")["value"], str)
        except ValueError:
            plain = True
        value = value if plain else json.dumps(value)
    else:
        value = json.dumps(value, ensure_ascii=False)  # lists of texts and truth values are TOML too
    return shlex.quote(f"{name}={value}")


def _literal(text: str) -> Any:
    """A value in Python's notation; None where it only shows the place of one."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return None if "..." in text or value is Ellipsis else value


def _as_columns(value: Any) -> str:
    if not isinstance(value, dict) or not all(isinstance(column, str) for column in value.values()):
        return "ROLE=COLUMN"
    return shlex.quote(",".join(f"{role}={column}" for role, column in value.items()))


def _labels(text: str) -> list[str]:
    labels = [label.strip() for label in text.split(",")]
    if len(labels) < 2 or not all(labels):
        raise UserError(f"--labels {text!r}: expected two labels or more in order, as in --labels low,middle,high.")
    return labels


def _load(config: Path) -> dict[str, Any]:
    try:
        return toml.loads(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{config} cannot be read: {error.strerror}.") from None
    except ValueError as error:  # of its bytes or of its TOML
        raise UserError(f"{config} is not TOML: {error}.") from None


def _put(tree: dict[str, Any], choice: str) -> None:
    """One KEY=VALUE into the tree; dots in KEY lead into tables, and VALUE is TOML or else the text itself."""
    key, equals, text = choice.partition("=")
    *tables, last = key.split(".")
    if not equals or not all([*tables, last]):
        raise UserError(f"--set {choice!r} is not understood; expected KEY=VALUE, as in duplicates=last.")
    try:
        value = toml.loads(f"value = {text}")["value"]
    except ValueError:
        value = text
    for table in tables:
        tree = tree.setdefault(table, {})
        if not isinstance(tree, dict):
            raise UserError(f"--set {choice!r}: {table!r} is a value already and no table.")
    tree[last] = value
