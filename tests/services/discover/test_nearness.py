"""Centres of groups are compared only where the same encoder made them."""

import dataclasses

import numpy as np
import pytest

from app.services.discover import runs, splitting
from app.services.discover.acts import Taking, take_group
from app.services.discover.nearness import APART, cosines
from app.services.discover.splitting import split_group
from app.services.discover.stored import list_groups, open_group
from app.services.studio import Studio
from storage.computed.text_groups import Families
from storage.records import TextGroupRecord
from tests.builders.tiny_encoder import HashingEncoder
from tests.builders.trained_home import grouped


@pytest.fixture
def taken(raw: Studio) -> int:
    """A group that was taken, by the untuned encoder; its number."""
    group = open_group(raw, "raw", grouped(raw, n_groups=2).groups[0].id)
    how = Taking("", "x", "all", frozenset(), group.card.size, group.revision, "key-of-a-taking")
    take_group(raw, "raw", group.card.id, how)
    return group.card.id


def use_another_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a version of another width answer from now on."""
    for module in (runs, splitting):
        monkeypatch.setattr(module, "encoder_of_maps", lambda *_: HashingEncoder())


def test_groups_are_listed_and_opened_after_a_split_by_another_encoder(
    raw: Studio, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discover was broken for good: “Something broke”, since the centres have other widths."""
    [left] = [card.id for card in list_groups(raw, "raw").groups if card.id != taken]
    use_another_encoder(monkeypatch)
    parts = split_group(raw, "raw", left)
    assert {card.id for card in list_groups(raw, "raw").groups} == {taken, *parts}
    for number in (taken, left, *parts):
        near = open_group(raw, "raw", number).groups
        assert set(near) <= set(parts) - {number}


def test_groups_that_stay_when_others_are_found_anew_by_another_encoder_break_nothing(
    raw: Studio, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_another_encoder(monkeypatch)
    cards = {card.id: card for card in grouped(raw, anew=True, n_groups=2).groups}
    assert cards.pop(taken).state == "done"
    assert len(cards) == 2
    [some, *others] = cards
    assert open_group(raw, "raw", some).groups == tuple(others)
    grouped(raw)  # texts that are sorted in bring all centres up to date
    assert open_group(raw, "raw", some).groups == tuple(others)


def test_cosines_of_two_encoders_of_the_same_width_tell_nothing() -> None:
    """They were compared, and a group was offered an intent by chance."""

    def group(number: int, space: str | None, *centre: float) -> TextGroupRecord:
        facts = {} if space is None else {"space": space}
        values = np.array(centre, dtype="<f4").tobytes()
        return TextGroupRecord(number, "a group", facts, values, None, 0, "")

    one = group(1, "an encoder", 1.0, 0.0)
    others = [
        group(2, "an encoder", 0.6, 0.8),
        group(3, "another", 1.0, 0.0),
        group(4, None, 1.0, 0.0),
        dataclasses.replace(one, id=5),
    ]
    families = Families({each.id: each for each in (one, *others)}, {})
    assert cosines(families, [1, 3], [2, 3, 4, 5]) == pytest.approx(
        np.array([[0.6, APART, APART, 1.0], [APART, 1.0, APART, APART]])
    )
    assert cosines(families, [1], []).shape == (1, 0)
