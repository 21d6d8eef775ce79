"""Colours that differ from light and dark backgrounds, and from their neighbours."""

import re
from collections.abc import Sequence
from math import cos, radians, sin

GREY = "#8a8a8a"
"""For points without a colour of their own."""
BLUE, GREEN, AMBER, RED = "#2b7bba", "#2f8f4e", "#b5820c", "#d5482c"
VIOLET = "#8662b0"

_GOLDEN_ANGLE = 137.50776405
_LIGHTNESS = (0.63, 0.55)
_CHROMA = 0.15
_HEX = re.compile("#[0-9a-fA-F]{6}")
_RAMP = ((0.53, 300.0), (0.64, 80.0))


def position_colour(position: int) -> str:
    """Return the colour of the intent at a position, as #rrggbb; always the same one.

    Hues advance by the golden angle, so that any number of them is spread evenly.
    """
    hue = (25.0 + position * _GOLDEN_ANGLE) % 360.0
    return _hex(_LIGHTNESS[position % len(_LIGHTNESS)], _CHROMA, hue)


def mixed(colours: Sequence[str]) -> str:
    """Return the mean of colours for each channel; grey if one is not #rrggbb."""
    if not all(_HEX.fullmatch(colour) for colour in colours):
        return GREY
    rows = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours]
    return "#" + "".join(f"{round(sum(row) / len(rows)):02x}" for row in zip(*rows, strict=True))


def ramp(n: int) -> tuple[str, ...]:
    """Return n colours for a sequence in time, first to last."""
    (low, start), (high, end) = _RAMP
    shares = [step / max(n - 1, 1) for step in range(n)]
    return tuple(
        _hex(low + share * (high - low), _CHROMA, start + share * (end - start)) for share in shares
    )


def _hex(lightness: float, chroma: float, hue: float) -> str:
    """Convert OKLCH to sRGB, reducing the chroma where a screen cannot show it."""
    while True:
        channels = _linear_rgb(lightness, chroma, hue)
        if all(-1e-4 <= channel <= 1.0001 for channel in channels) or chroma <= 0.0:
            return "#" + "".join(f"{round(255 * _gamma(c)):02x}" for c in channels)
        chroma -= 0.005


def _linear_rgb(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    """OKLCH to linear sRGB (Ottosson 2020)."""
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _gamma(channel: float) -> float:
    channel = min(max(channel, 0.0), 1.0)
    return 12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055
