"""Excel workbooks and Parquet files: read as CSV is, by their content, and never beyond limits."""

import datetime
import json
import time
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InvalidInput
from core.formats import parquet, workbooks
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions, RowProblem


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def read(path: Path, **options) -> list[tuple[str, tuple[str, ...] | None]]:
    rows = read_rows(path, ReadOptions(**options))
    return [(row.text, row.intents) for row in rows if isinstance(row, ImportedRow)]


def repacked(source: Path, target: Path, **parts: bytes) -> Path:
    """Copy a workbook with some of its parts replaced, by the end of their names."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w", 8) as after:
        for name in before.namelist():
            new = next((parts[key] for key in parts if name.endswith(f"{key}.xml")), None)
            after.writestr(name, before.read(name) if new is None else new)
    return target


def sharing(folder: Path, strings: bytes, *, n_cells: int) -> Path:
    """Write a workbook of shared strings: the first in A1, the second in each cell of row 2."""
    made = workbook(folder / "made.xlsx", A=[["text"]])
    said = b"".join(b'<c r="%c2" t="s"><v>1</v></c>' % (65 + column) for column in range(n_cells))
    rows = b'<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2">' + said + b"</row>"
    world = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = b"<worksheet " + world + b"><sheetData>" + rows + b"</sheetData></worksheet>"
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    part = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'
    with zipfile.ZipFile(made) as before:
        types = before.read("[Content_Types].xml").replace(b"</Types>", part)
    path = repacked(made, folder / "x.xlsx", **{"sheet1": sheet, "[Content_Types]": types})
    with zipfile.ZipFile(path, "a", 8) as after:
        after.writestr("xl/sharedStrings.xml", b"<sst " + world + b">" + strings + b"</sst>")
    return path


@pytest.mark.parametrize("name", ["data.xlsx", "data.csv", "data", "data.txt"])
def test_a_workbook_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = workbook(tmp_path / "made.xlsx", A=[["text", "intent"], ["hello", "greet"]])
    path.rename(tmp_path / name)
    assert read(tmp_path / name) == [("hello", ("greet",))]


def test_text_named_as_a_workbook_is_read_as_text(tmp_path: Path) -> None:
    for name in ("x.xlsx", "x.parquet"):
        (tmp_path / name).write_text("text,intent\nhello,greet\n")
        assert read(tmp_path / name) == [("hello", ("greet",))]


def test_cells_are_written_as_people_see_them(tmp_path: Path) -> None:
    day = datetime.date(2026, 3, 1)
    rows = [["text", "intent"], [7, 1.0], [1.5, True], [day, None], ["NA", "null"], [None, "x"]]
    path = workbook(tmp_path / "x.xlsx", A=rows)
    assert read(path) == [
        ("7", ("1",)),
        ("1.5", ("TRUE",)),
        ("2026-03-01", None),
        ("NA", ("null",)),
    ]
    assert [p.line for p in read_rows(path) if isinstance(p, RowProblem)] == [6]


def test_a_line_break_of_another_system_is_a_line_break(tmp_path: Path) -> None:
    """Workbooks write a carriage return in letters: “Hello_x000D_” was what the model learned."""
    rows = [["text", "intent"], ["Hello_x000D_\nthere", "greet"], ["x000D", "greet"]]
    path = workbook(tmp_path / "x.xlsx", A=rows)
    assert [text.split() for text, _ in read(path)] == [["Hello", "there"], ["x000D"]]


def test_a_formula_counts_by_the_value_stored_beside_it(tmp_path: Path) -> None:
    made = workbook(tmp_path / "x.xlsx", A=[["text"], ["=1+1"], ["kept"]])
    assert read(made) == [("kept", None)]  # no value is stored, and nothing is computed
    sheet = zipfile.ZipFile(made).read("xl/worksheets/sheet1.xml")
    sheet = sheet.replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>")
    stored = repacked(made, tmp_path / "y.xlsx", sheet1=sheet)
    assert read(stored) == [("2", None), ("kept", None)]


def test_the_first_sheet_with_rows_is_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    rows = {name: [["text"], [f"from {name}"]] for name in ("One", "Two")}
    path = workbook(tmp_path / "x.xlsx", Empty=[], **rows)
    assert read(path) == [("from One", None)]
    assert read(path, sheet="Two") == [("from Two", None)]
    shown = preview_file(path, ReadOptions(sheet="Two"))
    assert (shown.format, shown.sheets, shown.sheet) == ("xlsx", ("Empty", "One", "Two"), "Two")
    assert (shown.columns, shown.rows, shown.header) == (("text",), (("from Two",),), True)
    with pytest.raises(InvalidInput, match="no sheet 'Three'"):
        read(path, sheet="Three")
    with pytest.raises(InvalidInput, match="no rows"):
        read(workbook(tmp_path / "none.xlsx", Empty=[]))


def test_blank_rows_and_cells_of_a_sheet_do_no_harm(tmp_path: Path) -> None:
    rows = [[None], ["text", "intent", "note"], [None, None], ["a", "x"], ["b"], ["c", None, "n"]]
    path = workbook(tmp_path / "x.xlsx", A=rows)
    assert read(path) == [("a", ("x",)), ("b", None), ("c", None)]
    assert read(path, intent_column="") == [("a", None), ("b", None), ("c", None)]
    assert [row.line for row in read_rows(path)] == [4, 5, 6]


def test_more_rows_than_are_read_are_refused_in_words(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_ROWS", 3)
    path = workbook(tmp_path / "x.xlsx", A=[["text"], ["a"], ["b"], ["c"]])
    with pytest.raises(InvalidInput, match="more than 3 rows") as refused:
        read(path)
    assert "CSV" in refused.value.hint


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"
BOMBS = {
    "a row of a million cells": (SHEET + b"<row>" + b"<c/>" * 1_000_000 + b"</row>" + END, "a row"),
    "hidden by a comment": (SHEET + b"<!--<row-->" + END, "no workbook that Excel"),
    "entities": (b'<!DOCTYPE a [<!ENTITY b "c">]>' + SHEET + END, "no workbook that Excel"),
    "UTF-16": ((SHEET + END).decode().encode("utf-16"), "no workbook that Excel"),
    "row of another world": (SHEET + b'<row r="99999999999"><c r="A9"/></row>' + END, "rows"),
    "not XML": (SHEET + b"<row><c r='A1' t='inlineStr'><is><t>a</t>", "cannot be read as an Excel"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_hostile_sheet_is_refused_before_it_fills_the_memory(tmp_path: Path, kind: str) -> None:
    made = workbook(tmp_path / "made.xlsx", A=[["text"], ["a"]])
    content, said = BOMBS[kind]
    bomb = repacked(made, tmp_path / "bomb.xlsx", sheet1=content)
    began = time.process_time()
    with pytest.raises(InvalidInput, match=said) as refused:
        read(bomb)
    assert refused.value.hint
    assert time.process_time() - began < 15  # a million skipped rows of 100 cells took 46 seconds


def test_a_zip_bomb_is_refused_by_what_it_would_unpack_to(tmp_path: Path, monkeypatch) -> None:
    made = workbook(tmp_path / "made.xlsx", A=[["text"], ["a"]])
    monkeypatch.setattr(workbooks, "_MOST_UNPACKED", 5_000_000)
    bomb = repacked(made, tmp_path / "bomb.xlsx", sheet1=b" " * (6 << 20))
    assert bomb.stat().st_size < 50_000
    with pytest.raises(InvalidInput, match="unpacks to more than 5 MB"):
        read(bomb)


@pytest.mark.parametrize(
    ("n_signs", "said"),
    [
        (110_000, "row 2, column 1: a cell of more than 100,000 characters"),
        (95_000, "row 2: a row of more than 1,000,000 characters"),
    ],
)
def test_a_long_text_that_many_cells_share_is_refused(tmp_path: Path, n_signs, said) -> None:
    """Each cell got a copy of its own: 250 KB took 40 GB as soon as the file was shown."""
    run = b"<r><t>" + b"a" * (n_signs // 10) + b"_x000D_</t></r>"
    path = sharing(tmp_path, b"<si><t>text</t></si><si>" + run * 10 + b"</si>", n_cells=12)
    for reading in (read, lambda path: preview_file(path, ReadOptions())):
        with pytest.raises(InvalidInput, match=said):
            reading(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_part_of_a_file_is_refused_in_words(tmp_path: Path, share: float) -> None:
    made = workbook(tmp_path / "made.xlsx", A=[["text"], ["a"]])
    table = tmp_path / "made.parquet"
    pq.write_table(pa.table({"text": ["a"] * 1000}), table)
    for source in (made, table):
        half = tmp_path / "half"
        half.write_bytes(source.read_bytes()[: int(share * source.stat().st_size)])
        with pytest.raises(InvalidInput):
            read(half)


def test_another_zip_is_no_workbook(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(InvalidInput, match="a ZIP archive"):
        read(tmp_path / "x.xlsx")


def test_parquet_is_read_with_its_lists_and_the_names_of_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["a", "b", "c"], "intents": [["x", "y"], [], None]}), path)
    assert read(path) == [("a", ("x", "y")), ("b", ()), ("c", None)]
    shown = preview_file(path, ReadOptions())
    assert (shown.format, shown.columns, shown.rows[0]) == (
        "parquet",
        ("text", "intents"),
        ("a", "x|y"),
    )
    features = {"label": {"names": ["card_lost", "top_up"], "_type": "ClassLabel"}}
    table = pa.table({"text": ["a", "b", "c"], "label": [1, 0, -1]})
    noted = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    pq.write_table(table.replace_schema_metadata(noted), tmp_path / "data.csv")
    rows = read(tmp_path / "data.csv")
    assert rows == [("a", ("top_up",)), ("b", ("card_lost",)), ("c", None)]


def test_a_parquet_file_with_too_much_in_it_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(
        pa.table(
            {"text": ["x" * 60_000] * 100},
        ),
        path,
        use_dictionary=False,
    )
    for name, value, said in (("MOST_ROWS", 99, "99 rows"), ("_MOST_UNPACKED", 1_000_000, "1 MB")):
        with monkeypatch.context() as patch:
            patch.setattr(parquet, name, value)
            with pytest.raises(InvalidInput, match=said):
                read(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_long_text_of_a_dictionary_is_written_out_for_few_rows(
    tmp_path: Path, monkeypatch, ending: str
) -> None:
    """All rows were written out at once: a file of some KB took 25 GB as soon as it was shown."""
    path = tmp_path / f"x.{ending}"
    texts = pa.array(["x" * 200_000] * 256)
    table = pa.table({"text": texts if ending == "parquet" else texts.dictionary_encode()})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as out:
            out.write_table(table)
    assert path.stat().st_size < 1_000_000
    monkeypatch.setattr(parquet, "_MOST_UNPACKED", 2_000_000)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"row 1.*: a cell of more than 100,000 characters"):
        preview_file(path, ReadOptions()) if ending == "parquet" else read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_row_that_refers_to_a_long_text_often_is_refused_unwritten(
    tmp_path: Path, ending: str
) -> None:
    """Each reference became a text of its own, however many there were, before it was refused."""
    path, text = tmp_path / f"x.{ending}", "x" * 90_000
    said = pa.array(["a", *[text] * 400])
    said = said if ending == "parquet" else said.dictionary_encode()
    listed = pa.ListArray.from_arrays([0, 1, 401], said)
    table = pa.table({"text": ["hello", "bye"], "intents": listed})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as out:
            out.write_table(table)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=r"row 2: a row of more than 1,000,000 characters"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_texts_of_lists_and_parts_of_records_are_measured_as_they_are_written() -> None:
    names = pa.array(["ab", "ü", None]).dictionary_encode()
    keys = pa.array([[("key", 7)], [("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int64()))
    for values, size in (
        (names, 4),
        (names.slice(1), 2),
        (pa.array([["abc", "d"], None, []]), 4),
        (pa.array([[["ab"], ["c", None]]]), 3),
        (pa.array([{"text": "hello", "n": 1}, {"text": "a", "n": None}]), 8),
        (pa.array([["ab", "c"], None], pa.list_(pa.string(), 2)), 3),
        (keys, 8),
        (keys.slice(1), 4),
        (keys.slice(2), 0),
        (pa.array([1, 2, None]), 3),
        (pa.array([], pa.string()), 0),
    ):
        assert parquet._written_size(values) == size, values.type


def test_a_table_without_a_clear_text_column_is_shown_for_the_person_to_choose(tmp_path) -> None:
    path = workbook(tmp_path / "x.xlsx", A=[["a", "b", "c"], ["d", "e", "f"]])
    shown = preview_file(path, ReadOptions())
    assert (shown.columns, shown.text_column, shown.header) == (("1", "2", "3"), "", False)
    assert read(path, text_column="2", intent_column="3") == [("b", ("c",)), ("e", ("f",))]


def test_a_column_that_is_not_asked_for_leaves_every_row_unlabelled(tmp_path: Path) -> None:
    for name, content in {
        "x.csv": "text,intent\nhello,greet\n",
        "y.csv": "hello there,greet\ngood bye now,part\n",
        "x.jsonl": '{"text": "hello", "intent": "greet"}\n',
        "x.yml": "nlu:\n- intent: greet\n  examples: |\n    - hello\n",
    }.items():
        (tmp_path / name).write_text(content)
        rows = read(tmp_path / name, intent_column="")
        assert rows
        assert {intents for _, intents in rows} == {None}
        assert preview_file(tmp_path / name, ReadOptions(intent_column="")).intent_column == ""


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (pa.array([10_000_000], pa.int32()), pa.date32()),
        (pa.array([10**12], pa.int64()), pa.timestamp("s")),
        (pa.array([0], pa.int64()), pa.timestamp("s", tz="Nowhere/Land")),
    ],
    ids=["a day", "a time", "a zone"],
)
def test_a_date_that_no_calendar_has_is_refused_in_words(
    tmp_path: Path, number: pa.Array, kind: pa.DataType, ending: str
) -> None:
    """A date after the year 9999, or in a zone that nobody knows, broke the upload."""
    path = tmp_path / f"x.{ending}"
    table = pa.table({"text": ["hi there"], "at": number.cast(kind)})
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as out:
            out.write_table(table)
    with pytest.raises(InvalidInput, match=r"cannot be read as (a Parquet file|Arrow)"):
        read(path)


def test_the_name_of_a_label_with_half_of_a_character_is_refused(tmp_path: Path) -> None:
    """It came from beside the rows, unchecked, and the import ended in an incident."""
    features = {"label": {"names": ["top_up", "\ud800"], "_type": "ClassLabel"}}
    noted = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    table = pa.table({"text": ["hi there", "good day"], "label": [0, 1]})
    path = tmp_path / "x.parquet"
    pq.write_table(table.replace_schema_metadata(noted), path)
    with pytest.raises(InvalidInput, match="row 2, column 2: half of a character"):
        read(path)
