"""Which column of a table says what is for training and what for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from openpyxl import Workbook

from core.errors import InvalidInput
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions

HEAD = "Utterance,Intent"
Splits: TypeAlias = Callable[..., tuple[str, list[str | None]]]


@pytest.fixture
def splits(tmp_path: Path) -> Splits:
    """Return the column that a preview names, and the split of each row that is read."""

    def read(content: str, **options: str) -> tuple[str, list[str | None]]:
        path = tmp_path / "sheet.csv"
        path.write_text(content, encoding="utf-8")
        chosen = ReadOptions(**options)
        rows = [row for row in read_rows(path, chosen) if isinstance(row, ImportedRow)]
        return preview_file(path, chosen).split_column, [row.split for row in rows]

    return read


def sheet(name: str, *cells: str) -> str:
    rows = (f"how about wish {n},want {n % 2},{cell}\n" for n, cell in enumerate(cells))
    return f"{HEAD},{name}\n" + "".join(rows)


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("Set", ("train", "Test"), ["train", "test"]),
        ("DATASET", ("TRAINING", " testing "), ["train", "test"]),
        ("Data set", ("train", "pool"), ["train", "pool"]),
        ("subset", ("train", "eval"), ["train", "test"]),
        ("train/test split", ("held-out", "train"), ["test", "train"]),
        ("Type", ("train", "test"), ["train", "test"]),
        ("fold", ("train", "train"), ["train", "train"]),
        ("Verwendung", ("test", "train"), ["test", "train"]),
        ("Set", ("train", "", "test"), ["train", None, "test"]),
        ("Set", ("dev", "val", "test"), [None, None, "test"]),
    ],
)
def test_a_column_of_sets_is_known_by_its_cells_whatever_its_name(
    splits: Splits, name: str, cells: tuple[str, ...], expected: list[str | None]
) -> None:
    """1,110 rows that a team's sheet had under “Set” as tests became training texts."""
    assert splits(sheet(name, *cells)) == (name, expected)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Type", ("question", "test")),
        ("Set", ("summer", "winter")),
        ("fold", ("1", "2")),
        ("dataset", ("banking", "travel")),
        ("Status", ("valid", "valid")),
        ("Facility", ("pool", "pool")),
        ("Comment", ("", "")),
    ],
)
def test_a_name_alone_or_one_word_alone_is_not_enough(
    splits: Splits, name: str, cells: tuple[str, ...]
) -> None:
    assert splits(sheet(name, *cells)) == ("", [None] * 2)


def test_the_text_and_the_intent_are_never_the_set(splits: Splits) -> None:
    """Whoever asks to book a train may have an intent of that name."""
    assert splits("text,intent\ntrain,train\ntest,train\n") == ("", [None, None])
    content = "text,intent,set\na,train,dev\nb,train,train\n"
    assert splits(content, intent_column="set") == ("intent", ["train", "train"])
    assert splits(content) == ("set", [None, "train"])


def test_of_two_such_columns_the_one_with_a_fitting_name_is_taken(splits: Splits) -> None:
    content = f"{HEAD},Stage,Set\nwhere is it,a,test,train\nis it here,b,test,train\n"
    assert splits(content) == ("Set", ["train", "train"])
    both = f"{HEAD},Set,split\nwhere is it,a,test,train\n"
    assert splits(both) == ("split", ["train"])
    assert splits(both, split_column="Set") == ("Set", ["test"])
    assert splits(both, split_column="") == ("", [None])


def test_a_set_that_begins_after_many_empty_cells_is_read(splits: Splits) -> None:
    """The columns are found by the first 200 lines; only the tests may be marked, at the end."""
    name, found = splits(sheet("Set", *[""] * 300, "test"))
    assert (name, found[-2:]) == ("Set", [None, "test"])


def test_a_slip_in_a_set_is_refused_with_its_place_until_no_column_is_chosen(
    splits: Splits,
) -> None:
    content = sheet("Set", *["train"] * 30, "tset")
    with pytest.raises(InvalidInput) as refused:
        splits(content)
    assert refused.value.message.endswith("row 32, column 3 ('Set'): 'tset' is not a split.")
    assert "no column" in refused.value.hint
    assert splits(content, split_column="") == ("", [None] * 31)


def test_a_chosen_column_is_there_or_named_as_missing(splits: Splits) -> None:
    with pytest.raises(InvalidInput, match="no column 'Use' for the split"):
        splits(sheet("Set", "train", "test"), split_column="Use")
    bare = "where is my card,lost,x,train\nwhat is my pin,pin,y,test\n"
    chosen = {"text_column": "1", "intent_column": "2"}
    assert splits(bare, **chosen) == ("4", ["train", "test"])
    assert splits(bare, **chosen, split_column="") == ("", [None, None])
    two = "where is my card,train\nwhat is my pin,test\n"
    assert splits(two, split_column="2") == ("2", ["train", "test"])


def test_a_workbook_is_read_alike_and_validation_is_told(tmp_path: Path) -> None:
    book = Workbook()
    for row in (("text", "intent", "Set"), ("a", "x", "Train"), ("b", "x", "Dev"), ("c", "x", "")):
        book.active.append(row)
    book.save(tmp_path / "sheet.xlsx")
    assert preview_file(tmp_path / "sheet.xlsx", ReadOptions()).split_column == "Set"
    rows = [row for row in read_rows(tmp_path / "sheet.xlsx") if isinstance(row, ImportedRow)]
    assert [row.split for row in rows] == ["train", None, None]
    assert [row.validation for row in rows] == [False, True, False]


def test_a_key_of_jsonl_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "a", "set": "test"}\n{"text": "b", "split": "train"}\n')
    for column, expected in ((None, [None, "train"]), ("set", ["test", None]), ("", [None, None])):
        rows = read_rows(path, ReadOptions(split_column=column))
        assert [row.split for row in rows if isinstance(row, ImportedRow)] == expected
