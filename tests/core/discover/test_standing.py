"""Where a group stands, by its texts and what a person did with it."""

import pytest

from core.discover.standing import Standing


@pytest.mark.parametrize(
    ("standing", "state", "joined"),
    [
        (Standing(8, 0), "open", 0),
        (Standing(8, 0, set_aside=8), "aside", 0),
        (Standing(8, 0, set_aside=8, put_aside=True, texts_then=8), "aside", 0),
        (Standing(11, 0, set_aside=8, put_aside=True, texts_then=8), "open", 3),
        (Standing(0, 8), "done", 0),
        (Standing(2, 8), "done", 0),
        (Standing(2, 8, is_reopened=True), "mostly", 0),
        (Standing(5, 9, set_aside=2, put_aside=False, texts_then=11), "mostly", 3),
        (Standing(4, 7, set_aside=4, put_aside=False, texts_then=11), "done", 0),
        # The labels were taken back: nothing joined.
        (Standing(11, 0, set_aside=4, put_aside=False, texts_then=11), "open", 0),
        (Standing(13, 0, set_aside=4, put_aside=False, texts_then=11), "open", 2),
        # An earlier release did not store how many texts there were.
        (Standing(13, 0, set_aside=4, put_aside=False), "open", 9),
    ],
)
def test_a_group_stands_where_its_texts_and_a_person_put_it(
    standing: Standing, state: str, joined: int
) -> None:
    assert (standing.state, standing.joined) == (state, joined)
    assert standing.is_looked_at is (state in ("open", "mostly"))
