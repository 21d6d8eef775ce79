"""Groups are merged: never in a circle, and a circle that a home has hangs nothing."""

import pytest

from app.services.data.projects import create_project
from app.services.discover.acts import GroupChange, change_group
from app.services.discover.stored import list_groups, open_group
from app.services.studio import Studio
from app.services.upkeep import HealthCheck, examine
from core.errors import Conflict, InvalidInput
from storage import projects
from storage.computed import text_groups
from tests.builders.trained_home import grouped


def merge(studio: Studio, number: int, into: int) -> None:
    change_group(studio, "raw", number, GroupChange(merged_into=into))


def shown(studio: Studio) -> list[int]:
    return sorted(card.id for card in list_groups(studio, "raw").groups)


def test_a_group_that_was_merged_meanwhile_is_not_merged_with(raw: Studio) -> None:
    """A page that still listed D let A join it, though A held it: the project hung for good."""
    a, b, d = (card.id for card in grouped(raw, n_groups=3).groups)
    merge(raw, d, a)
    merge(raw, a, b)
    with pytest.raises(Conflict, match="was merged meanwhile, into another group"):
        merge(raw, a, d)
    with pytest.raises(Conflict, match="was merged meanwhile, into another group"):
        merge(raw, b, d)
    assert shown(raw) == [b]
    with pytest.raises(InvalidInput, match="merged into itself"):
        merge(raw, b, b)
    merge(raw, a, b)  # once more, as after an answer that was lost
    merge(raw, a, 0)
    assert shown(raw) == sorted([a, b])


def in_a_circle(studio: Studio) -> tuple[int, int, int]:
    """Merge two groups as an earlier release let it happen; return their numbers, and a third."""
    first, second, third = sorted(card.id for card in grouped(studio, n_groups=3).groups)
    with studio.database.write() as connection:
        target = projects.find(connection, "raw")
        for number, into in ((first, second), (second, first)):
            text_groups.change(connection, target.id, number, {"merged_into": into})
    return first, second, third


def test_groups_in_a_circle_are_shown_as_one_that_can_join_another(raw: Studio) -> None:
    """Discover, the map, traffic and every training span without an end, also after a restart."""
    first, second, third = in_a_circle(raw)
    assert shown(raw) == [first, third]
    sizes = {card.id: card.size for card in list_groups(raw, "raw").groups}
    assert sum(sizes.values()) == 14
    assert open_group(raw, "raw", first).card.size == sizes[first]
    merge(raw, first, third)
    assert shown(raw) == [third]
    merge(raw, first, 0)
    merge(raw, second, 0)
    assert shown(raw) == [first, second, third]


def of_groups(studio: Studio, *, repair: bool) -> HealthCheck:
    return next(one for one in examine(studio, repair=repair) if one.subject == "merged groups")


def test_doctor_names_a_circle_of_merges_and_opens_it(raw: Studio) -> None:
    create_project(raw, "another")
    assert of_groups(raw, repair=False) == HealthCheck("merged groups", healthy=True, detail="ok")
    first, _, third = in_a_circle(raw)
    with raw.database.read() as connection:
        name = text_groups.find(connection, 1, first).name
    found = of_groups(raw, repair=False)
    assert (found.healthy, found.mends) == (False, True)
    assert found.detail == f"merged in a circle: '{name}' of 'raw'"
    assert of_groups(raw, repair=True).healthy
    assert of_groups(raw, repair=False).detail == "ok"
    assert shown(raw) == [first, third]
