from pathlib import Path

import numpy as np
import pytest

from app.services.data.history import undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.discover.acts import GroupChange, Taking, change_group, take_group
from app.services.discover.stored import GroupCard, list_groups, open_group
from app.services.embedding import Points, read_points
from app.services.live.live_studio import open_live_studio
from app.services.maps import islands
from app.services.maps.islands import MapChoice, map_islands
from app.services.maps.requests import AUTO, compare_maps, map_colours, map_points
from app.services.studio import Studio
from storage import projects
from storage.queries import dataset
from storage.records import ProjectRecord
from tests.builders.trained_home import (
    POOL,
    change,
    group_here,
    grouped,
    lay_out_here,
    rows_of,
)
from tests.conftest import SENTENCES


def test_each_intent_has_its_name_among_its_own_labelled_texts(home: Studio) -> None:
    view = map_points(home, "p", 1)
    found = map_islands(home, "p", MapChoice(1))
    assert found.order == view.order
    assert {island.name: island.count for island in found.islands} == {
        name: len(texts) for name, texts in SENTENCES.items()
    }
    ranks = [(-island.count, island.name) for island in found.islands]
    assert ranks == sorted(ranks)
    rows, place = rows_of(home), dict(zip(view.ids, view.xy, strict=True))
    for island in found.islands:
        own = np.array([place[key] for key in view.ids if rows[key][1] == (island.name,)])
        low, high = own.min(0) - 1e-5, own.max(0) + 1e-5
        assert (low <= island.at).all()
        assert (island.at <= high).all()


def test_a_group_has_its_name_among_its_texts_that_wait(home: Studio) -> None:
    """A map without intents had no names; the groups that Discover had found were not on it."""
    group_here(home, "p")
    cards = list_groups(home, "p").groups
    found = [one for one in map_islands(home, "p", MapChoice(1)).islands if one.kind == "group"]
    assert sorted((one.name, one.count) for one in found) == sorted(
        (card.name, card.size) for card in cards
    )
    assert sum(one.count for one in found) == len(POOL)
    largest = max(cards, key=lambda card: card.size)
    change_group(home, "p", largest.id, GroupChange(name="orders and more"))
    names = {one.name for one in map_islands(home, "p", MapChoice(1)).islands}
    assert "orders and more" in names
    for text in POOL:
        change(home, text, "labels", [])
    left = map_islands(home, "p", MapChoice(1)).islands
    assert [one.kind for one in left] == ["intent"] * len(SENTENCES)


def test_the_groups_that_discover_lists_as_open_have_names(home: Studio, tmp_path: Path) -> None:
    """A group that texts had joined since it was put aside, or whose take was undone, had none."""

    def named() -> set[str]:
        islands = map_islands(home, "p", MapChoice(1)).islands
        return {one.name for one in islands if one.kind == "group"}

    [card] = grouped(home, "p", n_groups=1).groups
    change_group(home, "p", card.id, GroupChange(set_aside=card.size))
    assert named() == set()
    path = tmp_path / "more.txt"
    path.write_text("".join(f"{text}!\n" for text in POOL))
    import_file(home, ImportRequest("p", path))
    [again] = grouped(home, "p").groups
    assert (again.state, again.joined) == ("open", len(POOL))
    assert named() == {card.name}
    group = open_group(home, "p", card.id)
    without = frozenset(one.id for one in group.typical[:2])
    n = group.card.size - 2
    taking = Taking("", "x", "all", without, n, group.revision, "key-of-a-taking")
    take_group(home, "p", card.id, taking)
    assert named() == set()
    undo_last(home, "p")
    assert named() == {card.name}


def test_texts_that_are_grouped_anew_while_a_map_is_made_break_nothing(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The groups of before were looked up by the numbers of now: the map answered with a fault."""
    group_here(home, "p")
    cards = list[GroupCard]()

    def meanwhile(studio: Studio, record: ProjectRecord) -> Points:
        if not cards:
            cards.extend(grouped(home, "p", n_groups=1, anew=True).groups)
        return read_points(studio, record)

    monkeypatch.setattr(islands, "read_points", meanwhile)
    found = [one for one in map_islands(home, "p", MapChoice(1)).islands if one.kind == "group"]
    assert [(one.name, one.count) for one in found] == [(card.name, len(POOL)) for card in cards]


def test_a_new_label_counts_and_nothing_is_computed_twice(home: Studio) -> None:
    before = map_islands(home, "p", MapChoice(1))
    assert map_islands(home, "p", MapChoice(1)) is before
    intent = next(row for row in map_colours(open_live_studio(home), "p", 1, "intent").legend).name
    with home.database.read() as connection:
        key = dataset.intent_named(connection, projects.find(connection, "p").id, intent).id
    change(home, POOL[0], "labels", [key])
    counts = {island.name: island.count for island in map_islands(home, "p", MapChoice(1)).islands}
    assert counts[intent] == len(SENTENCES[intent]) + 1


def test_a_compared_map_has_a_place_on_each_side(home: Studio) -> None:
    both = compare_maps(home, "p", 1, 2)
    found = map_islands(home, "p", MapChoice(2, other=1))
    assert found.order == both.order
    assert len(found.islands) == len(SENTENCES)
    assert all(island.before is not None for island in found.islands)
    assert any(island.before != island.at for island in found.islands)


def test_auto_is_umap_once_it_was_computed_for_the_version(home: Studio) -> None:
    assert map_points(home, "p", 1, AUTO).method == "pca"
    lay_out_here(home, "p", 1)
    view = map_points(home, "p", 1, AUTO)
    assert (view.method, view.stored) == ("umap", True)
    assert map_points(home, "p", 2, AUTO).method == "pca"
    assert compare_maps(home, "p", 1, 2, AUTO).method == "pca"
    assert compare_maps(home, "p", 1, 1, AUTO).method == "umap"


@pytest.mark.parametrize("by", ["intent", "prediction"])
def test_the_legend_says_what_kind_of_texts_an_entry_has(home: Studio, by: str) -> None:
    change(home, POOL[1], "labels", [])
    kinds = {
        entry.name: entry.kind for entry in map_colours(open_live_studio(home), "p", 1, by).legend
    }
    expected = {"out of scope": "outside", "unlabelled": "unlabelled"} if by == "intent" else {}
    assert {name: kind for name, kind in kinds.items() if kind} == expected
