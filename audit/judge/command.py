"""What `countback judge` does with its options: settings, a draft of them, the audit, and the files asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from countback.audit.files import as_text, write_json
from countback.audit.judge import audit_labels
from countback.audit.judge.input import write_draft
from countback.audit.judge.settings import read_settings
from countback.audit.judge.text import present
from countback.audit.judge.tree import as_json
from countback.fetch.errors import UserError


def run(
    labels: Path,
    judges: Path | None,
    *,
    config: Path | None,
    json_file: str | None,
    html_file: Path | None,
    draws: int,
    seed: int,
    quiet: bool,
    tell: Callable[[str], None],
    **told: Any,
) -> int:
    """The exit code: 0 done, 3 nothing could be concluded. `told` are options of `read_settings`. Raises UserError."""
    drafted = config is not None and not config.exists()
    settings = read_settings(labels, judges, config=None if drafted else config, **told)
    if config is not None and drafted:
        write_draft(labels, settings, config)
        raise UserError(f"{config} was written: read it, correct it, and run the same command again")
    found = audit_labels(labels, judges, settings, draws=draws, seed=seed, tell=tell)
    if json_file == "-":
        click.echo(as_text(as_json(found)))
    elif json_file is not None:
        write_json(Path(json_file), as_json(found))
    if html_file is not None:
        from countback.audit.judge.html import write_html

        write_html(found, html_file)
    if json_file != "-" and not quiet:
        click.echo(present(found))
    return 0 if found.concluded else 3
