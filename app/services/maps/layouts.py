"""Compute a layout of the embedding map as a job, store it, and read it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.jobs.context import JobContext, Pace, Publish
from app.services.answering.opened import Space, find_space, laid_out, open_space
from app.services.cache import of_encoder
from app.services.embedding import (
    Embedded,
    Points,
    digest_of,
    encoder_of_maps,
    fill,
    precision_of_maps,
    read_embedded,
    read_points,
    resolve_device,
    unknown_texts,
)
from app.services.slots.matcher import read_marked_values, templates_of, tokens_of
from app.services.studio import Studio
from core.encoders.base import Encoder
from core.errors import NotFound
from core.maps.drift import carry_over
from core.maps.layouts import pca_layout, require_method, tsne_layout, umap_layout
from core.text import counted
from core.types import FloatArray
from storage import projects
from storage.computed import layouts
from storage.database import Transaction
from storage.queries.columns import PointColumns
from storage.records import LayoutRecord

_ARRAYS, _IDS = "layout.safetensors", "ids.json"
_LOADED, _ENCODED, _LAID_OUT = 0.02, 0.5, 0.98
_STORED_BYTES = 300
_ENOUGH = 10
"""With fewer points in an earlier layout, the new one does not start from it."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredLayout:
    """A layout as it was computed; places `xy` are (n, 2) float32.

    `hashes` are those of the texts at that time; a text edited since has no place.
    """

    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    xy: FloatArray

    def places(self, columns: PointColumns) -> tuple[tuple[str, ...], FloatArray]:
        """Return the utterances that have a place, in the order of `columns`, and the places."""
        row = {pair: at for at, pair in enumerate(zip(self.ids, self.hashes, strict=True))}
        pairs = zip(columns.ids, columns.hashes, strict=True)
        placed = [(pair[0], row[pair]) for pair in pairs if pair in row]
        rows = np.array([at for _, at in placed], dtype=np.int64)
        return tuple(key for key, _ in placed), self.xy[rows]


def do_layout(studio: Studio, context: JobContext) -> Publish:
    """Encode missing texts and compute a layout; return the step that publishes it.

    For `pca` it only encodes: that map is computed when it is opened.
    """
    payload = context.job.payload
    method = str(payload["method"])
    with context.database.read() as connection:
        project = projects.get(connection, context.job.project_id or 0)
        space = find_space(connection, project.name, int(payload["number"]))
    context.report(0.0, "opening the language model")
    device = resolve_device(payload["device"])
    exact = open_space(studio, space, device).encoder
    encoder = encoder_of_maps(studio, exact, device)

    def told(done: int, total: int) -> None:
        share = _LOADED + (_ENCODED - _LOADED) * done / total
        context.report(share, f"reading, {done:,} of {counted(total, 'text')}")

    points = read_points(studio, project)
    embedded = _of_points(read_embedded(studio, project, encoder, told), points)
    if payload.get("templates"):
        _encode_templates(studio, context, space, encoder)
    facts = {"number": space.number, "method": method, "n": len(embedded.ids)}
    facts["precision"] = precision_of_maps(studio, encoder, exact)
    if method == "pca":
        return lambda _: facts
    start = _start(studio, space, method, points.columns, embedded)
    made = _lay_out(context, method, points, embedded, start)
    return _publisher(context, space, made, facts)


def current_layout(
    studio: Studio, space: Space, points: Points, method: str
) -> tuple[tuple[str, ...], FloatArray]:
    """Return the ids of the utterances that have a place, and the places, (n, 2) float32.

    PCA is computed from the known embeddings; other layouts are read.

    Raises:
        InvalidInput: There is no such method.
        NotFound: The layout was not computed yet.
    """
    require_method(method)
    if method == "pca":
        encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
        embedded = read_embedded(studio, space.project, encoder)
        xy = studio.cache.get_newest(
            ("pca", of_encoder(space.project, encoder.fingerprint)),
            embedded.digest,
            lambda: pca_layout(embedded.embeddings),
            lambda xy: xy.nbytes,
        )
        return embedded.ids, xy
    with studio.database.read() as connection:
        record = layouts.find(connection, space.project.id, space.version_id, method)
    if record is None:
        raise NotFound(
            f"There is no {method} map of {space.name} yet.", "Start it; a job computes it."
        )
    stored = studio.cache.get(
        ("layout", record.tree_sha256),
        lambda: read_layout(studio, record),
        lambda made: _STORED_BYTES * len(made.ids),
    )
    return stored.places(points.columns)


def read_layout(studio: Studio, record: LayoutRecord) -> StoredLayout:
    """Read a stored layout.

    Raises:
        ArtifactDamaged: Its files are missing or changed.
    """
    from safetensors.numpy import load_file

    with laid_out(studio, record.tree_sha256) as folder:
        arrays = load_file(folder / _ARRAYS)
        ids = json.loads((folder / _IDS).read_text(encoding="utf-8"))
    digits = arrays["text_sha256"].tobytes().hex()
    hashes = tuple(digits[start : start + 64] for start in range(0, len(digits), 64))
    return StoredLayout(tuple(ids), hashes, arrays["xy"])


def _encode_templates(studio: Studio, context: JobContext, space: Space, encoder: Encoder) -> None:
    """Encode the templates towards which points of this map can be moved."""
    points = read_points(studio, space.project)
    marks = read_marked_values(studio, space.project)
    with context.database.read() as connection:
        tokens = tokens_of(connection, space.version)
    templates = templates_of(context.database, space.project.id, points, marks, tokens)
    missing = unknown_texts(context.database, encoder, templates.values())

    def told(done: int, total: int) -> None:
        share = _ENCODED * done / total
        context.report(share, f"reading, {done:,} of {counted(total, 'pattern')}")

    fill(context.database, encoder, missing, told)


def _of_points(embedded: Embedded, points: Points) -> Embedded:
    """Leave out the texts that came after the points were read; this map does not show them."""
    known = set(points.columns.ids)
    rows = [row for row, key in enumerate(embedded.ids) if key in known]
    if len(rows) == len(embedded.ids):
        return embedded
    ids = tuple(embedded.ids[row] for row in rows)
    return Embedded(ids, embedded.embeddings[rows], digest_of([embedded.digest, *ids]))


def _lay_out(
    context: JobContext,
    method: str,
    points: Points,
    embedded: Embedded,
    start: FloatArray | None,
) -> StoredLayout:
    compute: Callable[..., FloatArray] = {"umap": umap_layout, "tsne": tsne_layout}[method]
    words, pace = f"laying out {counted(len(embedded.ids), 'text')}", Pace()

    def told(share: float) -> None:
        left = pace.left(share, 1.0)
        context.report(_ENCODED + (_LAID_OUT - _ENCODED) * share, words, left)

    hash_of = dict(zip(points.columns.ids, points.columns.hashes, strict=True))
    hashes = tuple(hash_of[key] for key in embedded.ids)
    xy = compute(embedded.embeddings, init=start, progress=told)
    return StoredLayout(embedded.ids, hashes, xy)


def _start(
    studio: Studio, space: Space, method: str, columns: PointColumns, embedded: Embedded
) -> FloatArray | None:
    """Return places from the project's newest layout, so that the two maps can be compared."""
    with studio.database.read() as connection:
        record = layouts.newest(connection, space.project.id, method)
    if record is None:
        return None
    ids, xy = read_layout(studio, record).places(columns)
    place = {key: at for at, key in enumerate(ids)}
    rows = np.array([place.get(key, -1) for key in embedded.ids], dtype=np.int64)
    known = rows >= 0
    if known.sum() < _ENOUGH:
        return None
    return carry_over(embedded.embeddings, xy[rows], known)


def _publisher(
    context: JobContext, space: Space, made: StoredLayout, facts: dict[str, Any]
) -> Publish:
    """Store the files now; return the step that registers them as a layout."""
    record_files = context.store_files(partial(_write, made))

    def publish(connection: Transaction) -> dict[str, Any]:
        values = {
            "project_id": space.project.id,
            "model_version_id": space.version_id,
            "method": facts["method"],
            "tree_sha256": record_files(connection),
            "n": facts["n"],
            "job_id": context.job.id,
        }
        layouts.add(connection, values)
        return facts

    return publish


def _write(made: StoredLayout, folder: Path) -> None:
    from safetensors.numpy import save_file

    digests = np.frombuffer(bytes.fromhex("".join(made.hashes)), dtype=np.uint8)
    arrays: dict[str, NDArray[Any]] = {
        "text_sha256": digests.reshape(-1, 32).copy(),
        "xy": np.ascontiguousarray(made.xy, dtype=np.float32),
    }
    save_file(arrays, folder / _ARRAYS)
    (folder / _IDS).write_text(json.dumps(list(made.ids)), encoding="utf-8")
