"""Texts that nobody expects in a pool are grouped in time, and their groups have plain names."""

import resource
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.discover import runs, splitting
from app.services.discover.acts import Taking, take_group
from app.services.discover.runs import start_grouping
from app.services.discover.splitting import split_group
from app.services.discover.stored import GroupsView, list_groups, open_group
from app.services.studio import Studio
from core.errors import InvalidInput
from core.types import FloatArray
from tests.builders.trained_home import Idle, do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        23,
        "A pool of equal texts",
        "50,000 texts that differ by capitals alone, grouped, taken and split",
        "They are one group; the time grows with their number, not with its square",
        figures="equal",
    ),
    Fault(
        23,
        "A pool of 20 languages, and of texts of 5,000 characters",
        "Sentences in 14 scripts, with and without spaces; long texts with and without spaces",
        "Each group has a name of whole words or of the beginning of a text, of at most 80 "
        "characters; no letter loses its vowel sign",
        figures="names",
    ),
)
PARCEL = {
    "ar": "أين طردي رقم {} من فضلك",
    "bn": "আমার পার্সেল {} কোথায় আছে",
    "zh": "我的第{}个包裹现在在哪里",
    "en": "where is my parcel {} please",
    "fr": "où est passé mon colis n° {}",
    "de": "wo ist mein Paket {} geblieben",
    "el": "πού είναι το δέμα μου {}",
    "gu": "મારું પાર્સલ {} ક્યાં છે",
    "he": "אֵיפֹה הַחֲבִילָה שֶׁלִּי {} בבקשה",
    "hi": "मेरा पार्सल {} कहाँ है",
    "ja": "{}番目の荷物はどこですか",
    "ko": "내 소포 {} 어디에 있나요",
    "fa": "بستهٔ من {} کجاست می‌خواهم",
    "ru": "где моя посылка {} сейчас",
    "ta": "என் பார்சல் {} எங்கே இருக்கிறது",
    "te": "నా పార్శిల్ {} ఎక్కడ ఉంది",
    "th": "พัสดุของฉัน {} อยู่ที่ไหน",
    "tr": "kargom {} şimdi nerede",
    "uk": "де моя посилка {} зараз",
    "vi": "bưu kiện {} của tôi ở đâu",
}
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]


class OfBytes:
    """Equal texts but for case get nearly equal embeddings, as by an encoder without case."""

    fingerprint, dim = "of-bytes", 64

    def encode(self, texts: Sequence[str], told: object = None) -> FloatArray:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                place = int.from_bytes(word.encode()[:64], "big")
                row += np.random.default_rng(place).normal(size=self.dim)
        noise = np.random.default_rng(0).normal(size=rows.shape) * 1e-6
        rows += noise.astype(np.float32)
        unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


@pytest.fixture
def light(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Studio:
    """A project whose texts are embedded in no time."""

    class Opened:
        encoder = OfBytes()

    for module in (runs, splitting):
        monkeypatch.setattr(module, "open_space", lambda *_: Opened)
    idle = replace(studio, executor=Idle())
    create_project(idle, "pool")
    return idle


def grouped(studio: Studio, texts: Sequence[str], n_groups: int | None = None) -> GroupsView:
    path = studio.settings.folder / "pool.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    import_file(studio, ImportRequest("pool", path))
    job = start_grouping(studio, "pool", n_groups)
    assert do(studio, job.id).state == "succeeded"
    return list_groups(studio, "pool")


def in_capitals(count: int) -> Iterator[str]:
    """Yield one sentence with different letters in capitals."""
    text = "where is my parcel please"
    forms = product(*({letter, letter.upper()} for letter in text))
    return islice(map("".join, forms), count)


def equal_texts_are_one_group(studio: Studio, project: str, count: int) -> tuple[float, float]:
    """Group, open, split and take; return seconds of processor time of grouping and of taking."""
    path = studio.settings.folder / "equal.txt"
    path.write_text("".join(f"{text}\n" for text in in_capitals(count)), encoding="utf-8")
    import_file(studio, ImportRequest(project, path))
    job = start_grouping(studio, project)
    began = time.process_time()
    assert do(studio, job.id).state == "succeeded"
    grouping = time.process_time() - began
    [card] = list_groups(studio, project).groups
    assert (card.size, card.state) == (count, "open")
    assert card.name == "parcel please"
    with pytest.raises(InvalidInput, match="all the same to the model"):
        split_group(studio, project, card.id)
    group = open_group(studio, project, card.id)
    began = time.process_time()
    every = Taking("", "parcel", "all", frozenset(), count, group.revision, "key-of-all")
    assert take_group(studio, project, card.id, every).changed == count
    taking = time.process_time() - began
    [card] = list_groups(studio, project).groups
    assert (card.size, card.labelled, card.state) == (0, count, "done")
    return grouping, taking


def test_thousands_of_equal_texts_are_one_group(light: Studio) -> None:
    equal_texts_are_one_group(light, "pool", 1_000)


@pytest.mark.fire
def test_fifty_thousand_equal_texts_are_one_group(
    light: Studio, measured: Callable[[str, str], None]
) -> None:
    create_project(light, "tenth")
    tenth, _ = equal_texts_are_one_group(light, "tenth", 5_000)
    grouping, taking = equal_texts_are_one_group(light, "pool", 50_000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    measured(
        "equal",
        f"50,000 equal texts: {grouping:.1f} s of processor time to group them, {tenth:.1f} s for "
        f"a tenth of them, {taking:.1f} s to take them, {peak:,.0f} MiB at most.",
    )
    assert grouping < 25 * tenth  # ten times the texts; the square would be a hundred
    assert peak < 4_096


def readable(name: str) -> bool:
    """Whether a name is short, and begins each of its words with a letter, a digit or a quote."""
    words = name.split()
    return 0 < len(name) <= 80 and not any(unicodedata.combining(word[0]) for word in words)


def test_groups_of_twenty_languages_have_names_of_whole_words(light: Studio) -> None:
    texts = {
        language: [form.format(number) for number in NUMBERS] for language, form in PARCEL.items()
    }
    view = grouped(light, [one for some in texts.values() for one in some], 20)
    names = [card.name for card in view.groups]
    assert sum(card.size for card in view.groups) == 160
    assert len(set(names)) == len(names)
    assert all(readable(name) for name in names), names
    assert not any(name.startswith("without words") for name in names)
    said = {word for some in texts.values() for one in some for word in one.casefold().split()}
    for card in view.groups:
        shown = {one.text for one in open_group(light, "pool", card.id).typical}
        is_whole = all(word in said or word.isdigit() for word in card.name.split())
        assert is_whole or any(text.startswith(card.name) for text in shown), card.name


def test_long_texts_have_short_names(light: Studio) -> None:
    words = " ".join(f"the parcel of order {n} is late" for n in range(170))[:4_900]
    long = [f"{words} {number}" for number in NUMBERS]
    long += ["包裹在哪里" * 980 + number for number in NUMBERS]
    long += ["x" * 4_900 + f" {number}" for number in NUMBERS]
    view = grouped(light, long, 3)
    assert sum(card.size for card in view.groups) == len(long)
    for card in view.groups:
        assert readable(card.name), card.name
        assert len(card.description) < 200
        assert len(open_group(light, "pool", card.id).typical[0].text) > 4_900


def test_a_pool_of_one_text_is_a_group_that_can_be_taken(light: Studio) -> None:
    [card] = grouped(light, ["👍"]).groups
    assert (card.size, card.name) == (1, "👍")
    group = open_group(light, "pool", card.id)
    assert (group.core, len(group.typical), group.border) == (1, 1, ())
    with pytest.raises(InvalidInput, match="too few to split"):
        split_group(light, "pool", card.id)
    one = Taking("", "fine", "core", frozenset(), 1, group.revision, "key-of-one")
    assert take_group(light, "pool", card.id, one).changed == 1
    view = grouped(light, ["👍", *NUMBERS])  # the first was sorted in before, and stays
    assert view.ungrouped == 0
    assert next(one for one in view.groups if one.id == card.id).labelled == 1
