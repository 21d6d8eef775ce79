"""Answers keep within their size, whatever is in them, and a cursor leads through all."""

import pytest

from app.agents.answers import (
    MOST_BYTES,
    cursor_of,
    paged,
    place_of,
    shortened,
    shown,
    size_of,
    without_empty,
)
from core.errors import InvalidInput


def test_a_cursor_leads_through_all_items_once() -> None:
    items = [{"n": n, "text": shown("ü" * (n % 300))} for n in range(300)]
    seen, cursor, pages = list[int](), "", 0
    while True:
        start = place_of(cursor)
        page = paged({"head": "x"}, "items", items[start : start + 100], start, len(items))
        assert size_of(page) <= MOST_BYTES
        assert page["total"] == 300
        seen += [one["n"] for one in page["items"]]
        pages += 1
        if "next" not in page:
            break
        cursor = page["next"]
    assert seen == list(range(300))
    assert pages >= 5


def test_a_cursor_that_no_tool_gave_is_refused_in_words() -> None:
    assert place_of(cursor_of(120)) == 120
    for odd in ("120", "!", cursor_of(3)[:-2], "ä", "ZnJvbSAtMQ", "ZnJvbSA5OTk5OTk5OTk5OTk"):
        with pytest.raises(InvalidInput, match="is no cursor"):
            place_of(odd)


def test_long_texts_are_cut_between_letters() -> None:
    assert shown("short") == "short"
    cut = shown("\N{GRINNING FACE}" * 100)
    assert cut == "\N{GRINNING FACE}" * 60 + " …"
    assert shown("a b " * 100).endswith("a b …")


def test_a_list_is_shortened_until_the_answer_fits() -> None:
    def made(n: int) -> dict[str, object]:
        return {"texts": ["x" * 1_500] * n}

    assert len(shortened(made, (8, 6, 4, 2))["texts"]) == 4
    assert without_empty({"a": 0, "b": "", "c": None, "d": [], "e": False}) == {"a": 0, "e": False}
