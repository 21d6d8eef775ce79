"""Line breaks and tabs in texts, of which Watson refuses both."""

import re
from collections.abc import Collection

from core.platforms.agent import Platform
from core.text import normalise

_BREAKS = re.compile("[\t\r\n]")
_WITHOUT_BREAKS: tuple[Platform, ...] = ("watson", "watson-csv")


def breaks_lost(platform: Platform, text: str) -> str:
    """Return what a text loses of which Watson refuses signs; empty if it loses nothing."""
    is_refused = platform in _WITHOUT_BREAKS and _BREAKS.search(text)
    return "line breaks and tabs inside texts: written as blanks" if is_refused else ""


def key_there(platform: Platform, text: str, there: Collection[str]) -> str:
    """Return the key of a project's text: that of what was written for it, where that is there."""
    key = normalise(text)
    if key in there or not breaks_lost(platform, text):
        return key
    short = normalise(without_breaks(text))
    return short if short in there else key


def without_breaks(text: str) -> str:
    """Return a text as Watson takes it: of the same length, on one line."""
    return _BREAKS.sub(" ", text)
