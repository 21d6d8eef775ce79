"""The matrix in the documents says what each format has a place for, and each does what it says."""

import re
from pathlib import Path

import pytest

from core.exports.content import Content, Expectation, FormatPlaces
from core.exports.targets import TARGETS, Target, hand_over
from core.formats.rows import ImportedRow
from core.templates.slots import Slot

_PAGE = Path(__file__).parents[3] / "docs" / "topics" / "platforms.md"
_BINARY = ("datasets", "parquet", "xlsx")
_WRITTEN = [name for name, one in TARGETS.items() if not one.tests]
_COLUMNS = (
    *("several intents", "unlabelled", "out of scope", "splits", "marked values"),
    *("values, synonyms", "descriptions", "languages", "pins"),
)


def _matrix() -> dict[str, dict[str, bool]]:
    """Return whether a cell of the table says more than “no”, by format and column."""
    text = _PAGE.read_text(encoding="utf-8")
    found: dict[str, dict[str, bool]] = {}
    for line in text[text.index("| format | several intents") :].splitlines()[2:]:
        if not line.startswith("| `"):
            break
        first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for name in re.findall(r"`([\w-]+)`", first):
            found[name] = {
                column: cell != "no" for column, cell in zip(_COLUMNS, cells, strict=True)
            }
    return found


def _told(places: FormatPlaces) -> dict[str, bool]:
    return {
        "several intents": places.several,
        "unlabelled": places.unlabelled,
        "out of scope": places.out_of_scope,
        "splits": bool(places.splits),
        "marked values": places.marks,
        "values, synonyms": places.values,
        "descriptions": places.descriptions,
        "languages": places.languages,
        "pins": places.pins,
    }


def test_the_page_says_of_each_format_what_it_has_a_place_for() -> None:
    matrix = _matrix()
    assert matrix.keys() == TARGETS.keys()
    assert {name: matrix[name] for name in _WRITTEN} == {
        name: _told(TARGETS[name].places) for name in _WRITTEN
    }


@pytest.mark.parametrize("target", [name for name in _WRITTEN if name not in _BINARY])
def test_what_has_a_place_is_in_the_files_and_what_has_none_is_told(target: Target) -> None:
    rows = [
        ImportedRow("fly to Boston", ("book",), "train", "u1", slots=(Slot(7, 13, "city"),)),
        ImportedRow("flieg heim", ("book",), "train", "u2", language="de"),
        ImportedRow("who won", (), "train", "u3"),
        ImportedRow("not yet", None, "pool", "u4"),
        ImportedRow("both", ("book", "pay"), "train", "u5"),
    ]
    content = Content(
        name="shop",
        language="en",
        intents={"book": "about booking", "pay": ""},
        rows=rows,
        values={"food": {"apple": ("pome",)}},
        pins=[Expectation("fly me home", ("book",))],
    )
    places = TARGETS[target].places
    found = hand_over(content, target)
    files = "\n".join([*found.files, *(one.decode() for one in found.files.values())])
    marks = "city" in files
    told = {one.what for one in found.losses} | {one.what for one in found.left_out}
    for has_place, sign, loss in (
        (places.descriptions, "about booking" in files, "descriptions of intents"),
        (places.values, "pome" in files, "synonyms of values"),
        (places.pins, "fly me home" in files, "pins, which the formats of tests write"),
        (places.marks, marks, "marked values: written as plain words"),
        (places.out_of_scope, "who won" in files, "texts out of scope"),
        (places.unlabelled, "not yet" in files, "texts without a label"),
        (places.several, '"both"' in files or "- both" in files, "texts of several intents"),
    ):
        assert sign == has_place, (target, loss)
        assert (loss in told) == (not has_place), (target, loss)
    assert ("languages of texts" in told) == (not places.languages)
    assert bool(re.search(r"\bde(_DE)?\b", files)) == places.languages
