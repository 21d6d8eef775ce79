"""A column of speakers tells which rows users wrote."""

import pytest

from core.traffic.speakers import are_roles, speakers_in


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
    assert are_roles(["Customer", "agent", "", "CUSTOMER", "Virtual-Agent"])


@pytest.mark.parametrize(
    "cells",
    [
        ["visitor", "operator", "Anna"],
        ["agent", "refund", "customer"],  # intents
        ["customer", "user"],
        ["agent", "bot"],
        ["", " "],
        [],
    ],
)
def test_other_columns_are_none_of_roles(cells: list[str]) -> None:
    assert not are_roles(cells)
