"""Where a typed text lands: in numbers that fit the map, and in words."""

import re

import numpy as np
import pytest

from app.services.explaining.words import landing_words
from app.services.labelling.decisions import Operation, decide
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.trying.answers import answer_texts, load_example_map
from core.maps.plane import fit_plane
from storage import projects
from storage.queries import dataset
from tests.builders.trained_home import rows_of


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def test_an_example_lands_on_its_own_point_of_the_map(live_studio: LiveStudio) -> None:
    shown = load_example_map(live_studio, "p")
    live = live_studio.models.get(1)
    assert live is not None
    assert (shown.model, shown.total, len(shown.points)) == (f"p@{live.version.number}", 20, 20)
    exemplars = live.pipeline.exemplars
    named = [shown.labels[code] for code in shown.codes]
    assert named == [exemplar.intents for exemplar in exemplars]
    for row in (0, 7, 19):
        (one,) = answer_texts(live_studio, "p", [exemplars[row].text])
        assert one.landing is not None
        assert one.landing.place == pytest.approx(shown.points[row], abs=2e-4)
        assert one.prediction.model_version == shown.model
        closeness = live.pipeline.embeddings @ live.pipeline.embeddings[row]
        near = [shown.points[i] for i in np.argsort(-closeness, kind="stable")[:10]]
        assert sorted(one.landing.neighbours) == sorted(near)  # those that the words count


def test_many_texts_at_once_land_nowhere(live_studio: LiveStudio) -> None:
    found = answer_texts(live_studio, "p", ["where is it", "money back"])
    assert [one.landing for one in found] == [None, None]
    (alone,) = answer_texts(live_studio, "p", ["money back"])
    same, other = alone.prediction.ranked[0], found[1].prediction.ranked[0]
    assert (same.intent, same.score) == (other.intent, pytest.approx(other.score, abs=1e-5))


def test_of_very_many_examples_some_are_shown(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load_example_map(live_studio, "p")
    monkeypatch.setattr("app.services.trying.landing._MOST_POINTS", 6)
    some = load_example_map(live_studio, "p")
    assert (some.total, len(some.points), len(some.codes)) == (20, 6, 6)
    assert set(zip(some.codes, some.points, strict=True)) < set(
        zip(whole.codes, whole.points, strict=True)
    )


def test_a_new_label_adds_a_point_and_moves_none(live_studio: LiveStudio, home: Studio) -> None:
    before = load_example_map(live_studio, "p")
    rows = rows_of(home)
    fresh = next(key for key, (_, labels) in rows.items() if labels is None)
    with home.database.read() as connection:
        project = projects.find(connection, "p")
        intent = next(iter(dataset.intents(connection, project.id))).id
    (done,) = decide(home, "p", [Operation("k", "label", fresh, (intent,))])
    assert done.state == "saved"
    after = load_example_map(live_studio, "p")
    assert after.total == before.total + 1
    assert set(before.points) < set(after.points)


@pytest.mark.parametrize(
    ("names", "outside", "words"),
    [
        (["refund"] * 7 + ["parcel"] * 3, False, "Lands among refund."),
        (["parcel"] + ["refund"] * 6 + ["login"] * 3, False, "Lands between refund and login."),
        (["parcel", "refund"] * 5, False, "Lands between parcel and refund."),
        (["refund"], False, "Lands among refund."),
        (
            ["parcel"] * 9 + ["refund"],
            True,
            "Unlike all examples, so its place on this small map says nothing.",
        ),
    ],
)
def test_where_a_text_lies_is_said_by_its_nearest_examples(
    names: list[str], words: str, *, outside: bool
) -> None:
    labels = [(name,) for name in names]
    assert landing_words(labels, labels, outside=outside) == words


def test_the_intent_of_all_votes_is_told_from_that_of_the_most_similar_examples() -> None:
    """ "Closest: login" stood beside "the nearest are of parcel and refund"."""
    labels = [("parcel",)] * 6 + [("refund",)] * 4
    words = landing_words(labels, labels, outside=False, leading="login")
    assert words.endswith(" The answer goes by all examples together: they speak most for login.")
    assert "All votes" not in landing_words(labels, labels, outside=False, leading="refund")
    # Of a refused text three nearest intents were named: the answer alone names one.
    refused = landing_words(labels, labels, outside=True, leading="login")
    assert not re.search("login|parcel|refund", refused)


def test_words_do_not_place_a_text_where_the_flat_map_does_not_show_it() -> None:
    """“Lands among refund” stood beside a dot that lay among the parcels."""
    near, drawn = [("refund",)] * 9 + [("login",)], [("parcel",)] * 6 + [("login",)] * 4
    words = "Most similar examples: refund. This flat map draws it among others, such as parcel."
    assert landing_words(near, drawn, outside=False) == words
    some = [("parcel",)] * 6 + [("refund",)] * 4
    assert landing_words(near, some, outside=False) == "Lands among refund."


def test_a_plane_places_others_as_those_it_was_fitted_to() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    rows[:, 0] *= 5
    plane = fit_plane(rows)
    together = plane.place(rows)
    np.testing.assert_allclose(plane.place(3 * rows[7:8]), together[7:8], atol=1e-6)
    assert together.mean(0) == pytest.approx([0, 0], abs=1e-6)
    assert together[:, 0].std() > together[:, 1].std()
    assert fit_plane(np.zeros((0, 4), np.float32)).place(rows[:1, :4]).tolist() == [[0, 0]]
