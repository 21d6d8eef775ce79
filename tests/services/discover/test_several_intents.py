"""Groups of a project whose texts may have several intents, or none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.data.history import undo_action
from app.services.discover.acts import Taking, take_group
from app.services.discover.fitting import fitted
from app.services.discover.stored import OpenedGroup, list_groups, open_group
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from storage import projects
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from tests.builders.multi_label_project import POOL, started, train
from tests.builders.trained_home import grouped

KEY = "key-of-a-taking"


@pytest.fixture
def several(tmp_path: Path) -> Iterator[Studio]:
    """A project with sets of intents, texts of no intent, and five texts without a label."""
    studio = started(tmp_path / "home", tmp_path)
    yield studio
    studio.database.close()


def labels(studio: Studio) -> dict[str, set[str] | None]:
    with studio.database.read() as connection:
        target = projects.find(connection, "p")
        names = dataset.intent_names(connection, target.id)
        found = utterances.find_all(connection, target.id, Filter())
    return {
        one.text: None if one.labels is None else {names[key] for key in one.labels}
        for one in found
    }


def intent_of(studio: Studio, name: str) -> str:
    with studio.database.read() as connection:
        every = dataset.intents(connection, projects.find(connection, "p").id)
    return next(one.id for one in every if one.name == name)


def whole(studio: Studio) -> OpenedGroup:
    """Put all texts without a label into one group."""
    [card] = grouped(studio, "p", n_groups=1).groups
    assert card.size == len(POOL)
    return open_group(studio, "p", card.id)


def taking(group: OpenedGroup, intent: str) -> Taking:
    return Taking(intent, "", "all", frozenset(), group.card.size, group.revision, KEY)


def test_a_group_gets_one_intent_and_undo_leaves_all_sets_as_they_were(several: Studio) -> None:
    """No test took a group of such a project; sets of others and of the test set must stay."""
    before, card = labels(several), intent_of(several, "card")
    group = whole(several)
    taken = take_group(several, "p", group.card.id, taking(group, card))
    assert (taken.changed, taken.intent) == (len(POOL), card)
    assert labels(several) == {**before, **{text: {"card"} for text in POOL}}
    [listed] = list_groups(several, "p").groups
    assert (listed.state, listed.label, listed.labelled) == ("done", card, len(POOL))
    undo_action(several, "p", KEY)
    assert labels(several) == before
    [listed] = list_groups(several, "p").groups
    assert (listed.state, listed.size, listed.labelled) == ("open", len(POOL), 0)


def test_a_group_of_no_intent_has_empty_sets_until_undo(several: Studio) -> None:
    before = labels(several)
    group = whole(several)
    assert take_group(several, "p", group.card.id, taking(group, "")).changed == len(POOL)
    assert labels(several) == {**before, **{text: set() for text in POOL}}
    [listed] = list_groups(several, "p").groups
    assert (listed.state, listed.label, listed.labelled) == ("done", "", len(POOL))
    undo_action(several, "p", KEY)
    assert labels(several) == before


def test_only_an_intent_that_is_there_is_proposed_by_the_version_in_use(
    several: Studio, tiny_path: Path
) -> None:
    """Of several answers to a text none is the one that the list of typical texts can name."""
    train(several, tiny_path, {"kind": "instant"})
    group = whole(several)
    live = open_live_studio(several)
    with several.database.read() as connection:
        target = projects.find(connection, "p")
        usable = set(dataset.open_intents(connection, target.id))
    assert live.pools.wait(target.id) is not None
    found = fitted(live, "p", group)
    assert {one.answer for one in found.typical} == {None}
    assert found.same in {"", *found.intents}
    assert set(found.intents) <= usable
    assert 0 <= found.refused <= len(found.typical)
