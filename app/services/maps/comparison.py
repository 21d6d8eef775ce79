"""Moves by training: two maps of the same texts, and the texts whose neighbours changed."""

from collections.abc import Sequence

import numpy as np

from app.services.answering.opened import Space, open_space
from app.services.embedding import (
    AT_ONCE,
    Points,
    digest_of,
    embed_known,
    encoder_of_maps,
    read_embedded,
)
from app.services.maps.layouts import current_layout
from app.services.maps.views import ComparisonView, MovedText
from app.services.studio import Studio
from core.errors import InvalidInput
from core.maps.alignment import align, normalise
from core.maps.moves import Move, Placed, moved_most
from core.metrics.geometry import silhouette
from core.types import FloatArray
from storage.queries import columns, dataset

_MOVED = 20
_ALL_UP_TO, _FARTHEST = 10_000, 2_000
"""Above the first number of texts, only the second number, which moved farthest, are compared."""
_JUDGED = 3_000
_Side = tuple[tuple[str, ...], Placed]


def compare(
    studio: Studio, before_space: Space, after_space: Space, points: Points, method: str
) -> ComparisonView:
    """Compare the maps of two spaces of one project.

    Raises:
        NotFound: A layout was not computed yet.
        InvalidInput: There is no such method, or no text is on both maps.
    """
    ids, before, after = _common(
        _side(studio, before_space, points, method), _side(studio, after_space, points, method)
    )
    if not ids:
        raise InvalidInput("No text is on both maps yet.", "Make the map of each version first.")
    before, after = _on_one_map(before, after)
    labels = dict(zip(points.columns.ids, points.columns.labels, strict=True))
    named = _named(studio, before_space, [labels[key] for key in ids])
    silhouettes, judged = _silhouettes(studio, (before_space, after_space), ids, named)
    return ComparisonView(
        project=before_space.project.name,
        before=before_space.number,
        after=after_space.number,
        method=method,
        ids=ids,
        before_xy=before.layout,
        after_xy=after.layout,
        moved=_moved(studio, before_space, ids, named, _moves(before, after)),
        silhouettes=silhouettes,
        judged=judged,
        missing=len(points.columns.ids) - len(ids),
        revision=points.revision,
        order=digest_of(ids),
    )


def _side(studio: Studio, space: Space, points: Points, method: str) -> _Side:
    """Return the utterances that have both a place and an embedding, with both."""
    ids, xy = current_layout(studio, space, points, method)
    encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
    embedded = read_embedded(studio, space.project, encoder)
    row = {key: at for at, key in enumerate(embedded.ids)}
    kept = [at for at, key in enumerate(ids) if key in row]
    rows = [row[ids[at]] for at in kept]
    return tuple(ids[at] for at in kept), Placed(_rows(embedded.embeddings, rows), _rows(xy, kept))


def _common(before: _Side, after: _Side) -> tuple[tuple[str, ...], Placed, Placed]:
    """Keep the utterances that both sides have, in the same order."""
    rows = [{key: at for at, key in enumerate(ids)} for ids, _ in (before, after)]
    ids = tuple(key for key in before[0] if key in rows[1])
    kept = [
        Placed(
            _rows(placed.embeddings, [row[key] for key in ids]),
            _rows(placed.layout, [row[key] for key in ids]),
        )
        for row, (_, placed) in zip(rows, (before, after), strict=True)
    ]
    return ids, kept[0], kept[1]


def _rows(values: FloatArray, rows: Sequence[int]) -> FloatArray:
    return values[np.asarray(rows, dtype=np.int64)]


def _on_one_map(before: Placed, after: Placed) -> tuple[Placed, Placed]:
    """Turn and scale the second layout onto the first, and fit both into one unit box."""
    both = np.concatenate([before.layout, align(after.layout, before.layout)])
    fitted, n = normalise(both), len(before.layout)
    return Placed(before.embeddings, fitted[:n]), Placed(after.embeddings, fitted[n:])


def _moves(before: Placed, after: Placed) -> list[Move]:
    rows = None
    if len(before.layout) > _ALL_UP_TO:
        distance = np.linalg.norm(after.layout - before.layout, axis=1)
        rows = np.sort(np.argsort(-distance, kind="stable")[:_FARTHEST])
    return moved_most(before, after, _MOVED, rows)


def _named(
    studio: Studio, space: Space, labels: Sequence[tuple[str, ...] | None]
) -> list[tuple[str, ...] | None]:
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, space.project.id)
    return [None if row is None else tuple(names[key] for key in row) for row in labels]


def _moved(
    studio: Studio,
    space: Space,
    ids: Sequence[str],
    named: Sequence[tuple[str, ...] | None],
    moves: Sequence[Move],
) -> tuple[MovedText, ...]:
    """Return the moved texts with their labels; `ids` and `named` are of all rows."""
    with studio.database.read() as connection:
        texts = columns.texts(connection, space.project.id, [ids[move.row] for move in moves])
    moved = list[MovedText]()
    for move in moves:
        key, names = ids[move.row], named[move.row]
        if key in texts:
            is_labelled = names is not None
            one = MovedText(key, texts[key], names or (), move.change, move.distance, is_labelled)
            moved.append(one)
    return tuple(moved)


def _silhouettes(
    studio: Studio,
    spaces: tuple[Space, Space],
    ids: Sequence[str],
    named: Sequence[tuple[str, ...] | None],
) -> tuple[tuple[float | None, float | None], int]:
    """Measure the silhouette of intents in both spaces, on the same texts with one intent each.

    These are figures of versions: their embeddings are in float32, whatever those of the map are.
    """
    intents = [names[0] if names and len(names) == 1 else "" for names in named]
    rows = np.array([at for at, name in enumerate(intents) if name], dtype=np.int64)
    if len(rows) > _JUDGED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _JUDGED, replace=False))
    with studio.database.read() as connection:
        found = columns.texts(connection, spaces[0].project.id, [ids[row] for row in rows.tolist()])
    judged = [row for row in rows.tolist() if ids[row] in found]
    texts = [found[ids[row]] for row in judged]
    known = [
        embed_known(studio.database, open_space(studio, space).encoder, texts, AT_ONCE)
        for space in spaces
    ]
    both = sorted(set(known[0][0]) & set(known[1][0]))
    labels = [intents[judged[row]] for row in both]
    before, after = (embeddings[np.searchsorted(at, both)] for at, embeddings in known)
    return (silhouette(before, labels), silhouette(after, labels)), len(both)
