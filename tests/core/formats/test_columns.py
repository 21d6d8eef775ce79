"""Guessing a table's header and columns from its cells."""

from pathlib import Path

import pytest
from openpyxl import Workbook

from core.formats.columns import names_columns, text_column
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions

SAID = ("where is my card", "I lost my phone abroad", "please close the account", "what is my PIN")
TABLE = [
    ["No", "Customer said", "Topic", "Agent"],
    *([str(n), text, f"Topic {n % 2}", "Ana"] for n, text in enumerate(SAID * 6)),
]


def test_a_workbook_with_headings_of_its_own_is_read_without_a_question(tmp_path: Path) -> None:
    """It was refused; with two numbers chosen, its headings became a text with an intent."""
    book = Workbook()
    for row in TABLE[:5]:
        book.active.append(row)
    book.save(tmp_path / "topics.xlsx")
    preview = preview_file(tmp_path / "topics.xlsx", ReadOptions())
    assert preview.header
    assert (preview.text_column, preview.intent_column) == ("Customer said", "Topic")
    rows = [row for row in read_rows(tmp_path / "topics.xlsx") if isinstance(row, ImportedRow)]
    assert [(row.text, row.intents) for row in rows] == [
        (text, (f"Topic {n % 2}",)) for n, text in enumerate(SAID)
    ]


def test_a_name_that_holds_the_word_topic_is_the_intents(tmp_path: Path) -> None:
    """Only "intent" and four other names were known: all labels were left out, without a word."""
    file = tmp_path / "checked.csv"
    file.write_text("message;right topic\nwhere is it;Lost card\n", encoding="utf-8")
    (row,) = read_rows(file)
    assert isinstance(row, ImportedRow)
    assert row.intents == ("Lost card",)
    (row,) = read_rows(file, ReadOptions(intent_column=""))
    assert isinstance(row, ImportedRow)
    assert row.intents is None


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (TABLE, True),
        ([["Kunde", "Anliegen"], *([text, f"a{n % 2}"] for n, text in enumerate(SAID * 6))], True),
        ([["Nr", "Satz"], ["1", "ja bitte"], ["2", "nein danke"]], True),
        # Rows like all others, although short:
        ([["pay now", "billing"], ["no wifi", "internet"], ["pay it", "billing"]], False),
        ([["my topic", "billing"], ["no wifi", "internet"], ["pay it", "billing"]], False),
        ([["text", "text"], ["a", "b"]], False),
        ([["1", "yes please"], ["2", "no thanks"]], False),
        ([["No", "Topic"]], False),
        ([["where is my nice new card", "Topic"], ["a", "b"]], False),
    ],
)
def test_a_first_row_is_taken_for_names_only_if_it_can_be_nothing_else(
    rows: list[list[str]], *, expected: bool
) -> None:
    assert names_columns(rows) is expected


def test_a_headed_table_without_a_clear_text_is_not_guessed() -> None:
    """Two columns of sentences may each be the text."""
    assert text_column([["q", "a"], ["where is it", "it is here"], ["who is", "i am"]]) is None
    ids = [f"id-{n:030d}" for n in range(4)]
    assert text_column([["key", "said"], *map(list, zip(ids, SAID, strict=True))]) == 1
    assert text_column([["said"], []]) is None
