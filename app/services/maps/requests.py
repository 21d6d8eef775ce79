"""The embedding map: places and colours of texts, and their moves by training."""

from collections.abc import Sequence

import numpy as np

from app.services.answering.opened import Space, find_space, open_space
from app.services.embedding import digest_of, encoder_of_maps, read_embedded, read_points
from app.services.live.live_studio import LiveStudio
from app.services.maps.colours import CHOICES, canvas_of, colouring_of
from app.services.maps.comparison import compare
from app.services.maps.layouts import current_layout
from app.services.maps.views import Colour, ColourView, ComparisonView, MapView
from app.services.studio import Studio
from core.errors import InvalidInput
from core.maps.alignment import normalise
from core.maps.layouts import check_method
from core.maps.palette import GREY
from storage import jobs
from storage.computed import layouts
from storage.database import Transaction
from storage.queries import dataset
from storage.records import JobRecord

AUTO = "auto"
"""The clearest layout that is there."""


def map_points(
    studio: Studio, project: str, model: int | None = None, method: str = "pca"
) -> MapView:
    """Return where the texts of a project are, by pca, umap, tsne or auto.

    PCA is computed now from the known embeddings, after encoding at most 500 missing ones. UMAP and
    t-SNE are read from the job that `start_layout` queued; `auto` is UMAP if it was computed for
    this version, and else PCA. `model` is a version's number: 0 is the
    untuned encoder, None the champion or, without one, the untuned encoder.

    Raises:
        NotFound: There is no such project or version, or the layout was not computed yet.
        InvalidInput: There is no such method.
    """
    space = _find(studio, project, model)
    points = read_points(studio, space.project)
    method = _best(studio, method, space)
    ids, xy = current_layout(studio, space, points, method)
    return MapView(
        project=project,
        model=space.number,
        method=method,
        ids=ids,
        xy=normalise(xy),
        stored=method != "pca",
        missing=len(points.columns.ids) - len(ids),
        revision=points.revision,
        order=digest_of(ids),
    )


def map_colours(
    live_studio: LiveStudio,
    project: str,
    model: int | None,
    by: str,
    ids: Sequence[str] | None = None,
) -> ColourView:
    """Colour the points of a map; `model` as for `map_points`.

    `by` is one of `CHOICES`. `ids` are the points, as in `MapView.ids`; None: those of the PCA map.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The points cannot be coloured by that.
    """
    if by not in CHOICES:
        choices = ", ".join(CHOICES)
        raise InvalidInput(f"A map cannot be coloured by '{by}'.", f"Choose one of {choices}.")
    studio = live_studio.studio
    space = _find(studio, project, model)
    points = read_points(studio, space.project)
    if ids is None:
        encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
        ids = read_embedded(studio, space.project, encoder).ids
    made = colouring_of(canvas_of(live_studio, space, points), by)
    row = {key: at for at, key in enumerate(points.columns.ids)}
    rows = np.array([row.get(key, -1) for key in ids], dtype=np.int64)
    codes, legend = np.append(made.codes, -1)[rows], made.legend
    if (codes < 0).any():  # deleted since the map was drawn, or not encoded yet
        legend = (*legend, Colour("not known", GREY))
        codes = np.where(codes < 0, len(legend) - 1, codes)
    return ColourView(
        by=by,
        codes=codes.astype(np.uint16),
        legend=legend,
        counts=tuple(np.bincount(codes, minlength=len(legend)).tolist()),
        revision=points.revision,
        order=digest_of(ids),
    )


def start_layout(
    studio: Studio,
    project: str,
    model: int | None = None,
    method: str = "umap",
    *,
    templates: bool = False,
) -> JobRecord:
    """Queue a job that encodes missing texts and computes their layout; `pca` only encodes.

    With `templates` it also encodes templates, for a compressed map. A job like it that has not
    ended is returned instead.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The layout cannot be computed; the message says why.
    """
    asked = studio.settings.device
    with studio.database.write() as connection:
        space = find_space(connection, project, model)
        total, _ = dataset.count(connection, space.project.id)
        if not total:
            raise InvalidInput(f"'{project}' has no texts to lay out.", "Import a file first.")
        check_method(method, total)
        payload = {"number": space.number, "method": method, "device": asked}
        if templates:
            payload["templates"] = True
        job = _under_way(connection, space, payload)
        if job is None:
            device = "cpu" if asked == "auto" else asked
            job = jobs.enqueue(connection, "layout", payload, space.project.id, device)
    studio.executor.ensure_running()
    return job


def compare_maps(
    studio: Studio, project: str, before_number: int, after_number: int, method: str = "pca"
) -> ComparisonView:
    """Compare the maps of two model versions (0: the untuned encoder), by pca, umap, tsne or auto.

    `auto` is UMAP if it was computed for both, and else PCA.

    Raises:
        NotFound: There is no such project or version, or a layout was not computed yet.
        InvalidInput: There is no such method, or no text is on both maps.
    """
    before = _find(studio, project, before_number)
    after = _find(studio, project, after_number)
    points = read_points(studio, before.project)
    with studio.database.read() as connection:
        ended = jobs.count_ended(connection)  # a job may have replaced a layout
    method = _best(studio, method, before, after)
    return studio.cache.get_newest(
        ("comparison", before.project.id, before.number, after.number, method),
        (points.revision, ended),
        lambda: compare(studio, before, after, points, method),
        lambda made: 100 * len(made.ids),
    )


def _find(studio: Studio, project: str, model: int | None) -> Space:
    with studio.database.read() as connection:
        return find_space(connection, project, model)


def _best(studio: Studio, method: str, *spaces: Space) -> str:
    """Return the method that `auto` stands for: UMAP where every space has it, else PCA."""
    if method != AUTO:
        return method
    with studio.database.read() as connection:
        stored = (
            layouts.find(connection, space.project.id, space.version_id, "umap") for space in spaces
        )
        return "umap" if all(stored) else "pca"


def _under_way(
    connection: Transaction, space: Space, payload: dict[str, object]
) -> JobRecord | None:
    here = jobs.live_of(connection, space.project.id, "layout")
    return next((job for job in here if job.payload == payload), None)
