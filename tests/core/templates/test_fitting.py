"""A value fills a template only where values like it were seen, learned from the marks alone."""

import pytest

from core.templates.augmenting import Augmentation, augment
from core.templates.fitting import learn_fitting
from core.templates.slot_book import slot_book
from core.templates.slots import Slot, SlottedText, slotted

DAYS = ("monday", "tuesday", "friday")
CITIES = ("oslo", "rome", "berlin")


def marked(text: str, value: str, name: str = "day") -> SlottedText:
    start = text.index(value)
    return slotted(text, [Slot(start, start + len(value), name)])


SAID = [
    *(marked(f"call me on {day}", day) for day in DAYS),
    *(marked(f"the train on {day}", day) for day in DAYS),
    *(marked(f"nothing for {day}", day) for day in DAYS),
    *(marked(f"{where} today", "today") for where in ("nothing for", "call me", "train", "bus")),
    *(marked(f"fly to {city}", city, "city") for city in CITIES),
    marked("rain in oslo", "oslo", "city"),
]


@pytest.mark.parametrize(
    ("name", "value", "before", "fits"),
    [
        ("day", "friday", "on", True),
        ("day", "today", "on", False),  # four times said, never after "on"; weekdays often
        ("day", "today", "for", True),  # seen
        ("day", "on friday", "on", False),  # "on on friday"
        ("city", "rome", "in", True),  # rome and oslo follow the same words
        ("city", "rome", "to", True),
        ("city", "paris", "to", True),  # unknown: nothing speaks against it
    ],
)
def test_a_value_fits_where_its_like_was_seen(name, value, before, fits) -> None:
    assert learn_fitting(SAID).fits(name, value, before) is fits


def test_a_value_may_not_repeat_the_word_behind_it() -> None:
    assert not learn_fitting(SAID).fits("city", "oslo", "to", "oslo")


def test_a_part_of_a_longer_value_is_no_template() -> None:
    longer = marked("fly to new york", "new york", "city")
    part = marked("a hotel in new york", "york", "city")
    fitting = learn_fitting([longer, part])
    assert fitting.is_whole(longer)
    assert not fitting.is_whole(part)


def test_values_of_scripts_without_white_space_are_judged_sign_by_sign() -> None:
    whole, part = marked("東京に行く", "東京", "city"), marked("私は東京が好き", "京", "city")
    fitting = learn_fitting([whole, part])
    assert fitting.is_whole(whole)
    assert not fitting.is_whole(part)
    assert fitting.fits("city", "大阪", "大")  # one sign twice is no word said twice


def test_augmentation_offers_what_fits_and_without_a_fitting_everything() -> None:
    book, fitting = slot_book(SAID), learn_fitting(SAID)
    every = {one.utterance.text for one in augment(SAID, book)}
    fitted = {one.utterance.text for one in augment(SAID, book, Augmentation(fitting=fitting))}
    assert "call me on today" in every
    assert "call me on today" not in fitted
    assert "the train on today" not in fitted
    assert "rain in rome" in fitted
    assert fitted < every
