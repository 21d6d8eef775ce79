"""The compressed map: places of points whose texts move towards their templates."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.services import embedding
from app.services.answering.opened import Space, find_space, open_space
from app.services.cache import of_encoder
from app.services.embedding import (
    Points,
    digest_of,
    embed_texts,
    encoder_of_maps,
    read_embedded,
    read_points,
    unknown_texts,
)
from app.services.maps.layouts import current_layout
from app.services.maps.views import DriftView, MapView
from app.services.slots.matcher import read_marked_values, templates_of, tokens_of
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.maps.alignment import normalise
from core.maps.drift import drift_by_neighbours, drift_on_plane
from core.maps.plane import fit_plane
from core.splits import Rows
from core.types import FloatArray
from core.vectors import unit_rows

_MOST_PRODUCTS = 200_000_000
"""Most moving points times points they are compared with: some seconds on two cores."""

_HOW = {
    "pca": "Each point goes where the map's own projection puts its compressed text.",
    "other": "This layout has no projection: each point goes where its nearest neighbours lie, "
    "which is an estimate.",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Moving:
    """Templates of points that move, by utterance id; a person marked the values of `marked`.

    The others have values as texts of the training split, and `imports` imports, have them.
    """

    templates: dict[str, str] = field(repr=False)
    marked: int
    imports: int


def drift_view(
    studio: Studio, project: str, model: int | None = None, method: str = "pca"
) -> DriftView:
    """Say which points of a map would move, and how their places would be computed.

    Raises:
        NotFound: There is no such project or version, or the layout was not computed yet.
        InvalidInput: There is no such method.
    """
    space, points = _looked_at(studio, project, model)
    moving = _moving(studio, space, points)
    encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
    missing = [len(unknown_texts(studio.database, encoder, moving.templates.values()))]
    if method != "pca":  # that map has known texts alone
        ids, _ = current_layout(studio, space, points, method)
        known = read_embedded(studio, space.project, encoder)
        missing.append(len(set(ids).difference(known.ids)))
    return DriftView(
        marked=moving.marked,
        proposed=len(moving.templates) - moving.marked,
        total=len(points.columns.ids),
        missing=sum(n for n in missing if n > embedding.AT_ONCE),
        words=_HOW["pca" if method == "pca" else "other"],
    )


def drifted(
    studio: Studio, project: str, model: int | None, method: str, strength: float
) -> MapView:
    """Return a map with points moved towards their templates by `strength` in [0, 1].

    Values are those that people marked; texts outside the train split without any get values known
    from the train split. Points keep the box of the map. `model` is as for `map_points`.

    Raises:
        NotFound: There is no such project or version; the layout or its templates were not computed
            yet.
        InvalidInput: There is no such method, or too many points to estimate places for.
    """
    from core.heads.votes.compression import Paired  # loads torch

    space, points = _looked_at(studio, project, model)
    ids, xy = current_layout(studio, space, points, method)
    moving = _moving(studio, space, points)
    rows = np.array([at for at, key in enumerate(ids) if key in moving.templates], dtype=np.int64)
    places = xy
    if strength > 0 and len(rows):
        before, templates = _embedded(studio, space, moving, ids, rows)
        after = Paired(templates, before).at(strength)
        places = xy.copy()
        places[rows] += _drift(studio, space, method, (ids, xy), (before, after))
    return MapView(
        project=project,
        model=space.number,
        method=method,
        ids=ids,
        xy=normalise(places, frame=xy),
        stored=method != "pca",
        missing=len(points.columns.ids) - len(ids),
        revision=points.revision,
        order=digest_of(ids),
    )


def _looked_at(studio: Studio, project: str, model: int | None) -> tuple[Space, Points]:
    with studio.database.read() as connection:
        space = find_space(connection, project, model)
    return space, read_points(studio, space.project)


def _moving(studio: Studio, space: Space, points: Points) -> _Moving:
    marks = read_marked_values(studio, space.project)
    with studio.database.read() as connection:
        tokens = tokens_of(connection, space.version)

    def find() -> _Moving:
        templates = templates_of(studio.database, space.project.id, points, marks, tokens)
        return _Moving(templates, len(marks.utterances), marks.imports)

    series = ("moving", space.project.id, tokens)
    return studio.cache.get_newest(
        series,
        (points.revision, marks.imports),
        find,
        lambda made: 300 * len(made.templates),
    )


def _embedded(
    studio: Studio, space: Space, moving: _Moving, ids: Sequence[str], rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return embeddings of the moving points and of their templates; unit rows, (r, d) each."""
    encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
    known = read_embedded(studio, space.project, encoder)
    if not set(known.ids).issuperset(ids):  # a stored layout stays when maps are encoded otherwise
        raise NotFound("Texts of this map are not encoded yet.", "Start it; a job encodes them.")
    missing = unknown_texts(studio.database, encoder, moving.templates.values())
    if len(missing) > embedding.AT_ONCE:
        raise NotFound(
            f"{len(missing):,} templates are not encoded yet.", "Start it; a job encodes them."
        )

    def embed() -> tuple[FloatArray, FloatArray]:
        place = {key: at for at, key in enumerate(known.ids)}
        own = [place[ids[row]] for row in rows]
        words = [moving.templates[ids[row]] for row in rows]
        templates = embed_texts(studio.database, encoder, words)
        return unit_rows(known.embeddings[own]), unit_rows(templates)

    series = ("templates", of_encoder(space.project, encoder.fingerprint))
    moment = (space.project.head_revision, moving.imports, known.digest, digest_of(ids))
    return studio.cache.get_newest(series, moment, embed, lambda made: 2 * int(made[0].nbytes))


def _drift(
    studio: Studio,
    space: Space,
    method: str,
    layout: tuple[Sequence[str], FloatArray],
    move: tuple[FloatArray, FloatArray],
) -> FloatArray:
    encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
    known = read_embedded(studio, space.project, encoder)
    if method == "pca":
        plane = studio.cache.get_newest(
            ("plane", of_encoder(space.project, encoder.fingerprint)),
            known.digest,
            lambda: fit_plane(known.embeddings),
            lambda _: 20_000,
        )
        return drift_on_plane(plane, *move)
    ids, xy = layout
    if len(ids) * len(move[0]) > _MOST_PRODUCTS:
        raise InvalidInput(
            f"{len(move[0]):,} of {len(ids):,} points would have to be placed anew.",
            "Choose “Quick map”.",
        )
    place = {key: at for at, key in enumerate(known.ids)}
    rows = [place[key] for key in ids]
    return drift_by_neighbours(known.embeddings[rows], xy, *move)
