import pytest

from core.maps.palette import AMBER, BLUE, GREEN, GREY, RED, position_colour, ramp

DARK = "#0b0f19"


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    "colours",
    [[position_colour(at) for at in range(300)], ramp(8), [AMBER, BLUE, GREEN, GREY, RED]],
    ids=["intents", "time", "named"],
)
def test_every_colour_can_be_seen_on_white_and_on_dark(colours: list[str]) -> None:
    assert min(contrast(colour, "#ffffff") for colour in colours) >= 3.0
    assert min(contrast(colour, DARK) for colour in colours) >= 3.0


def test_three_hundred_intents_have_three_hundred_colours() -> None:
    colours = [position_colour(at) for at in range(300)]
    assert len(set(colours)) == 300
    assert colours == [position_colour(at) for at in range(300)]


def test_a_ramp_has_as_many_colours_as_asked_for() -> None:
    assert [len(ramp(n)) for n in (0, 1, 5)] == [0, 1, 5]
