"""Fill the templates of receipts and reports; text is escaped, and pages hold no script."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from app.services.explaining.words import day, sure_share
from core.text import percent, points, unturned

_UNKNOWN, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of `assets/report` with plain values."""
    return _environment().get_template(template).render(**values)


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("assets", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_unturned,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        share=_share,
        whole=partial(_share, digits=0),
        points=points,
        signed=_signed,
        sure=sure_share,
        number=lambda value: f"{value:,}",
        day=day,
    )
    return found


def _unturned(value: object) -> object:
    """Let no text turn round the letters after it; markup stays markup."""
    return unturned(value) if isinstance(value, str) else value


def _share(value: float | None, digits: int = 1) -> str:
    return _UNKNOWN if value is None else percent(value, digits)


def _signed(value: float) -> str:
    return (_MINUS if value < 0 else "+") + points(abs(value))
