"""Labels go back into the CSVs of Dialogflow CX and Watson, cell by cell."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.platforms.overlay import Deleted, Labelled, overlay
from core.platforms.readers.bulk_csv import csv_line
from core.platforms.reading import read_agent
from core.text import is_blank
from tests.core.platforms.exports import write_export

_CELLS = st.text(
    st.one_of(
        st.sampled_from('ab ",;\r\n🛫é\u05e9'), st.characters(exclude_categories=["Cs", "Cc"])
    ),
    min_size=1,
    max_size=12,
).filter(lambda text: any(sign.isalnum() for sign in text) and not is_blank(text))


def _changed(path: Path, wanted: dict[str, str]) -> str:
    agent = read_agent(path)
    rows = [Labelled(one.text, (wanted.get(one.text, one.intent),)) for one in agent.phrases]
    content = overlay(agent, rows).changed.get(path.name, path.read_bytes())
    return content.decode()


def test_a_row_that_had_its_name_from_a_relabelled_one_gets_its_own(tmp_path: Path) -> None:
    path = write_export("cx-csv", tmp_path)
    before = path.read_bytes().decode()
    one = _changed(path, {"get my money back": "refund"})
    assert one == before.replace(
        ',,"get my money back"\r\n,,"say', 'refund,,"get my money back"\r\nbook,,"say'
    )
    first = _changed(path, {"🛫 fly to Boston": "refund"})
    assert first == before.replace("book,en,", "refund,en,").replace(',,"get', 'book,,"get', 1)
    path.write_text(one, encoding="utf-8", newline="")
    agent = read_agent(path)
    assert [said.intent for said in agent.phrases] == ["book", "refund", "book", "refund", "refund"]


def test_a_row_that_had_its_name_from_a_removed_one_gets_its_own(tmp_path: Path) -> None:
    path = write_export("cx-csv", tmp_path)
    before = path.read_bytes().decode()
    agent = read_agent(path)
    rows = [Labelled(one.text, (one.intent,)) for one in agent.phrases]
    for count in (1, 2):
        texts = frozenset(row.text for row in rows[:count])
        found = overlay(agent, rows[count:], deleted=Deleted(texts, is_removed=True))
        after = found.changed[path.name].decode()
        path.write_text(after, encoding="utf-8", newline="")
        again = read_agent(path)
        assert [(one.text, one.intent) for one in again.phrases] == [
            (row.text, *(row.intents or ())) for row in rows[count:]
        ]
        assert len(after.split("\r\n")) == len(before.split("\r\n")) - count


def test_new_texts_come_behind_with_the_quotes_that_they_need(tmp_path: Path) -> None:
    path = write_export("watson-csv", tmp_path)
    before = path.read_bytes().decode()
    agent = read_agent(path)
    rows = [Labelled(one.text, (one.intent,)) for one in agent.phrases]
    new = Labelled('one, "two"', ("refund",))
    found = overlay(agent, [*rows, new, Labelled("who won", ())])
    assert found.changed[path.name].decode() == before + '"one, ""two""",refund\n'
    (loss,) = found.losses
    assert (loss.what, loss.count) == (
        "texts out of scope, for which the package has no place",
        1,
    )


@pytest.mark.parametrize("content", ["a,b,c\n", '"a,b\n', "only a text\n", '"a"b,c\n'])
def test_a_table_of_something_else_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_agent(path)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(
        st.tuples(_CELLS, st.sampled_from(["refund", "book, now", 'the "b"'])),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[0].strip(),
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    k=st.integers(0, 6),
)
def test_only_relabelled_cells_differ(
    rows: list[tuple[str, str]],
    end: str,
    last: bool,  # noqa: FBT001 - drawn
    k: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("csv") / "intents.csv"
    lines = [csv_line(row) for row in rows]
    text = end.join(lines) + end * last
    path.write_bytes(text.encode())
    agent = read_agent(path)
    assert [(one.text, one.intent) for one in agent.phrases] == rows
    assert _changed(path, {}) == text
    wanted = {said: rows[-1][1] for said, _ in rows[:k]}
    after = [csv_line((said, wanted.get(said, of))) for said, of in rows]
    assert _changed(path, wanted) == end.join(after) + end * last
