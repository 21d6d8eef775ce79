"""Colours by answer are what the page Data says: of the version in use, what answers now."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from app.services.answering.opened import find_space
from app.services.answering.stored import load_model
from app.services.data.intents import add_intent
from app.services.live import row_answers
from app.services.live.joining import base_of
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.live.row_answers import answer_rows, exemplar_scores
from app.services.maps import answers
from app.services.maps.requests import map_colours, map_points
from app.services.review.fence import save_fence
from app.services.review.fence_views import FenceSetting
from app.services.studio import Studio
from core.types import ScoreArray
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import POOL, label, rows_of

OUTSIDE = "out of scope"


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def in_use(live_studio: LiveStudio) -> int:
    with live_studio.studio.database.read() as connection:
        return find_space(connection, "p", None).number


def on_map(live_studio: LiveStudio, model: int | None, by: str = "prediction") -> dict[str, str]:
    """Return the words that a map has for each text."""
    ids, rows = map_points(live_studio.studio, "p", model).ids, rows_of(live_studio.studio)
    view = map_colours(live_studio, "p", model, by, ids)
    pairs = zip(ids, view.codes.tolist(), strict=True)
    return {rows[key][0]: view.legend[code].name for key, code in pairs}


def on_data(live_studio: LiveStudio) -> dict[str, str]:
    """Return the words in the column of the page Data for each text."""
    rows = rows_of(live_studio.studio)
    live_studio.models.get(1)
    with live_studio.studio.database.read() as connection:
        names = dataset.intent_names(connection, 1)
    found = answer_rows(live_studio.studio, live_studio.models, "p", list(rows)).answers
    return {rows[a.id][0]: names[a.intents[0]] if a.intents else OUTSIDE for a in found}


def test_a_stricter_limit_refuses_a_text_on_the_map_as_elsewhere(live_studio: LiveStudio) -> None:
    """The map said “Answer: refund” of a text that Data and Try told as out of scope."""
    before = on_map(live_studio, None)
    assert set(before.values()) - {OUTSIDE}
    assert before == on_data(live_studio)
    save_fence(live_studio, "p", FenceSetting(9.0))
    refused = on_map(live_studio, None)
    assert refused == on_data(live_studio)
    assert list(refused.values()).count(OUTSIDE) > list(before.values()).count(OUTSIDE)
    agreed = on_map(live_studio, None, "agreement")
    assert {agreed[text] for text, said in refused.items() if said == OUTSIDE} <= {
        "labelled, but refused",
        "unlabelled",
    }
    save_fence(live_studio, "p", None)
    assert on_map(live_studio, None) == before


def test_a_label_given_since_the_training_counts_on_the_map(live_studio: LiveStudio) -> None:
    before = on_map(live_studio, None)
    other = next(name for name in ("refund", "parcel") if before[POOL[0]] != name)
    for text in POOL[:3]:
        label(live_studio.studio, text, other)
    after = on_map(live_studio, None)
    assert after == on_data(live_studio)
    assert after != before


def test_an_intent_that_came_since_answers_by_its_name(live_studio: LiveStudio) -> None:
    before = on_map(live_studio, None)
    add_intent(live_studio.studio, "p", "what about parcels", "")
    after = on_map(live_studio, None)
    assert after == on_data(live_studio)
    assert after["what about parcels"] == "what about parcels" != before["what about parcels"]


def test_the_version_in_use_answers_alike_by_its_number(live_studio: LiveStudio) -> None:
    """A comparison of two maps asks by number."""
    save_fence(live_studio, "p", FenceSetting(0.9))
    label(live_studio.studio, POOL[1], "refund")
    assert on_map(live_studio, in_use(live_studio)) == on_data(live_studio)


def test_another_version_answers_as_trained_with_the_limit_of_today(
    live_studio: LiveStudio,
) -> None:
    other = 3 - in_use(live_studio)
    save_fence(live_studio, "p", FenceSetting(0.5))
    found = on_map(live_studio, other)
    for answer in load_model(live_studio.studio, f"p@{other}").predict(list(POOL)):
        assert found[answer.text] == (answer.intent if answer.decision.intents else OUTSIDE)
    label(live_studio.studio, POOL[0], "refund")
    assert on_map(live_studio, other) == found


def test_an_example_is_answered_again_once_its_copies_can_be_left_out(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prepared previews told what Data says of it, and the map went by the copies until a label."""
    monkeypatch.setattr(row_answers, "SOLVED_AT_ONCE", 5)
    with live_studio.studio.database.write() as connection:
        source = next(one for one in dataset.utterances(connection, 1) if one.labels)
        copy = replace(source, id="s", text=f"{source.text} again", synthetic=source.id)
        events.record(connection, 1, Action("augment", "local"), [edits.create(copy)])
    live_studio.models.get(1)
    kept = live_studio.models.kept[1]
    assert kept.model is not None
    fresh = base_of(kept.model.pipeline, kept.model.columns)  # as after very many changes
    kept.model = replace(kept.model, base=fresh, changes={})
    before = answers._state(*live_studio.models.open_by_id(1))
    assert answers._state(*live_studio.models.open_by_id(1)) == before
    live_studio.models.solved(1)
    assert answers._state(*live_studio.models.open_by_id(1)) != before


def test_what_all_answers_need_is_computed_once_for_all_points(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The votes on all examples were computed again for each part of the points."""
    before = on_map(live_studio, None)
    counted: list[LiveModel] = []

    def counting(studio: Studio, live: LiveModel) -> tuple[ScoreArray, NDArray[np.bool_]] | None:
        counted.append(live)
        return exemplar_scores(studio, live)

    monkeypatch.setattr(row_answers, "exemplar_scores", counting)
    monkeypatch.setattr(answers, "_CHUNK", 2)
    live_studio.studio.cache.clear()
    assert on_map(live_studio, None) == before
    assert len(counted) == 1
