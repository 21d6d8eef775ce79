"""JSONL: keys, labels and what is refused."""

import json
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions, RowProblem
from core.templates.slots import Slot


def read(path: Path, content: str | bytes, **options: object) -> list[ImportedRow | RowProblem]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_rows(path, ReadOptions(**options)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


@pytest.mark.parametrize(
    ("label", "intents"),
    [
        ('"intent": "a"', ("a",)),
        ('"intents": ["a", " b", "a"]', ("a", "b")),
        ('"intents": []', ()),
        ('"intent": null', None),
        ('"intent": ""', None),
        ('"label": 7', ("7",)),
        ('"intent": "a|b"', ("a|b",)),
        ('"slots": [{"start": 1}]', None),
    ],
)
def test_labels_are_read_in_their_usual_shapes(
    path: Path, label: str, intents: tuple[str, ...] | None
) -> None:
    assert read(path, f'{{"text": "NA", {label}}}\n') == [ImportedRow("NA", intents, line=1)]


def test_split_id_and_mapped_keys_are_read_and_blank_lines_passed_over(path: Path) -> None:
    content = '\n{"frage": "a", "ziel": "x|y", "split": "TEST", "id": 7}\n\n{"frage": "b"}'
    rows = read(
        path, content, text_column="frage", intent_column="ziel", separator="|",
        default_split="train",
    )  # fmt: skip
    assert rows == [
        ImportedRow("a", ("x", "y"), "test", "7", 2),
        ImportedRow("b", None, "train", None, 4),
    ]


_UNFIT = (" ", "x" * 5_001, "x" * 200_000)


def test_empty_and_too_long_texts_are_reported(path: Path) -> None:
    rows = read(path, "\n".join(json.dumps({"text": text}) for text in _UNFIT))
    assert [(row.line, row.kind) for row in rows if isinstance(row, RowProblem)] == [
        (1, "empty"),
        (2, "too-long"),
        (3, "too-long"),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "b"', "row 2: not JSON"),
        ("[1]", "row 2: not a JSON object"),
        ('{"text": 7}', "row 2, column 'text': 7 is not a text"),
        ('{"text": null}', "row 2, column 'text': there is no text"),
        ('{"intent": "a"}', "row 2, column 'text': there is no text"),
        ('{"text": "a", "intent": {"name": "x"}}', "row 2, column 'intent': neither a name"),
        ('{"text": "a", "intents": [1.5]}', "row 2, column 'intents': neither a name"),
        ('{"text": "a", "id": [1]}', "row 2, column 'id': neither a text nor a number"),
        ('{"text": "a", "split": "old"}', "row 2, column 'split': 'old' is not a split"),
        ('{"text": "a\\u0000"}', "row 2, column 'text': a NUL character, at character 2"),
        ('{"text": "a\\ud83d"}', "row 2, column 'text': half of a character"),
        ('{"text": "a", "intent": "b\0"}', "row 2, column 'intent': a NUL character"),
        ("[" * 100_000, "row 2: JSON that cannot be read"),
        ('{"text": "a", "id": ' + "1" * 5000 + "}", "row 2: JSON that cannot be read"),
        ('{"id": 1, "text": "' + "x" * 10_000_000 + '"}', "row 2, column 'text': a cell of more"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_with_its_place(
    path: Path, line: str, said: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(path, '{"text": "a"}\n' + line + "\n")
    assert said in caught.value.message
    assert caught.value.hint


def test_a_damaged_byte_names_row_and_column(path: Path) -> None:
    with pytest.raises(InvalidInput, match="row 1, column 'text': the byte 0xC3"):
        read(path, '{"id": "é", "text": "é'.encode() + b'\xc3"}\n')


def test_lines_of_the_public_sets_are_read_as_they_are(path: Path) -> None:
    """ATIS, SNIPS and NLU++ have such lines; slots that nobody asked for are passed over."""
    slot = {"slot": "to", "value": "Rome", "start": 7, "end": 11}
    lines = [
        {"text": "fly to Rome", "intents": ["flight"], "slots": [slot]},
        {"text": "when may I withdraw it?", "intents": ["withdrawal", "how_long"]},
    ]
    assert read(path, "".join(f"{json.dumps(line)}\n" for line in lines)) == [
        ImportedRow("fly to Rome", ("flight",), line=1),
        ImportedRow("when may I withdraw it?", ("withdrawal", "how_long"), line=2),
    ]


def test_slots_are_read_where_they_are_asked_for(path: Path) -> None:
    slots = [
        {"slot": "to", "value": "Rome", "start": 12, "end": 16},
        {"slot": "from", "start": 4, "end": 8},
    ]
    path.write_text(json.dumps({"text": "fly Oslo to Rome", "slots": slots}), encoding="utf-8")
    found = list(read_rows(path, ReadOptions(slots=True)))
    assert found == [
        ImportedRow("fly Oslo to Rome", line=1, slots=(Slot(4, 8, "from"), Slot(12, 16, "to")))
    ]
    assert list(read_rows(path)) == [ImportedRow("fly Oslo to Rome", line=1)]


@pytest.mark.parametrize(
    ("slots", "says"),
    [
        ("all", "no list of slots"),
        (["to"], "to is no slot"),
        ([{"slot": "to", "start": "4", "end": 8}], "is no slot"),
        ([{"slot": "to", "start": True, "end": 8}], "is no slot"),
        ([{"slot": "to", "start": 4, "end": 99}], "holds no words"),
    ],
)
def test_slots_that_cannot_be_are_refused_with_their_row(path: Path, slots, says: str) -> None:
    path.write_text(json.dumps({"text": "fly Oslo", "slots": slots}), encoding="utf-8")
    with pytest.raises(InvalidInput, match=f"slots.*{says}"):
        list(read_rows(path, ReadOptions(slots=True)))


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ('{"\\ud800": "x"}', {"text_column": "foo"}),
        (
            '{"text": "hi", "slots": [{"slot": "a", "start": 0, "end": 2, "value": "\\ud800"}]}',
            {"slots": True},
        ),
    ],
    ids=["the name of a key", "a value"],
)
def test_a_refusal_that_quotes_half_of_a_character_can_be_sent(
    path: Path, content: str, options: dict
) -> None:
    """The words of the refusal could be written into no answer: the request was a fault."""
    with pytest.raises(InvalidInput) as caught:
        read(path, content, **options)
    said = f"{caught.value.message} {caught.value.hint}"
    assert "\ufffd" in said
    assert said.encode()
