"""Rasa's YAML goes back line by line; what a line cannot hold is told."""

import tracemalloc
from pathlib import Path

import pytest

from core.formats.platform_rows import export_in, export_rows
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.platforms.agent import Loss
from core.platforms.overlay import Labelled, Overlaid, overlay
from core.platforms.packages import open_package
from core.platforms.readers.rasa_yaml import read_rasa_yaml
from core.platforms.reading import read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import write_export

LONG = """\
nlu:
- intent: "say # hi"   # a greeting
  examples:
  - text: |
      hello there
    metadata: {mood: good}
- intent: 'it''s'
  examples: |
- lookup: city
  examples: |
    - Rome
- intent: bye
  examples: |
    # at night
    - intent: sleep
    - [Rome](city:rom) calls"""


def _over(text: str, folder: Path, *rows: Labelled) -> tuple[Overlaid, str]:
    path = folder / "nlu.yml"
    path.write_bytes(text.encode())
    agent = read_agent(path)
    given = {row.text for row in rows}
    there = [one for one in agent.phrases if one.text not in given]
    kept = [Labelled(one.text, (one.intent,), one.slots) for one in there]
    found = overlay(agent, [*kept, *rows])
    return found, found.changed.get("nlu.yml", b"").decode()


def test_examples_of_all_files_are_read_with_their_roles_and_what_is_left_is_told(
    tmp_path: Path,
) -> None:
    path = write_export("rasa", tmp_path)
    export = export_in(path, ReadOptions())
    assert export is not None
    assert export.platform == "rasa"
    rows = list(export_rows(export, ReadOptions(slots=True)))
    agent = read_agent(path)
    assert len(rows) == len(agent.phrases) == 3
    assert agent.phrases[0].slots == (Slot(9, 15, "city.to"),)
    assert agent.files == {"data/nlu.yml": 2, "data/more/refund.yml": 1}
    assert agent.losses == ()
    said = {"name": "city.to", "said": "Boston", "value": "BOS"}
    assert agent.phrases[0].fields == {"entities": [said]}
    assert agent.slot_values == {"city.to": {"BOS": ("Boston",)}}


def test_a_field_called_name_is_not_the_name_of_a_mark(tmp_path: Path) -> None:
    """A list there cannot be looked up, and the file could not be read."""
    path = tmp_path / "nlu.yml"
    line = '[two]{"entity": "count", "name": ["a"], "value": 2} shirts'
    path.write_text(f"nlu:\n- intent: buy\n  examples: |\n    - {line}\n", encoding="utf-8")
    agent = read_agent(path)
    said = {"name": "count", "said": "two", "value": 2}
    assert [one.fields for one in agent.phrases] == [{"entities": [said]}]
    assert agent.values == {"count": {"2": ("two",)}}


def test_a_value_of_two_entities_has_the_words_of_each(tmp_path: Path) -> None:
    """The words of both went to the entity that one of them was guessed to be of."""
    path = tmp_path / "nlu.yml"
    path.write_text(
        "nlu:\n- intent: buy\n  examples: |\n"
        '    - a [small]{"entity": "size", "value": "1"} shirt\n'
        '    - [one]{"entity": "count", "value": 1} shirt\n'
        "    - in [new york](city:NYC)\n"
        "- synonym: NYC\n  examples: |\n    - big apple\n",
        encoding="utf-8",
    )
    values = {
        "size": {"1": ("small",)},
        "count": {"1": ("one",)},
        "city": {"NYC": ("big apple", "new york")},
    }
    agent = read_agent(path)
    assert (agent.values, agent.losses) == (values, ())
    export = export_in(path, ReadOptions())
    assert export is not None
    assert len(list(export_rows(export, ReadOptions()))) == 3
    assert (export.slot_values, export.losses) == (values, ())


def test_one_file_tells_what_is_left_in_it(tmp_path: Path) -> None:
    path = tmp_path / "nlu.yml"
    path.write_text(LONG + "\nresponses:\n  utter_a:\n  - text: a\n", "utf-8")
    export = export_in(path, ReadOptions())
    assert export is not None
    assert [row.line for row in export_rows(export, ReadOptions())] == [5, 15, 16]
    assert export.files == {"nlu.yml": 3}
    assert list(export.losses) == [
        Loss("metadata of examples", 1, ("say # hi",)),
        Loss("the part “responses”", 1),
    ]


STORIES = """\
nlu:
- intent: greet
  examples: |
    - hey
stories:
- story: s
  steps:
  - intent: greet
    entities:
    - city: Rome
  - action: utter_greet
"""


def test_the_steps_of_a_story_are_no_examples(tmp_path: Path) -> None:
    """The story's actions became texts of the intent before them, and new texts stood there."""
    found, text = _over(STORIES, tmp_path, Labelled("hello", ("greet",)))
    assert [one.text for one in read_agent(tmp_path / "nlu.yml").phrases] == ["hey"]
    assert (found.kept, found.added) == (1, 1)
    assert text == STORIES.replace("    - hey\n", "    - hey\n    - hello\n")


VALID = """\
nlu:
- intent: greet
  metadata:
    sentiment: neutral
  # of whom
    text: no example
  examples: |
    -hello
    - hey
- intent: bye
  examples: |
    - so long
  metadata:
  - sad
- intent: tell
  examples:
  - text: |
      it is broken
      since today
  - text: it is late
"""


def test_what_rasa_allows_is_read_and_what_is_left_is_told(tmp_path: Path) -> None:
    """Metadata of intents and a dash without a blank refused the file."""
    (tmp_path / "nlu.yml").write_text(VALID, "utf-8")
    agent = read_agent(tmp_path / "nlu.yml")
    assert [(one.text, one.intent) for one in agent.phrases] == [
        ("hello", "greet"),
        ("hey", "greet"),
        ("so long", "bye"),
        ("it is broken\nsince today", "tell"),
        ("it is late", "tell"),
    ]
    assert agent.losses == (Loss("metadata of intents", 2, ("greet", "bye")),)
    moved = [Labelled(one.text, (one.intent,)) for one in agent.phrases if one.text != "hello"]
    text = overlay(agent, [*moved, Labelled("hello", ("bye",))]).changed["nlu.yml"].decode()
    assert text == VALID.replace("    -hello\n", "").replace("long\n", "long\n    -hello\n")


BLOCKS = """\
nlu:
- intent: tell
  examples:
  - text: |

      it is broken
        - since [today](day)

      - text: no other
    metadata: {mood: bad}
  - text: >-
      it is
      late

      and dark
  - text: |
  - text: the last
- intent: end
  examples:
  - text: |+
      over
      and out
"""


def test_a_text_of_several_lines_is_read_whole(tmp_path: Path) -> None:
    """Its first line alone was read, and the others were told as lost."""
    path = tmp_path / "nlu.yml"
    path.write_text(BLOCKS, "utf-8")
    agent = read_agent(path)
    texts = [
        "it is broken\n  - since today\n\n- text: no other",
        "it is late\nand dark",
        "the last",
        "over\nand out",
    ]
    assert [one.text for one in agent.phrases] == texts
    assert agent.phrases[0].slots == (Slot(23, 28, "day"),)
    assert agent.losses == (Loss("metadata of examples", 1, ("tell",)),)
    rows = [row for row in read_rows(path) if isinstance(row, ImportedRow)]
    assert [(row.text, row.line) for row in rows] == list(zip(texts, (6, 12, 17, 21), strict=True))
    assert (
        overlay(agent, [Labelled(one.text, (one.intent,)) for one in agent.phrases]).changed == {}
    )


def test_a_line_that_is_indented_less_than_the_first_keeps_its_letters(tmp_path: Path) -> None:
    """“since today” was read as “nce today”."""
    path = tmp_path / "nlu.yml"
    said = "        it is broken\n      since today\n"
    path.write_text(f"nlu:\n- intent: tell\n  examples:\n  - text: |\n{said}", "utf-8")
    assert [one.text for one in read_agent(path).phrases] == ["it is broken\nsince today"]


def test_the_lines_of_a_file_are_not_all_held_at_once(tmp_path: Path) -> None:
    """Each took some 150 bytes of memory beside its text, also where it was no example."""
    path = tmp_path / "nlu.yml"
    remarks = "#\n" * 50_000
    path.write_text(f"nlu:\n{remarks}- intent: tell\n  examples: |\n    - it is late\n", "utf-8")
    tracemalloc.start()
    try:
        agent = read_rasa_yaml(open_package(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.text for one in agent.phrases] == ["it is late"]
    assert peak < 3_000_000


def test_a_line_moves_into_an_empty_block_and_the_last_line_needs_no_break(
    tmp_path: Path,
) -> None:
    found, text = _over(LONG, tmp_path, Labelled("Rome calls", ("it's",)))
    assert (found.moved, found.losses) == (1, ())
    moved = LONG.replace("\n    - [Rome](city:rom) calls", "\n")
    assert text == moved.replace(
        "''s'\n  examples: |\n", "''s'\n  examples: |\n    - [Rome](city:rom) calls\n"
    )
    found, text = _over(LONG, tmp_path, Labelled("so long", ("bye",)))
    assert text == LONG + "\n    - so long\n"


def test_what_a_line_cannot_hold_is_told(tmp_path: Path) -> None:
    found, text = _over(
        LONG,
        tmp_path,
        Labelled("hello there", ("bye",)),
        Labelled("see [this](link)", ("bye",)),
        Labelled("bell \a", ("bye",)),
        Labelled("a new greeting", ("say # hi",)),
        Labelled("who won", ()),
        Labelled("back\nto Rome", ("bye",), (Slot(8, 12, "city"),)),
    )
    assert {one.what: one.examples for one in found.losses} == {
        "phrases of several lines in the file: left as they are": ("hello there",),
        "texts with signs that the file gives another meaning": ("see [this](link)", "bell \a"),
        "texts of “say # hi”, which has no list of phrases in the package": ("a new greeting",),
        "texts out of scope, for which the package has no place": ("who won",),
    }
    assert text == LONG + "\n    - back to [Rome](city)\n"


def test_a_new_value_with_a_role_is_written_as_one(tmp_path: Path) -> None:
    agent = read_agent(write_export("rasa", tmp_path))
    rows = [Labelled(one.text, (one.intent,)) for one in agent.phrases]
    new = Labelled("go to Rome", ("refund",), (Slot(6, 10, "city.to"),))
    changed = overlay(agent, [*rows, new]).changed["data/more/refund.yml"].decode()
    said = 'go to [Rome]{"entity": "city", "role": "to"}'
    assert changed.endswith(f"refund my ticket\r\n      - {said}\r\n")


SEVERAL = """\
nlu:
- intent: book
  examples: |
    - a room
- intent: pay
  examples: |
    - my bill
- intent: book+pay
  examples: |
    - book a room and pay
- intent: c++
  examples: |
    - how do templates work
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_several_intents_are_told_by_their_sign_where_each_exists(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "nlu.yml"
    path.write_text(SEVERAL, "utf-8")
    export = export_in(path if kind == "file" else tmp_path, ReadOptions())
    assert export is not None
    rows = list(export_rows(export, ReadOptions(several=True)))
    assert {row.text: row.intents for row in rows if isinstance(row, ImportedRow)} == {
        "a room": ("book",),
        "my bill": ("pay",),
        "book a room and pay": ("book", "pay"),
        "how do templates work": ("c++",),
    }
    agent = read_agent(path)
    wanted = [
        Labelled("a room", ("pay", "book")),
        Labelled("my bill", ("pay",)),
        Labelled("book a room and pay", ("book", "pay")),
        Labelled("how do templates work", ("c++",)),
        Labelled("pay for a room", ("book", "pay")),
    ]
    found = overlay(agent, wanted)
    assert (found.moved, found.added, found.losses) == (1, 1, ())
    assert found.changed["nlu.yml"].decode() == SEVERAL.replace("    - a room\n", "").replace(
        "and pay\n", "and pay\n    - a room\n    - pay for a room\n"
    )
