import importlib.util

import numpy as np
import pytest

from app.services.maps.requests import compare_maps, map_points, start_layout
from app.services.studio import Studio
from core.maps.alignment import normalise
from tests.builders.trained_home import POOL, change, do, rows_of

needs_umap = pytest.mark.skipif(
    importlib.util.find_spec("umap") is None, reason="the extra `maps` is not installed"
)


def test_a_comparison_aligns_both_maps_and_tells_who_moved(home: Studio) -> None:
    view = compare_maps(home, "p", 1, 2)
    assert (view.before, view.after, view.missing, view.judged) == (1, 2, 0, 20)
    both = np.concatenate([view.before_xy, view.after_xy])
    assert both.shape == (50, 2)
    assert 0.0 <= both.min() <= both.max() <= 1.0
    apart = float(((view.after_xy - view.before_xy) ** 2).sum())
    for mirror in ([1, 1], [-1, 1], [1, -1], [-1, -1]):  # no simple change brings them nearer
        turned = (view.after_xy - 0.5) * mirror + 0.5
        assert apart <= float(((turned - view.before_xy) ** 2).sum()) + 1e-6
    assert len(view.moved) == 20
    changes = [move.change for move in view.moved]
    assert changes == sorted(changes, reverse=True)
    rows = rows_of(home)
    assert all(
        (move.text, move.intents) == (rows[move.id][0], rows[move.id][1] or ())
        for move in view.moved
    )
    before, after = view.silhouettes
    assert before is not None
    assert after is not None
    assert after > before  # tuning draws the texts of an intent together
    assert compare_maps(home, "p", 1, 2) is view


def test_a_moved_text_that_is_labelled_as_fitting_no_intent_is_labelled(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“Moved most” told it as a text without a label."""
    monkeypatch.setattr("app.services.maps.comparison._MOVED", 25)
    change(home, POOL[0], "labels", [])
    moved = {move.text: move for move in compare_maps(home, "p", 1, 2).moved}
    assert (moved[POOL[0]].intents, moved[POOL[0]].labelled) == ((), True)
    assert (moved[POOL[1]].intents, moved[POOL[1]].labelled) == ((), False)


def test_nothing_moves_between_a_version_and_itself(home: Studio) -> None:
    view = compare_maps(home, "p", 1, 1)
    np.testing.assert_allclose(view.after_xy, view.before_xy, atol=1e-6)
    assert {move.change for move in view.moved} == {0.0}


def test_of_very_many_texts_those_that_moved_farthest_are_looked_at(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.maps.comparison._ALL_UP_TO", 10)
    monkeypatch.setattr("app.services.maps.comparison._FARTHEST", 6)
    view = compare_maps(home, "p", 1, 2)
    distance = np.linalg.norm(view.after_xy - view.before_xy, axis=1)
    farthest = {view.ids[row] for row in np.argsort(-distance)[:6]}
    assert {move.id for move in view.moved} == farthest


@needs_umap
@pytest.mark.slow
def test_the_second_version_starts_from_the_layout_of_the_first(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[np.ndarray | None] = []

    def umap(embeddings, seed=0, init=None, progress=None) -> np.ndarray:
        from core.maps.layouts import umap_layout

        starts.append(init)
        return umap_layout(embeddings, seed, init, progress)

    monkeypatch.setattr("app.services.maps.layouts.umap_layout", umap)
    for number in (1, 2):
        do(home, start_layout(home, "p", number, "umap").id)
    assert starts[0] is None
    np.testing.assert_allclose(normalise(starts[1]), map_points(home, "p", 1, "umap").xy, atol=1e-6)
    view = compare_maps(home, "p", 1, 2, "umap")
    assert len(view.ids) == 25
