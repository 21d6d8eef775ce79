"""LUIS's `.lu` goes in and back line by line; what is no phrase stays, and is told."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.exports.content import Content
from core.exports.targets import hand_over
from core.formats.rows import ImportedRow
from core.platforms.agent import OUT_OF_SCOPE, Agent
from core.platforms.overlay import Labelled, overlay
from core.platforms.packages import write_package
from core.platforms.readers.lu import lu_line
from core.platforms.reading import find_agent, read_agent
from core.templates.slots import Slot, SlottedText
from core.text import is_blank, normalise
from tests.core.platforms.exports import LU, write_export

_INTENTS = ("book / fly", "größe", "empty", OUT_OF_SCOPE)
_TEXTS = st.text(
    st.one_of(
        st.sampled_from('ab {}[]()\\@|=:#>-*"\t🛫é\u0301\u05e9\u05dc\u200f'),
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]),
    ),
    min_size=1,
    max_size=25,
).map(str.strip)


def _rows(agent: Agent) -> list[Labelled]:
    return [
        Labelled(one.text, (one.intent,) if one.intent else (), one.slots) for one in agent.phrases
    ]


def test_phrases_are_read_and_all_else_is_told(tmp_path: Path) -> None:
    agent = find_agent(write_export("lu", tmp_path))
    assert agent is not None
    assert [(one.text, one.intent, one.slots) for one in agent.phrases] == [
        ("🛫 fly to Boston", "book", (Slot(9, 15, "city"),)),
        ("get my money back", "book", ()),
        ("refund my ticket", "refund", ()),
        ("who won the match", OUT_OF_SCOPE, ()),
    ]
    assert {one.what: one.count for one in agent.losses} == {
        "patterns": 1,
        "references to other files": 1,
        "questions with answers": 1,
        "declared entities": 1,
    }


def test_a_dot_in_the_name_of_an_entity_is_written_as_it_is(tmp_path: Path) -> None:
    """A new phrase was written with the role `Device` of an entity `Home`."""
    path = tmp_path / "app.lu"
    path.write_text("# light\n- dim the {@Home.Device=lamp} in {@room:to=hall}\n", "utf-8")
    agent = read_agent(path)
    slots = (Slot(4, 7, "Home.Device"), Slot(11, 15, "room.to"))
    found = overlay(agent, [*_rows(agent), Labelled("dim fan in hall", ("light",), slots)])
    added = "- dim {@Home.Device=fan} in {@room:to=hall}\n"
    assert found.changed["app.lu"].decode().endswith(added)


def test_parts_inside_a_value_are_told_and_roles_join_the_name(tmp_path: Path) -> None:
    path = tmp_path / "x.lu"
    said = "- {@trip=from {@city:to=Rome} on} \\{now\\}\r\n- go {city:to = Rome}\r\n"
    path.write_bytes(f"\ufeff# a\r\n{said}".encode())
    agent = read_agent(path)
    assert agent.phrases[0].text == "from Rome on {now}"
    assert agent.phrases[0].slots == (Slot(0, 12, "trip"),)
    assert agent.phrases[1].slots == (Slot(3, 7, "city.to"),)
    assert [one.what for one in agent.losses] == ["parts inside a marked value"]
    new = Labelled("to Rome | {x}", ("a",), (Slot(3, 7, "city.to"),))
    changed = overlay(agent, [*_rows(agent), new]).changed["x.lu"]
    assert changed == path.read_bytes() + b"- to {@city:to=Rome} \\| \\{x\\}\r\n"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("=Boston}", "=Boston", r"shop\.lu, row 5: a brace is opened"),
        ("- get my", "get my", r"shop\.lu, row 6: 'get my money back' is no phrase"),
        ("refund my", "refund \udcff", r"shop\.lu is not UTF-8"),
    ],
)
def test_a_fault_is_told_with_its_row(old: str, new: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "shop.lu"
    path.write_bytes(LU["shop.lu"].replace(old, new, 1).encode(errors="surrogateescape"))
    with pytest.raises(InvalidInput, match=says):
        read_agent(path)


@settings(max_examples=80, deadline=None)
@given(
    phrases=st.lists(
        st.tuples(
            _TEXTS.filter(lambda text: not is_blank(text) and any(sign.isalnum() for sign in text)),
            st.sampled_from(_INTENTS),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda one: normalise(one[0]),
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    data=st.data(),
)
def test_only_relabelled_lines_differ(
    phrases: list[tuple[str, str]], end: str, data: st.DataObject
) -> None:
    lines = ["> shop", ""]
    for name in _INTENTS:
        said = [lu_line(SlottedText(text)) or "" for text, of in phrases if of == name]
        lines += [f"## {name or 'None'}", *said, "- {@pattern}", ""]
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.lu")
        path.write_bytes(end.join([*lines, "@ ml pattern"]).encode())
        agent = read_agent(path)
        assert {(one.text, one.intent) for one in agent.phrases} == set(phrases)
        assert overlay(agent, _rows(agent)).changed == {}
        wanted = {text: data.draw(st.sampled_from(_INTENTS)) for text, _ in phrases}
        rows = [Labelled(text, (of,) if of else ()) for text, of in wanted.items()]
        found = overlay(agent, rows)
        assert found.moved == sum(wanted[text] != of for text, of in phrases)
        assert found.losses == ()
        write_package(agent.package, found.changed, Path(folder, "out.lu"))
        again = read_agent(Path(folder, "out.lu"))
        assert {one.text: one.intent for one in again.phrases} == wanted
        before, after = path.read_bytes(), Path(folder, "out.lu").read_bytes()
        assert sorted(before.split(end.encode())) == sorted(after.split(end.encode()))


@pytest.mark.parametrize("piece", ["{", "{a", "{a:", "{@a:b"])
def test_a_long_gap_behind_a_brace_takes_no_time(piece: str, tmp_path: Path) -> None:
    """Each blank was tried as a part of the name, of what follows it, and of neither."""
    path = tmp_path / "x.lu"
    path.write_text(f"# a\n- hello\n- {piece}{' ' * 30_000}b\n")
    began = time.process_time()
    assert len(read_agent(path).phrases) == 1
    assert time.process_time() - began < 2


def test_lists_of_values_go_to_the_slot_book(tmp_path: Path) -> None:
    path = tmp_path / "shop.lu"
    text = (
        "# book\n- fly to {@city=Rome}\n\n@ list city hasRoles to =\n    - Rome :\n        - Roma\n"
    )
    path.write_text(f"{text}    - Oslo : Kristiania, Christiania\n# refund\n- pay\n", "utf-8")
    agent = read_agent(path)
    assert agent.slot_values == {"city": {"Rome": ("Roma",), "Oslo": ("Kristiania", "Christiania")}}
    assert [(one.text, one.intent) for one in agent.phrases] == [
        ("fly to Rome", "book"),
        ("pay", "refund"),
    ]
    rows = [Labelled(one.text, (one.intent,), one.slots) for one in agent.phrases]
    assert overlay(agent, rows).changed == {}


def test_a_colon_inside_a_value_of_a_list_is_a_part_of_it(tmp_path: Path) -> None:
    """The value “10:30” came back as “10”, and its synonym “at 10:30” as the value “at 10”."""
    values = {"time": {"10:30": ("at 10:30", "half: ten"), "late: night": (), "noon": ("12",)}}
    rows = [ImportedRow("book it", ("book",), "train")]
    (lu,) = hand_over(Content("shop", "en", {"book": ""}, rows, values), "lu").files.values()
    path = tmp_path / "shop.lu"
    path.write_bytes(lu)
    assert read_agent(path).slot_values == values


@pytest.mark.parametrize("names", [("book", "book"), ("book.seat", "book.table")])
def test_headings_below_one_are_parts_of_its_intent(names: tuple[str, str], tmp_path: Path) -> None:
    """They were intents of their own, which the platform does not have."""
    path = tmp_path / "x.lu"
    merge = str(names[0] == "book").lower()
    options = f"> !# @enableSections = true\n> !# @enableMergeIntents = {merge}\n"
    text = "# book\n## seat\n- a seat\n## table\n- a table\n# refund\n- pay\n### ? who\n- when\n"
    path.write_text(options + text)
    agent = read_agent(path)
    assert [(one.text, one.intent) for one in agent.phrases] == [
        ("a seat", names[0]),
        ("a table", names[1]),
        ("pay", "refund"),
    ]
    rows = [*_rows(agent)[:2], Labelled("pay", (names[0],))]
    after = overlay(agent, rows).changed["x.lu"].decode()
    assert after == options + text.replace("- pay\n", "").replace("seat\n##", "seat\n- pay\n##")
    path.write_text(text)
    assert [one.intent for one in read_agent(path).phrases] == ["seat", "table", "refund"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# book\n- {@city}\n", "it holds patterns (1), 1 intent without phrases"),
        ("### ? who\n- when\n", "it holds questions with answers (1)"),
        ("> nothing yet\n", "x.lu has no phrase."),
    ],
)
def test_a_file_without_phrases_says_what_it_holds(text: str, says: str, tmp_path: Path) -> None:
    """A file of questions was told to hold intents."""
    path = tmp_path / "x.lu"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_agent(path)
    assert says in caught.value.message
