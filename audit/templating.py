"""The templates of our HTML pages, and how they are rendered: every text escaped, every missing name an error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from countback.audit.words import sentence
from countback.fetch.errors import UserError

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def template(name: str, wanted: str, instead: str, *, lstrip_blocks: bool = False) -> jinja2.Template:
    """One template by its file name. Raises UserError without jinja2: what was `wanted`, and what works `instead`."""
    try:
        import jinja2
    except ImportError:
        raise UserError(
            f"{wanted} needs jinja2, which is not installed: pip install 'countback[report]'; {instead}"
        ) from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=lstrip_blocks,
    )
    environment.filters["sentence"] = sentence
    return environment.get_template(name)
