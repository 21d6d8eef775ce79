from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats.preview import FilePreview, preview_file
from core.formats.rows import ReadOptions


@pytest.fixture
def look(tmp_path: Path):
    def shown(content: str | bytes, name: str = "f.csv", **options) -> FilePreview:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        return preview_file(path, ReadOptions(**options))

    return shown


def test_a_header_names_the_columns(look) -> None:
    found = look("id,text,intent\n1,hello there,greeting\n2,bye,\n")
    assert found == FilePreview(
        "csv",
        ("id", "text", "intent"),
        (("1", "hello there", "greeting"), ("2", "bye", "")),
        "text",
        "intent",
        header=True,
    )


def test_without_a_header_columns_are_numbers(look) -> None:
    found = look("hello there,greeting\ngood morning to you,greeting\n")
    assert (found.columns, found.text_column, found.intent_column) == (("1", "2"), "1", "2")
    assert found.rows[0] == ("hello there", "greeting")
    assert not found.header
    swapped = look("a b c,x\nd e f,x\n", text_column="2", intent_column="1")
    assert (swapped.text_column, swapped.intent_column) == ("2", "1")


def test_a_person_may_say_that_the_first_row_names_the_columns(look) -> None:
    content = "frage;art\nwo ist es;das paket\n"
    unsaid = look(content)
    assert (unsaid.header, len(unsaid.rows)) == (False, 2)
    said = look(content, header=True)
    assert (said.header, said.columns, said.rows) == (
        True,
        ("frage", "art"),
        (("wo ist es", "das paket"),),
    )
    assert (said.text_column, said.intent_column) == ("", "")
    chosen = look(content, header=True, text_column="frage", intent_column="art")
    assert (chosen.text_column, chosen.intent_column) == ("frage", "art")


def test_where_no_column_is_clear_the_person_chooses(look) -> None:
    for content in ("a,b,c\nd,e,f\n", "text,text,intent\nd,e,f\n"):
        found = look(content)
        assert (found.text_column, found.intent_column) == ("", "")
        assert len(found.columns) == 3
    assert look("a,b\nc,d\n", text_column="9").text_column == ""
    assert look("a,b\nc,d\n", text_column="\u00b2").text_column == ""  # a digit, yet no number


def test_only_the_beginning_is_shown(look) -> None:
    found = look("text\n" + "x" * 500 + "\n" + "row\n" * 1_000)
    assert len(found.rows) == 8
    assert found.rows[0] == ("x" * 200,)


def test_lines_and_objects_are_shown_as_text_and_intent(look) -> None:
    plain = look("one line\nanother\n", "f.txt")
    assert (plain.format, plain.rows) == ("text", (("one line", ""), ("another", "")))
    lines = look('{"text": "hi", "intent": ["a", "b"]}\n{"text": ""}\n{"text": "c"}\n', "f.jsonl")
    assert (lines.format, lines.rows) == ("jsonl", (("hi", "a, b"), ("c", "")))
    assert (lines.text_column, lines.intent_column) == ("text", "intent")


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n\0\0", b"\0" * 100])
def test_what_is_no_text_is_refused(look, content: bytes) -> None:
    with pytest.raises(InvalidInput):
        look(content)


def test_a_damaged_byte_is_shown_as_a_sign_that_can_be_sent(look) -> None:
    """The page could not be told of the file, nor which row to mend."""
    content = "text,art\xff\ncafé naïve zoë,a\nbad \xff byte,b\n".encode()
    found = look(content.replace("\xff".encode(), b"\xff"))
    assert found.columns == ("text", "art\ufffd")
    assert found.rows == (("café naïve zoë", "a"), ("bad \ufffd byte", "b"))
