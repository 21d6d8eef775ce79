"""Maps and groups encoded by a quick copy: near the exact ones, and kept apart from all figures."""

import dataclasses

import numpy as np
import pytest

from app.services.cache import Cache
from app.services.discover.runs import start_grouping
from app.services.embedding import Embedded, encoder_of_maps, read_embedded
from app.services.live.live_studio import open_live_studio
from app.services.maps.requests import compare_maps, map_colours, map_points, start_layout
from app.services.pruning import prune
from app.services.studio import Studio
from app.services.upkeep import examine
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.quick import copies
from core.encoders.quick.copies import fingerprint_of_copy
from storage import projects
from storage.computed import vectors
from tests.builders.trained_home import do

_EMBEDDINGS = "embeddings of texts or encoders that are gone"


@pytest.fixture
def small(home: Studio, monkeypatch: pytest.MonkeyPatch) -> Studio:
    """Return a studio whose maps are encoded in 8 bits; version 1 has the tiny encoder."""
    monkeypatch.setattr(copies, "has_eight_bits", lambda: True)
    settings = home.settings.model_copy(update={"map_precision": "int8"})
    return dataclasses.replace(home, settings=settings, cache=Cache())


def stored(studio: Studio, fingerprint: str, dim: int) -> Embedded:
    with studio.database.read() as connection:
        ids, rows = vectors.of_project(connection, 1, fingerprint, dim)
    return Embedded(tuple(ids), rows, "")


def counted(studio: Studio) -> int:
    return next(one.count for one in prune(studio, now=False) if one.kind == _EMBEDDINGS)


def test_a_map_in_8_bits_is_near_the_one_in_float32_and_stored_apart(
    small: Studio, tiny: TransformerEncoder
) -> None:
    before = stored(small, tiny.fingerprint, tiny.dim)
    ended = do(small, start_layout(small, "p", 1, "pca").id)
    assert ended.result == {"number": 1, "method": "pca", "n": 25, "precision": "int8"}
    assert map_points(small, "p", 1).missing == 0
    assert stored(small, tiny.fingerprint, tiny.dim).ids == before.ids  # none was added
    found = stored(small, fingerprint_of_copy(tiny.fingerprint, "int8"), tiny.dim)
    assert len(found.ids) == 25
    with small.database.read() as connection:
        project = projects.find(connection, "p")
    exact = read_embedded(small, project, tiny)
    assert exact.ids == found.ids
    assert not np.array_equal(exact.embeddings, found.embeddings)
    lengths = np.linalg.norm(exact.embeddings, axis=1) * np.linalg.norm(found.embeddings, axis=1)
    cosines = (exact.embeddings * found.embeddings).sum(1) / lengths
    assert float(cosines.min()) > 0.99
    assert len(map_colours(open_live_studio(small), "p", 1, "prediction").codes) == 25


def test_silhouettes_of_versions_stay_those_of_float32(home: Studio, small: Studio) -> None:
    exact, rounded = compare_maps(home, "p", 1, 2), compare_maps(small, "p", 1, 2)
    assert not np.array_equal(rounded.before_xy, exact.before_xy)
    assert (rounded.silhouettes, rounded.judged) == (exact.silhouettes, exact.judged)


def test_groups_are_encoded_in_8_bits_and_say_so(small: Studio, home: Studio) -> None:
    ended = do(small, start_grouping(small, "p").id)
    assert ended.result is not None
    assert ended.result["precision"] == "int8"
    again = do(home, start_grouping(home, "p", anew=True).id)
    assert again.result is not None
    assert again.result["precision"] == "float32"
    assert again.result["texts"] == ended.result["texts"] == 5


def test_embeddings_in_8_bits_are_needed_while_maps_use_them(home: Studio, small: Studio) -> None:
    needed = counted(small)
    map_points(small, "p", 1)
    assert counted(small) == needed
    assert counted(home) == needed + 25


def test_the_check_says_in_which_format_maps_are_encoded(
    home: Studio, small: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def detail(studio: Studio) -> str:
        return {one.subject: one.detail for one in examine(studio)}["maps and groups"]

    monkeypatch.setattr(copies, "settled_precision", lambda asked, device: "float32")
    assert detail(small) == "encoded in int8"
    hint = "; STUDIO_MAP_PRECISION=auto encodes in int8, which is quicker here"
    assert detail(home) == f"encoded in float32{hint}"
    monkeypatch.setattr(copies, "has_eight_bits", lambda: False)
    assert detail(small) == detail(home) == "encoded in float32"


def test_a_processor_without_8_bits_encodes_maps_in_float32(
    small: Studio, monkeypatch: pytest.MonkeyPatch, tiny: TransformerEncoder
) -> None:
    monkeypatch.setattr(copies, "has_eight_bits", lambda: False)
    assert encoder_of_maps(small, tiny) is tiny
    ended = do(small, start_layout(small, "p", 1, "pca").id)
    assert ended.result == {"number": 1, "method": "pca", "n": 25, "precision": "float32"}
