"""Names that look the same although their letters differ: Cyrillic or Greek ones for Latin ones."""

import re
import unicodedata
from collections.abc import Iterable

from core.text import is_hidden

_LIKE_LATIN = {
    # Cyrillic
    **dict(zip("\u0430\u0435\u043e\u0440\u0441\u0443\u0445", "aeopcyx", strict=True)),
    **dict(zip("\u0455\u0456\u0458\u04bb\u0501\u051b\u051d", "sijhdqw", strict=True)),
    **dict(zip("\u04af\u04cf\u0475", "ylv", strict=True)),
    **dict(zip("\u0410\u0412\u0415\u041a\u041c\u041d\u041e", "ABEKMHO", strict=True)),
    **dict(zip("\u0420\u0421\u0422\u0423\u0425\u0405\u0406", "PCTYXSI", strict=True)),
    **dict(zip("\u0408\u04ae\u04c0\u050c\u051a\u051c\u0474", "JYIGQWV", strict=True)),
    # Greek; NFKC writes the lunate sigmas as sigmas
    **dict(zip("\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03f3", "ayikvopuj", strict=True)),
    **dict(zip("\u0391\u0392\u0395\u0396\u0397\u0399\u039a", "ABEZHIK", strict=True)),
    **dict(zip("\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7", "MNOPTYX", strict=True)),
    # Armenian, and Latin letters for phonetics
    **dict(zip("\u0570\u0578\u057d\u0581\u0585", "hnugo", strict=True)),
    **dict(zip("\u0131\u0251\u0261\u0269\u028b", "iagiu", strict=True)),
    # Dashes
    **dict.fromkeys("\u2010\u2012\u2013\u2212", "-"),
}
"""The sign of Latin script or ASCII that another sign looks like."""
_SHAPES = str.maketrans(_LIKE_LATIN)
_JOINED_LATIN = re.compile("(?<=[A-Za-z0-9])[\u200c\u200d]")
"""Joiners where they change no letter's form."""


def shape_of(name: str) -> str:
    """Return a name as it looks: two names of the same shape cannot be told apart in a list."""
    drawn = "".join(sign for sign in name if not is_hidden(sign))
    shape = unicodedata.normalize("NFKC", drawn).translate(_SHAPES)
    return " ".join(_JOINED_LATIN.sub("", shape).split())


def lookalike(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that looks like `name` and is another."""
    shape = shape_of(name)
    return next((other for other in names if other != name and shape_of(other) == shape), None)


def differing_sign(name: str, other: str) -> str:
    """Name a sign that only one of two names has: "Cyrillic small letter ie (U+0435)"."""
    only = sorted(set(name) ^ set(other), reverse=True)
    sign = only[0] if only else " "
    return f"{unicodedata.name(sign, 'sign').capitalize()} (U+{ord(sign):04X})"
