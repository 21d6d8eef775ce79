"""The characters that a file or a request can hold, and no database and no answer."""

import re

NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
"""NUL and halves of surrogate pairs, which JSON can escape; a damaged byte is read as a half."""


def storable(text: str) -> str:
    """Return a text with U+FFFD in place of each character that can be neither stored nor sent."""
    return NO_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)
