"""A group is put into an intent only if the version in use answers most of its texts with it."""

from dataclasses import replace

import numpy as np
import pytest

from app.services.data.intents import change_intent
from app.services.discover import fitting
from app.services.discover.fitting import fitted
from app.services.discover.stored import OpenedGroup, list_groups, open_group
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.live.pool import Pool, Pools, judged
from app.services.studio import Studio
from core.types import FloatArray
from storage import projects
from storage.records import UtteranceRecord
from tests.builders.trained_home import group_here, grouped


@pytest.fixture
def live(home: Studio) -> LiveStudio:
    """The trained project with groups, and with its model in memory."""
    grouped(home, "p", n_groups=1)
    live_studio = open_live_studio(home)
    with home.database.read() as connection:
        project_id = projects.find(connection, "p").id
    assert live_studio.pools.wait(project_id) is not None
    return live_studio


def opened(live: LiveStudio) -> OpenedGroup:
    card = list_groups(live.studio, "p").groups[0]
    return open_group(live.studio, "p", card.id)


def columns(live: LiveStudio) -> tuple[str, ...]:
    _, model = live.models.open("p")
    assert model is not None
    return tuple(one for one in model.columns if one)


@pytest.mark.parametrize(
    ("share", "outside", "fits"), [(1.0, False, True), (0.5, False, False), (1.0, True, False)]
)
def test_the_nearest_intent_is_not_the_groups_unless_it_answers_most_of_it(
    live: LiveStudio, monkeypatch: pytest.MonkeyPatch, *, share: float, outside: bool, fits: bool
) -> None:
    """Broken cards lay near lost ones, and thirty of them were offered to these in blue."""
    group = opened(live)
    intent, *others = columns(live)[:3]

    def answers(model: LiveModel, records: tuple[UtteranceRecord, ...], rows: FloatArray) -> Pool:
        found = judged(model, records, rows)
        n_taken = round(share * len(records))
        rest = (others[at % 2] for at in range(len(records) - n_taken))
        of = [model.columns.index(one) for one in (*[intent] * n_taken, *rest)]
        certain = np.zeros_like(found.probabilities)
        certain[np.arange(len(of)), of] = 1.0
        return replace(found, probabilities=certain, outside=np.full(len(of), outside))

    monkeypatch.setattr(fitting, "judged", answers)
    near = replace(group, intents=(intent,), same=intent)
    found = fitted(live, "p", near)
    assert found.same == (intent if fits else "")
    assert found.refused == (len(group.typical) if outside else 0)
    n_taken = round(share * len(group.typical))
    told = [one.answer for one in found.typical]
    assert told.count("" if outside else intent) == (len(told) if outside else n_taken)
    of_others = sum(one in others for one in told)
    assert of_others == (0 if outside else len(told) - n_taken)


def test_an_intent_that_answers_most_texts_is_proposed_though_others_are_nearer(
    live: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only two intents were looked at, and Enter made a new one of what a third one answers."""
    third, near, nearer, *_ = columns(live)

    def answers(model: LiveModel, records: tuple[UtteranceRecord, ...], rows: FloatArray) -> Pool:
        found = judged(model, records, rows)
        certain = np.zeros_like(found.probabilities)
        certain[:, model.columns.index(third)] = 1.0
        return replace(found, probabilities=certain, outside=np.zeros(len(records), dtype=bool))

    monkeypatch.setattr(fitting, "judged", answers)
    found = fitted(live, "p", replace(opened(live), intents=(nearer, near), same=""))
    assert (found.same, found.intents) == (third, (third, nearer))
    change_intent(live.studio, "p", third, {"archived": True})
    assert fitted(live, "p", replace(opened(live), intents=(near,), same="")).same == ""


def test_without_a_model_in_memory_the_centres_decide(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_here(home, "p")
    live = open_live_studio(home)
    group = replace(opened(live), same="of the centres")
    monkeypatch.setattr(Pools, "get", lambda *_: None)
    found = fitted(live, "p", group)
    assert found.same == "of the centres"
    assert {one.answer for one in found.typical} == {None}


def test_an_intent_that_the_model_does_not_know_is_left_to_the_centres(live: LiveStudio) -> None:
    group = replace(opened(live), same="made today", intents=("made today",))
    assert fitted(live, "p", group).same == "made today"
