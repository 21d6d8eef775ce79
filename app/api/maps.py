"""Routes of the embedding map; coordinates and colours are sent as binary."""

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import Annotated

import numpy as np
from fastapi import Query, Request, Response
from pydantic import TypeAdapter

from app.api.http import schemas
from app.api.http.downloads import BYTES
from app.api.http.map_bodies import ColourQuery, IslandsQuery, LayoutBody, PlacesQuery
from app.api.http.routers import rest_router
from app.api.http.server_state import Live, OpenStudio
from app.services.maps import compressed, requests
from app.services.maps.islands import IslandsView, MapChoice, map_islands
from app.services.maps.views import ColourView, DriftView, MapView
from app.services.studio import Studio
from core.errors import Conflict
from core.types import FloatArray

router = rest_router("map")
_FRESH = {"Cache-Control": "no-store"}
Model = Annotated[int | None, Query(ge=0)]
# Serialised directly, because FastAPI would first copy each of many thousand values.
_POINTS = TypeAdapter(schemas.MapPoints)
_COMPARISON = TypeAdapter(schemas.MapComparison)


class Binary(Response):
    """Arrays in their memory layout."""

    media_type = "application/octet-stream"


@router.get("/plotly.js", include_in_schema=False)
def plotly(request: Request) -> Response:
    """Return the drawing library of the installed plotly; compressed once."""
    body, tag = _packed_plotly()
    headers = {"ETag": tag, "Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    headers["Content-Encoding"] = "gzip"
    return Response(body, media_type="text/javascript", headers=headers)


@cache
def _packed_plotly() -> tuple[bytes, str]:
    import plotly

    raw = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    return gzip.compress(raw, 6), f'"plotly-{plotly.__version__}"'


@router.get("/projects/{project}/map", response_model=schemas.MapPoints)
def points(studio: OpenStudio, project: str, method: str = "pca", model: Model = None) -> Response:
    """Return the points of a map; a second request returns their coordinates."""
    points = requests.map_points(studio, project, model, method)
    view = schemas.MapPoints(
        model=points.model,
        method=points.method,
        ids=points.ids,
        stored=points.stored,
        missing=points.missing,
        revision=points.revision,
        order=points.order,
    )
    return _written(_POINTS.dump_json(view))


@router.get("/projects/{project}/map/drift")
def drift(studio: OpenStudio, project: str, method: str = "pca", model: Model = None) -> DriftView:
    """Return which points move when texts are compressed towards their templates."""
    return compressed.drift_view(studio, project, model, method)


@router.get("/projects/{project}/map/xy", responses=BYTES)
def places(studio: OpenStudio, project: str, which: Annotated[PlacesQuery, Query()]) -> Response:
    """Return the coordinates of the points: x and y of each, little-endian float32."""
    order, space = which.order, (project, which.model, which.method)
    if which.strength is None:
        points = requests.map_points(studio, *space)
    else:
        points = compressed.drifted(studio, *space, which.strength)
    _same(points, order)
    return Binary(points.xy.astype("<f4").tobytes(), headers=_FRESH)


@router.get("/projects/{project}/map/colours", responses=BYTES)
def colours(live_studio: Live, project: str, which: Annotated[ColourQuery, Query()]) -> Response:
    """Return legend and codes: length of the JSON as uint32, JSON, then one uint16 a point."""
    ids = _ids(live_studio.studio, project, which)
    colouring = requests.map_colours(live_studio, project, which.model, which.by, ids)
    _same(colouring, which.order)
    legend = [
        {"name": c.name, "colour": c.colour, "count": n, "kind": c.kind}
        for c, n in zip(colouring.legend, colouring.counts, strict=True)
    ]
    head = json.dumps({"legend": legend, "revision": colouring.revision}).encode()
    head += b" " * (-len(head) % 4)  # arrays must start at multiples of their item size
    body = len(head).to_bytes(4, "little") + head + colouring.codes.astype("<u2").tobytes()
    return Binary(body, headers=_FRESH)


@router.get("/projects/{project}/map/islands")
def islands(
    studio: OpenStudio, project: str, which: Annotated[IslandsQuery, Query()]
) -> IslandsView:
    """Return where the names of intents, and of groups without a label, stand on a map."""
    choice = MapChoice(which.model, which.method, which.other)
    view = map_islands(studio, project, choice)
    _same(view, which.order)
    return view


def _ids(studio: Studio, project: str, which: ColourQuery) -> tuple[str, ...]:
    if which.other is None:
        return requests.map_points(studio, project, which.model, which.method).ids
    return requests.compare_maps(studio, project, which.other, which.model or 0, which.method).ids


def _same(shown: MapView | ColourView | IslandsView, order: str) -> None:
    if shown.order != order:
        raise Conflict("The texts of this map have changed meanwhile.", "Load the map again.")


@router.post("/projects/{project}/map/layout", status_code=202)
def lay_out(studio: OpenStudio, project: str, body: LayoutBody) -> schemas.Started:
    """Queue the computation of a layout."""
    job = requests.start_layout(studio, project, body.model, body.method, templates=body.templates)
    return schemas.Started(job.id)


@router.get("/projects/{project}/map/compare", response_model=schemas.MapComparison)
def compare(
    studio: OpenStudio, project: str, before: int, after: int, method: str = "pca"
) -> Response:
    """Return two maps of the same points, and the texts that moved most."""
    comparison = requests.compare_maps(studio, project, before, after, method)
    view = schemas.MapComparison(
        ids=comparison.ids,
        before=comparison.before,
        after=comparison.after,
        before_xy=_rounded(comparison.before_xy),
        after_xy=_rounded(comparison.after_xy),
        moved=comparison.moved,
        silhouettes=comparison.silhouettes,
        missing=comparison.missing,
        revision=comparison.revision,
        order=comparison.order,
        method=comparison.method,
    )
    return _written(_COMPARISON.dump_json(view))


def _written(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _rounded(xy: FloatArray) -> list[list[float]]:
    """Round to five digits: more precise than a screen, in a third of the bytes."""
    rows: list[list[float]] = np.round(xy.astype(np.float64), 5).tolist()
    return rows
