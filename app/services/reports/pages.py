"""Fill the templates of receipts and reports; text is escaped, and pages hold no script."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from app.services.explaining.words import day, sure_share
from core.metrics.in_words import untested_of
from core.text import percent, points, share_of, signed_points, unturned

_LATIN, _OTHERS = "inter-latin.woff2", "inter-latin-ext.woff2"
_EXTENDED = re.compile("[\u0100-\u024f\u1e00-\u1eff]")
"""Letters that the larger half of the font has, such as those of Polish or Turkish."""
_HELD_OUT = {
    re.compile(r"test set of ([\d,]+) texts"): r"\1 test texts",
    re.compile(r"(?<!\d)(\d++)-fold cross-validation over ([\d,]+) texts"): (
        r"its own \2 examples, in \1 parts, each answered by a version that learned from the others"
    ),
    re.compile(r"leave-one-out over ([\d,]+) texts that the encoder was tuned on"): (
        r"its own \1 examples, which it has learned, each answered without its own vote"
    ),
    re.compile(r"leave-one-out over ([\d,]+) texts"): (
        r"its own \1 examples, each answered without its own label"
    ),
    re.compile(r"(?<![\d,])([\d,]++) of ([\d,]+) texts, held out"): (
        r"\1 of its own \2 examples, which a version made for this had not learned from"
    ),
}
"""How a training checks itself without a test set, and the same for readers who know no method."""
_DATA_VERSION = re.compile(r"\bdata version (\d+)")
_UNKNOWN = "\N{EN DASH}"


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of `assets/report` with plain values.

    The page holds its font, as it must look the same where there is no network and no studio.
    """
    filled = _environment().get_template(template)
    page = filled.render(**values, faces=[_face(_LATIN, "U+0000-024F, U+2000-22FF")])
    if not _EXTENDED.search(page):
        return page
    both = [_face(_LATIN, "U+0000-00FF, U+2000-22FF"), _face(_OTHERS, "U+0100-024F, U+1E00-1EFF")]
    return filled.render(**values, faces=both)


@cache
def _face(name: str, span: str) -> Mapping[str, str]:
    """Return a font file as base64, and the characters that it is for."""
    data = (files("assets") / "fonts" / name).read_bytes()
    return {"data": b64encode(data).decode("ascii"), "range": span}


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
        of=_share_of,
        points=points,
        signed=signed_points,
        sure=sure_share,
        number=lambda value: f"{value:,}",
        day=day,
        version=_named_version,
        snapshot=_named_snapshot,
        basis=_plain_basis,
        untested=untested_of,
    )
    return found


def _unturned(value: object) -> object:
    """Let no text turn round the letters after it; markup stays markup."""
    return unturned(value) if isinstance(value, str) else value


def _named_version(name: str) -> str:
    """Write `PROJECT@N` as "PROJECT, version N"; the name of a bundle stays."""
    project, at, number = name.rpartition("@")
    return f"{project}, version {number}" if at else name


def _named_snapshot(words: str) -> str:
    """Call the data that a version learned from a snapshot: a version is what learned from them."""
    return _DATA_VERSION.sub(r"data snapshot \1", words)


def _plain_basis(words: str) -> str:
    """Say on which texts a version was checked, in a manager's words."""
    for method, plain in _HELD_OUT.items():
        words = method.sub(plain, words)
    return words


def _share_of(value: float | None, n: int) -> str:
    """Write a share of n texts, counted where n is too small for percents."""
    return _UNKNOWN if value is None else share_of(value, n)


def _share(value: float | None, digits: int = 1) -> str:
    return _UNKNOWN if value is None else percent(value, digits)
