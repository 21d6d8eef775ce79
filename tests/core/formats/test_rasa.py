from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.formats.writing import write_rows
from core.templates.slots import Slot, SlottedText, slotted

WITH = ReadOptions(slots=True)
YAML = """\
version: "3.1"
nlu:
# what people say
- intent: flight
  examples: |
    - fly to [Boston](city)
    - from [Rome]{"entity": "city", "role": "from"} on [Monday](day:mon)
- synonym: mon
  examples: |
    - Monday
- intent: 'say "hi"'
  examples:
  - text: |
      hello [there](who)
    metadata:
      sentiment: good
  - text: good morning
stories:
- story: x
  steps:
  - intent: flight
"""
MARKDOWN = "## intent:flight\n- fly to [Boston](city)\n* to Rome\n\n## synonym:x\n- y\n"


def read(path: Path, content: str, options: ReadOptions = WITH) -> list:
    path.write_text(content, encoding="utf-8")
    return list(read_rows(path, options))


def test_yaml_is_read_with_its_values_and_lines(tmp_path: Path) -> None:
    assert read(tmp_path / "nlu.yml", YAML) == [
        ImportedRow("fly to Boston", ("flight",), line=6, slots=(Slot(7, 13, "city"),)),
        ImportedRow(
            "from Rome on Monday",
            ("flight",),
            line=7,
            slots=(Slot(5, 9, "city.from"), Slot(13, 19, "day")),
            kept='{"rasa": {"entities": [{"name": "day", "said": "Monday", "value": "mon"}]}}',
        ),
        ImportedRow("hello there", ('say "hi"',), line=14, slots=(Slot(6, 11, "who"),)),
        ImportedRow("good morning", ('say "hi"',), line=17),
    ]


def test_markdown_is_read_and_marks_are_taken_off_where_nobody_asks_for_slots(
    tmp_path: Path,
) -> None:
    rows = read(tmp_path / "nlu.md", MARKDOWN, ReadOptions())
    assert [(row.text, row.intents, row.slots) for row in rows] == [
        ("fly to Boston", ("flight",), ()),
        ("to Rome", ("flight",), ()),
    ]
    assert preview_file(tmp_path / "nlu.md", ReadOptions()).rows[0] == ("fly to Boston", "flight")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("- intent: a\n  examples: |\n    hello\n", "row 3: 'hello' is no example"),
        ('- intent: a\n  examples: |\n    - [x]{"value": 1}\n', "row 3.*which entity"),
        ("- intent: a\n  examples: |\n    - go [ ](city)\n", "row 3.*holds no words"),
        ("version: 1\n", "no intent has an example"),
    ],
)
def test_faults_are_named_by_their_line(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read(tmp_path / "nlu.yaml", content)


WORDS = st.text("abZé ü'", min_size=1, max_size=8).filter(lambda t: bool(t.strip()))
NAMES = st.sampled_from(["city", "to.city", "a:b", "a (b)", "größe", '"q"'])


@st.composite
def marked(draw) -> SlottedText:
    text, slots = draw(WORDS).strip(), []
    for name in draw(st.lists(NAMES, max_size=3)):
        value = draw(WORDS).strip()
        slots.append(Slot(len(text) + 1, len(text) + 1 + len(value), name))
        text += f" {value} {draw(WORDS).strip()}"
    return slotted(text, slots)


@given(st.lists(marked(), min_size=1, max_size=5), st.sampled_from(["jsonl", "rasa"]))
def test_offsets_come_back_as_they_went(tmp_path_factory, rows: list[SlottedText], kind) -> None:
    path = tmp_path_factory.mktemp("formats") / f"x.{'yml' if kind == 'rasa' else kind}"
    sent = [ImportedRow(r.text, ("an intent: 1",), slots=r.slots) for r in rows]
    write_rows(path, sent, kind)
    back = [(row.text, row.intents, row.slots) for row in read_rows(path, WITH)]
    assert back == [(row.text, row.intents, row.slots) for row in sent]


def test_brackets_that_rasa_would_misread_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="brackets"):
        write_rows(tmp_path / "x.yml", [ImportedRow("see [this](x)", ("a",))], "rasa")


@pytest.mark.parametrize("text", ["it\x92s broken", "a\x0bb"])
def test_control_signs_that_no_yaml_can_hold_are_refused(tmp_path: Path, text: str) -> None:
    """Rasa could read nothing of the file."""
    with pytest.raises(InvalidInput, match="control signs"):
        write_rows(tmp_path / "x.yml", [ImportedRow(text, ("a",))], "rasa")


@pytest.mark.parametrize("name", ["401", "1.0", "2024-01-01", "null", "True", "no", "-", "a\x92b"])
def test_a_name_that_yaml_takes_for_something_else_is_quoted(tmp_path: Path, name: str) -> None:
    """Rasa demands a text as the name of an intent, and read a number or nothing."""
    path = tmp_path / "x.yml"
    write_rows(path, [ImportedRow("pay", (name,)), ImportedRow("hi", ("greet_1",))], "rasa")
    content = path.read_text(encoding="utf-8")
    quoted = name.replace("\x92", "\\u0092")
    assert f'- intent: "{quoted}"\n' in content
    assert "- intent: greet_1\n" in content
    assert [row.intents for row in read_rows(path)] == [(name,), ("greet_1",)]


def test_rows_without_intent_are_no_examples(tmp_path: Path) -> None:
    rows = [ImportedRow("a", None), ImportedRow("b", ()), ImportedRow("c", ("x",))]
    write_rows(tmp_path / "x.yml", rows, "rasa")
    assert [row.text for row in read_rows(tmp_path / "x.yml")] == ["c"]


@pytest.mark.parametrize(
    "example",
    [
        '- intent: "a\\ud800"\n  examples: |\n    - hi\n',
        '- intent: b\n  examples:\n  - text: "a\\ud800"\n',
        '- intent: b\n  examples: |\n    - go [x]{"entity": "\\u0000"}\n',
    ],
)
def test_what_no_text_can_hold_is_refused_with_its_line(tmp_path: Path, example: str) -> None:
    """Quoted names were read as JSON, so that half a character went on to the database: 500."""
    path = tmp_path / "nlu.yml"
    path.write_text(f'version: "3.1"\nnlu:\n{example}', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"row \d: (half of a character|a NUL character)"):
        list(read_rows(path))
