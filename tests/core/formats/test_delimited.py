"""CSV and TSV: what is found out, what is kept as it is, and what is refused with its place."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions, RowProblem

Read = Callable[..., list[tuple[str, tuple[str, ...] | None]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(content: str | bytes, name: str = "file.csv", **options: object) -> list:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        rows = list(read_rows(path, ReadOptions(**options)))
        assert all(isinstance(row, ImportedRow) for row in rows), rows
        return [(row.text, row.intents) for row in rows]

    return read


@pytest.fixture
def refused(read: Read) -> Callable[..., str]:
    def refused(content: str | bytes, name: str = "file.csv", **options: object) -> str:
        with pytest.raises(InvalidInput) as caught:
            read(content, name, **options)
        assert caught.value.hint
        return caught.value.message.split(name, 1)[-1]

    return refused


CARD = [("hi, you", ("greet",)), ("card lost", ("card",))]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["text{}intent\n", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_header_and_line_ends_are_found(
    read: Read, delimiter: str, header: str, end: str
) -> None:
    rows = f'"hi, you"{delimiter}greet\n"card lost"{delimiter}card\n'
    content = (header.format(delimiter) + rows).replace("\n", end)
    assert read(content) == CARD


@pytest.mark.parametrize("text", ["text", "Utterance", " EXAMPLE ", "sentence", "query", "phrase"])
@pytest.mark.parametrize("intent", ["intent", "Label", "category", "class"])
def test_columns_are_known_by_their_usual_names(read: Read, text: str, intent: str) -> None:
    assert read(f"no,{intent},{text}\n1,greet,hello\n") == [("hello", ("greet",))]


def test_a_log_of_messages_does_not_begin_with_its_heading(read: Read) -> None:
    """A chat log's heading, `message`, was counted as a customer's text: 1,851 of 1,850."""
    assert read("message\nmy card is lost\n") == [("my card is lost", None)]


def test_the_only_column_is_the_text_whatever_its_name(read: Read) -> None:
    """Whoever said that the first row names the columns had to name the only one, too."""
    assert read("gesagt\nmy card is lost\n", header=True) == [("my card is lost", None)]
    assert read("gesagt\nmy card is lost\n")[0] == ("gesagt", None)


def test_columns_can_be_named_or_counted(read: Read) -> None:
    content = "Frage,Absicht,text\nhallo,gruss,x\n"
    assert read(content, text_column="frage", intent_column="Absicht") == [("hallo", ("gruss",))]
    plain = "7,hello,x,greet\n8,bye,x,part\n"
    found = read(plain, text_column="2", intent_column="4")
    assert found == [("hello", ("greet",)), ("bye", ("part",))]


def test_a_tab_file_is_known_by_its_ending(read: Read) -> None:
    assert read("a, b\tgreet\nc, d\tpart\n", "x.tsv") == [("a, b", ("greet",)), ("c, d", ("part",))]


@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_without_header_the_text_is_the_column_that_varies_more(
    read: Read, places: tuple[int, int]
) -> None:
    rows = [("hi", "a_rather_long_intent"), ("hello", "a_rather_long_intent"), ("bye", "part")]
    content = "".join(",".join(row[place] for place in places) + "\n" for row in rows)
    assert read(content) == [(text, (intent,)) for text, intent in rows]


def test_without_header_and_repeats_the_text_has_more_words(read: Read) -> None:
    assert read("card_lost,I lost my card\n") == [("I lost my card", ("card_lost",))]


def test_the_delimiter_is_not_a_comma_of_the_sentences(read: Read) -> None:
    assert read("Hello, I lost it;lost\n") == [("Hello, I lost it", ("lost",))]
    assert read("text;intent\na, b;x\nc;y\n") == [("a, b", ("x",)), ("c", ("y",))]


@pytest.mark.parametrize("word", ["NA", "null", "None", "nan", "007", "1e5", "TRUE", "-", "#N/A"])
def test_words_that_look_like_values_stay_texts(read: Read, word: str) -> None:
    assert read(f"text,intent\n{word},{word}\n") == [(word, (word,))]


def test_quoted_cells_span_lines_and_rows_know_where_they_begin(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('text,intent\n"a\nb ""c""\r\n",x\n\nd,y\n', newline="")
    found = [(row.line, row.text) for row in read_rows(path) if isinstance(row, ImportedRow)]
    assert found == [(2, 'a\nb "c"\r\n'), (6, "d")]


def test_several_intents_are_parted_only_when_the_options_say_so(read: Read) -> None:
    content = "text,intent\nhi,a| b|a\nyo,|\nho,\n"
    assert read(content) == [("hi", ("a| b|a",)), ("yo", ()), ("ho", None)]
    assert read(content, separator="|") == [("hi", ("a", "b")), ("yo", ()), ("ho", None)]
    assert read("text,intent\nhi,a;b\n", separator=";") == [("hi", ("a", "b"))]


def test_split_and_id_are_read_and_the_default_fills_the_gaps(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,text,split\n007,a,Test\n,b,\n")
    rows = list(read_rows(path, ReadOptions(default_split="pool")))
    assert rows == [
        ImportedRow("a", None, "test", "007", 2),
        ImportedRow("b", None, "pool", None, 3),
    ]


def test_empty_and_too_long_texts_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,intent\n ,a\n" + "x" * 5001 + ",b\n" + "y" * 5000 + ",c\n")
    empty, long, fine = read_rows(path)
    assert isinstance(empty, RowProblem)
    assert (empty.line, empty.kind) == (2, "empty")
    assert empty.message == f"{path}, row 2, column 1 ('text'): the text is empty."
    assert isinstance(long, RowProblem)
    assert (long.line, long.kind) == (3, "too-long")
    assert "5,001 characters" in long.message
    assert isinstance(fine, ImportedRow)
    assert fine.intents == ("c",)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "où est ma carte 🙂"),
        ("utf-8-sig", "où est ma carte 🙂"),
        ("utf-16", "où est ma carte 🙂"),
        ("utf-32", "où est ma carte 🙂"),
        ("cp1252", "où est ma carte à 5 €"),
        ("latin-1", "Wie hoch sind die Gebühren für Überweisungen"),
    ],
)
def test_the_encoding_is_found(read: Read, encoding: str, text: str) -> None:
    content = f"text,intent\n{text},carte\n".encode(encoding)
    assert read(content) == [(text, ("carte",))]


def test_accents_after_a_megabyte_of_ascii_are_still_found(read: Read) -> None:
    content = "text,intent\n" + "I lost my card,card\n" * 60_000 + "déjà payé à Orléans,pay\n"
    assert read(content.encode("cp1252"))[-1] == ("déjà payé à Orléans", ("pay",))


@pytest.mark.parametrize("encoding", ["shift_jis", "cp1251"])
def test_other_encodings_are_not_guessed_but_can_be_named(
    read: Read, refused: Callable[..., str], encoding: str
) -> None:
    text = {"shift_jis": "カードを紛失しました", "cp1251": "Я потерял карту и хочу новую"}[encoding]
    content = (f"text,intent\n{text},card\n" * 3).encode(encoding)
    assert "older encoding" in refused(content)
    assert read(content, encoding=encoding, header=True)[0] == (text, ("card",))


def test_a_damaged_byte_names_row_and_column(refused: Callable[..., str]) -> None:
    content = "text,intent\ncafé à la carte,a\nb,déj".encode() + b"\xff,\n"
    assert refused(content).startswith(", row 3, column 2 ('intent'): the byte 0xFF")


def test_a_column_that_is_chosen_by_its_damaged_name_is_told_as_damaged(
    refused: Callable[..., str],
) -> None:
    """The preview shows U+FFFD in the place of the byte, and no column has that name."""
    content = b"text,art" + b"\xff" + ",id\ncafé naïve zoë,a,1\n".encode()
    for chosen in ("text_column", "intent_column"):
        message = refused(content, **{chosen: "art\ufffd"})
        assert message.startswith(", row 1: the byte 0xFF does not fit")


def test_a_nul_names_row_and_column(refused: Callable[..., str]) -> None:
    assert refused('text,intent\na,b\n"c\nd",e\0\n') == (
        ", row 3, column 2 ('intent'): a NUL character."
    )


@pytest.mark.parametrize(
    ("quote", "piece"), [("", "x"), ('"', "x"), ('"', "word and\n"), ('"', 'a ""b"" ')]
)
def test_a_ten_megabyte_cell_names_row_and_column(
    refused: Callable[..., str], quote: str, piece: str
) -> None:
    cell = quote + piece * (10_000_000 // len(piece)) + quote
    message = refused(f"id,text,intent\n1,hello,greet\n2,{cell},greet\n")
    assert message == ", row 3, column 2 ('text'): a cell of more than 100,000 characters."


@pytest.mark.parametrize("size", [100_001, 140_000])
def test_cells_between_the_limits_are_refused_and_the_module_limit_is_left_alone(
    refused: Callable[..., str], size: int
) -> None:
    before = csv.field_size_limit()
    message = refused("text,intent\na,b\n" + "x" * size + ",c\n")
    assert message == ", row 3, column 1 ('text'): a cell of more than 100,000 characters."
    assert csv.field_size_limit() == before == 131_072


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            'b,"never closed\nd,e\n',
            "row 3, column 2 ('intent'): a quote is opened and never closed",
        ),
        ('"b" said he,c\n', "row 3, column 1 ('text'): there is text after the closing quote"),
        ("b, c,d\n", "row 3, column 3: the row has 3 columns, the others have 2"),
    ],
)
def test_rows_that_do_not_fit_together_are_refused_with_their_place(
    refused: Callable[..., str], row: str, said: str
) -> None:
    assert said in refused("text,intent\na,b\n" + row)


def test_empty_cells_after_the_last_column_are_passed_over(read: Read) -> None:
    assert read("text,intent\na,b,,\n") == [("a", ("b",))]


def test_a_row_too_short_for_its_text_is_refused(refused: Callable[..., str]) -> None:
    assert "row 3, column 2 ('text'): the text is missing" in refused("intent,text\na,b\nc\n")


def test_quotes_of_an_unquoted_tab_file_are_characters(read: Read) -> None:
    content = '"Hi" she said\tgreet\n"never closed\tx\n5" card\ty\n'
    assert [text for text, _ in read(content, "x.tsv")] == [
        '"Hi" she said',
        '"never closed',
        '5" card',
    ]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("frage,intent\na,b\n", {}, "no column 'text' for the text; the columns are 'frage'"),
        ("a,b,c\nd,e,f\n", {}, "3 columns, and none of them is named text"),
        ("text,intent\na,b\n", {"text_column": "Frage"}, "no column 'Frage' for the text"),
        ("text,intent\na,b\n", {"intent_column": "Ziel"}, "no column 'Ziel' for the intent"),
        ("a,b\nc,d\n", {"text_column": "3"}, "there is no column 3; the row has 2"),
        *(
            ("a,b\nc,d\n", {name: "9" * 5_000}, "there is no column 999")
            for name in ("text_column", "intent_column", "split_column")
        ),
        ("foo,bar\na,b\n", {"header": True}, "no column 'text' for the text"),
        ("text,text\na,b\n", {}, "2 columns are named 'text'"),
    ],
)
def test_a_missing_column_is_named(
    refused: Callable[..., str], content: str, options: dict, said: str
) -> None:
    message = refused(content, **options)
    assert message.startswith(", row 1")
    assert said in message
    assert len(message) < 200


def test_a_split_that_is_none_is_refused(refused: Callable[..., str]) -> None:
    assert refused("text,split\na,old\n") == ", row 2, column 2 ('split'): 'old' is not a split."


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ",,"},
        {"delimiter": "\n"},
        {"delimiter": ""},
        {"separator": ""},
        {"encoding": "klingon"},
        {"encoding": "hex"},
    ],
)
def test_impossible_options_are_refused(read: Read, options: dict) -> None:
    with pytest.raises(InvalidInput):
        read("text,intent\na,b\n", **options)


def test_a_first_row_that_is_a_known_word_can_be_declared_data(read: Read) -> None:
    assert read("text,greet\nhello,greet\n", header=False)[0] == ("text", ("greet",))


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\n\n"])
def test_blank_lines_before_the_header_are_no_header(read: Read, blank: str) -> None:
    """The names of the columns became an example: the text “text” with the label “intent”."""
    assert read(f"{blank}text,intent\nhello,greet\n") == [("hello", ("greet",))]


@pytest.mark.parametrize(
    ("asked", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")]
)
def test_a_byte_order_mark_is_no_text_in_an_encoding_that_is_named(
    read: Read, asked: str, mark: bytes
) -> None:
    """The first column was called “\\ufefftext”, so that it was guessed, or not found."""
    content = mark + "text,intent\nhello,greet\n".encode(asked)
    assert read(content, encoding=asked) == [("hello", ("greet",))]
