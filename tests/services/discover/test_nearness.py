"""Centres of groups are compared only where the same encoder made them."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from app.services.data.importing import ImportRequest, import_file
from app.services.discover import runs, splitting
from app.services.discover.acts import GroupChange, Taking, change_group, take_group
from app.services.discover.nearness import APART, cosines
from app.services.discover.splitting import split_group
from app.services.discover.stored import list_groups, open_group, texts_of_group
from app.services.studio import Studio
from core.types import FloatArray
from core.vectors import unit_rows
from storage.computed import text_groups
from storage.computed.text_groups import Families, GroupMember
from storage.queries import utterances
from storage.records import TextGroupRecord
from tests.builders.tiny_encoder import HashingEncoder
from tests.builders.trained_home import BILLS, CARDS, found_groups, grouped


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


def test_texts_are_measured_anew_when_texts_join_their_group_by_another_encoder(
    raw: Studio, taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of before kept the cosines of the other encoder: all new ones came first, or last."""
    use_another_encoder(monkeypatch)
    import_file(raw, ImportRequest("raw", more(tmp_path)))
    [left] = [card.id for card in list_groups(raw, "raw").groups if card.id != taken]
    publish = found_groups(raw, "raw")
    moved = texts_of_group(raw, "raw", left)[0].id
    with raw.database.write() as connection:
        text_groups.place(connection, 1, [GroupMember(moved, taken, 0.123)])
        publish(connection)
    for texts, number in ((CARDS, taken), (BILLS, left)):
        near = HashingEncoder().encode(texts) @ middle(texts)
        wanted = dict(zip(texts, near.tolist(), strict=True))
        found = closeness(raw, number)
        told = {text: found[text] for text in texts if text in found}
        assert len(told) == len(texts) - (number == left)
        assert told == pytest.approx({text: wanted[text] for text in told}, abs=1e-3)
    [moved_text] = set(BILLS) & closeness(raw, taken).keys()
    assert closeness(raw, taken)[moved_text] == 0.123


def test_each_part_of_a_split_has_its_own_nearness_to_an_intent(
    raw: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both had that of the whole: thirty broken cards were offered to the lost ones by a key."""
    use_another_encoder(monkeypatch)
    labelled = [f"my lost card has number {n}" for n in range(6)]
    path = tmp_path / "labelled.csv"
    path.write_text("\n".join(["text,intent", *(f"{one},lost" for one in labelled)]), "utf-8")
    import_file(raw, ImportRequest("raw", path))
    [card] = grouped(raw, n_groups=1).groups
    parts = split_group(raw, "raw", card.id)
    with raw.database.read() as connection:
        groups = text_groups.families(connection, 1).groups
    told = {number: groups[number].facts["nearest"][0][1] for number in (card.id, *parts)}
    intent = middle(labelled)
    wanted = {card.id: middle([*CARDS, *BILLS]), parts[0]: middle(CARDS), parts[1]: middle(BILLS)}
    assert told == pytest.approx(
        {number: float(centre @ intent) for number, centre in wanted.items()}, abs=1e-3
    )
    assert told[parts[0]] > told[card.id] > told[parts[1]]
    assert None not in {groups[number].facts["known"] for number in parts}


def test_what_is_left_or_was_merged_tells_how_much_it_has_in_common(
    raw: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figure was that of all texts as they were grouped: one key labelled what nobody saw."""
    use_another_encoder(monkeypatch)
    lost, bill = (card.id for card in grouped(raw, n_groups=2).groups)
    group = open_group(raw, "raw", lost)
    assert group.cohesion == pytest.approx(0.9594, abs=1e-3)
    change_group(raw, "raw", bill, GroupChange(merged_into=lost))
    # Of 8 and 6 texts whose centres have the cosine 0.43.
    assert open_group(raw, "raw", lost).cohesion == pytest.approx(0.819, abs=2e-3)
    change_group(raw, "raw", bill, GroupChange(merged_into=0))
    out = frozenset(one.id for one in group.typical if one.text in (CARDS[0], CARDS[5]))
    how = Taking("", "x", "all", out, 6, group.revision, "key-of-a-taking")
    take_group(raw, "raw", lost, how)
    assert open_group(raw, "raw", lost).cohesion == pytest.approx(0.9552, abs=1e-3)


def middle(texts: list[str]) -> FloatArray:
    """Return the mean direction of texts."""
    mean = HashingEncoder().encode(texts).mean(axis=0, keepdims=True)
    found: FloatArray = unit_rows(mean)[0]
    return found


def more(folder: Path) -> Path:
    path = folder / "more.txt"
    path.write_text(f"{BILLS[0]} so high\n", encoding="utf-8")
    return path


def closeness(studio: Studio, number: int) -> dict[str, float]:
    """Return the stored cosine of each text of a group, by the text."""
    with studio.database.read() as connection:
        found = {
            one.utterance_id: one.closeness for one in text_groups.members(connection, 1, [number])
        }
        records = utterances.by_ids(connection, 1, list(found))
    return {record.text: found[key] for key, record in records.items()}


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
