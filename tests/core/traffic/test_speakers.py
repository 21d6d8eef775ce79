"""A column of speakers tells which rows users wrote."""

from pathlib import Path

import pytest

from core.formats.rows import ReadOptions
from core.traffic.log_rows import LogColumns, find_shape
from core.traffic.speakers import are_roles, may_name_speakers, speakers_in


@pytest.mark.parametrize(
    ("first", "users", "others"),
    [
        (["user", "assistant"], ["USER", " user "], ["assistant", "system", "tool", ""]),
        (["Customer", "Anna (team)"], ["customer"], ["Anna (team)", "Ben (team)", "bot"]),
        (["bot", "+49 170 1234567"], ["+49 170 1234567", "+49 171 7654321"], ["Bot", "system"]),
        (["Live-Agent", "4711"], ["4711", ""], ["live agent", "LIVE_AGENT", "virtual assistant"]),
    ],
)
def test_users_are_told_by_their_word_or_by_that_of_the_others(
    first: list[str], users: list[str], others: list[str]
) -> None:
    found = speakers_in(first)
    assert found is not None
    assert [found.is_user(cell) for cell in users] == [True] * len(users)
    assert [found.is_user(cell) for cell in others] == [False] * len(others)


def test_names_of_people_say_nothing_of_who_is_a_user() -> None:
    assert speakers_in(["Anna", "Ben", ""]) is None


def test_a_column_of_roles_has_a_users_and_anothers() -> None:
    assert are_roles(["Customer", "agent", "CUSTOMER", "Virtual-Agent"])


def test_who_answered_does_not_tell_who_spoke() -> None:
    assert [may_name_speakers(name) for name in ("who", "handled_by", "Answered By")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ["visitor", "operator", "Anna"],
        ["agent", "refund", "customer"],  # intents
        ["customer", "user"],
        ["agent", "bot"],
        ["customer", "agent", ""],  # filled in some rows: the others would be taken for no user's
        ["bot", "human"],  # who answered
        ["user", "admin"],  # kinds of accounts
        ["", " "],
        [],
    ],
)
def test_other_columns_are_none_of_roles(cells: list[str]) -> None:
    assert not are_roles(cells)


def test_of_two_columns_of_roles_and_of_a_source_nobody_knows_who_spoke(tmp_path: Path) -> None:
    """The first of them may say to whom; and a column of sources is not read a second time."""
    path = tmp_path / "log.csv"
    path.write_text(
        "time,to,who,text\n2026-02-03,agent,customer,hello\n2026-02-03,customer,agent,hi\n",
        encoding="utf-8",
    )
    assert find_shape(path, ReadOptions(), LogColumns()).columns.speaker is None
    of_source = find_shape(path, ReadOptions(), LogColumns(source="to"))
    assert of_source.columns == LogColumns("text", "time", "to", "who")
