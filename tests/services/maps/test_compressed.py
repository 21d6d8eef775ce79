"""The map compressed: who moves, by how much, and what waits for a job."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.jobs.context import JobContext
from app.services.answering.opened import find_space, open_space
from app.services.cache import Cache
from app.services.embedding import read_embedded
from app.services.maps.compressed import drift_view, drifted
from app.services.maps.requests import map_points, start_layout
from app.services.studio import Studio
from core.encoders.quick import copies
from core.errors import InvalidInput, NotFound
from core.maps.alignment import normalise
from core.maps.plane import fit_plane
from core.vectors import unit_rows
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.slotted_project import CITIES, with_values
from tests.builders.trained_home import do, opened, train


@pytest.fixture
def valued(tmp_path: Path, tiny_path: Path) -> Iterator[Studio]:
    studio = opened(tmp_path / "home")
    with_values(studio)
    train(studio, tiny_path, {"kind": "instant"})
    yield studio
    studio.database.close()


def texts(studio: Studio) -> dict[str, str]:
    with studio.database.read() as connection:
        return {row.id: row.text for row in dataset.utterances(connection, 1)}


def template(text: str) -> str:
    city = next((city for city in CITIES if city in text), None)
    return text if city is None else text.replace(city, "{SLOT}")


def test_points_move_to_where_the_maps_own_projection_puts_them(valued: Studio) -> None:
    view = drift_view(valued, "p", 1)
    # Thirty are marked; of the pool two name a city that is known, of the tests one.
    assert (view.marked, view.proposed, view.total, view.missing) == (30, 3, 37, 0)
    assert "own projection" in view.words
    plain, moved = map_points(valued, "p", 1), drifted(valued, "p", 1, "pca", 0.5)
    assert (moved.ids, moved.order) == (plain.ids, plain.order)
    with valued.database.read() as connection:
        space = find_space(connection, "p", 1)
    encoder = open_space(valued, space).encoder
    known = read_embedded(valued, space.project, encoder)
    said = [texts(valued)[key] for key in known.ids]
    templates = unit_rows(encoder.encode([template(text) for text in said]))
    after = unit_rows(0.5 * templates + 0.5 * unit_rows(known.embeddings))
    plane = fit_plane(known.embeddings)
    expected = normalise(plane.place(after), frame=plane.place(known.embeddings))
    np.testing.assert_allclose(moved.xy, expected, atol=1e-4)
    still = [at for at, text in enumerate(said) if template(text) == text]
    assert len(still) == 4
    np.testing.assert_array_equal(moved.xy[still], plain.xy[still])
    np.testing.assert_array_equal(drifted(valued, "p", 1, "pca", 0.0).xy, plain.xy)


def test_a_layout_without_a_projection_is_estimated_by_neighbours(
    valued: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(valued, start_layout(valued, "p", 1, "tsne").id)
    assert "estimate" in drift_view(valued, "p", 1, "tsne").words
    plain = map_points(valued, "p", 1, "tsne")
    np.testing.assert_array_equal(drifted(valued, "p", 1, "tsne", 0.0).xy, plain.xy)
    moved = drifted(valued, "p", 1, "tsne", 0.8)
    assert np.abs(moved.xy - plain.xy).max() > 0.01
    monkeypatch.setattr("app.services.maps.compressed._MOST_PRODUCTS", 100)
    with pytest.raises(InvalidInput, match="33 of 37 points"):
        drifted(valued, "p", 1, "tsne", 0.8)


def test_too_many_templates_are_left_to_a_job(
    valued: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    map_points(valued, "p", 1)
    monkeypatch.setattr("app.services.embedding.AT_ONCE", 4)
    assert drift_view(valued, "p", 1).missing == 8  # six of examples, two of the pool
    with pytest.raises(NotFound, match="8 templates are not encoded yet"):
        drifted(valued, "p", 1, "pca", 0.5)
    job = start_layout(valued, "p", 1, "pca", templates=True)
    assert start_layout(valued, "p", 1, "pca", templates=True).id == job.id
    assert start_layout(valued, "p", 1, "pca").id != job.id
    stages: list[str] = []
    monkeypatch.setattr(JobContext, "report", lambda _, share, stage, *rest: stages.append(stage))
    assert do(valued, job.id).state == "succeeded"
    assert any(stage.endswith("of 8 patterns") for stage in stages)  # as “Generate texts” says
    assert drift_view(valued, "p", 1).missing == 0
    assert len(drifted(valued, "p", 1, "pca", 0.5).ids) == 37


def test_texts_of_a_stored_layout_that_are_not_encoded_are_left_to_a_job(
    valued: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maps were encoded otherwise since, no text was known, and that broke."""
    do(valued, start_layout(valued, "p", 1, "tsne").id)
    monkeypatch.setattr(copies, "has_eight_bits", lambda: True)
    monkeypatch.setattr("app.services.embedding.AT_ONCE", 10)  # more than the eight templates
    settings = valued.settings.model_copy(update={"map_precision": "int8"})
    other = dataclasses.replace(valued, settings=settings, cache=Cache())
    assert drift_view(other, "p", 1).missing == 0
    assert drift_view(other, "p", 1, "tsne").missing == 37
    with pytest.raises(NotFound, match="Texts of this map are not encoded yet"):
        drifted(other, "p", 1, "tsne", 0.5)
    do(other, start_layout(other, "p", 1, "pca", templates=True).id)
    assert drift_view(other, "p", 1, "tsne").missing == 0
    assert len(drifted(other, "p", 1, "tsne", 0.5).ids) == 37


def test_texts_that_are_not_on_a_map_are_not_read_for_it(
    valued: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a large import no point of the clearer map moved before a job had read it."""
    do(valued, start_layout(valued, "p", 1, "tsne").id)
    monkeypatch.setattr("app.services.embedding.AT_ONCE", 10)
    made = [edits.create_utterance(f"n{n}", f"one more {n}", "pool", "g", None) for n in range(11)]
    with valued.database.write() as connection:
        events.record(connection, 1, Action("import", "local"), made)
    view = drift_view(valued, "p", 1, "tsne")
    assert (view.total, view.missing) == (48, 0)
    assert len(drifted(valued, "p", 1, "tsne", 0.5).ids) == 37


def test_without_a_mark_no_point_moves(valued: Studio, tiny_path: Path) -> None:
    with_values(valued, "bare", marked=False)
    train(valued, tiny_path, {"kind": "instant"}, "bare")
    view = drift_view(valued, "bare")
    assert (view.marked, view.proposed, view.missing) == (0, 0, 0)
    plain = map_points(valued, "bare")
    np.testing.assert_array_equal(drifted(valued, "bare", None, "pca", 1.0).xy, plain.xy)
