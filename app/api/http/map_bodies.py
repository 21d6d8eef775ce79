"""Request bodies and queries of the embedding map."""

from typing import Literal

from pydantic import Field

from app.api.http.bodies import Body
from app.services.maps.colours import By


class LayoutBody(Body):
    """A layout to compute; `pca` also encodes missing texts, with `templates` those as well."""

    method: Literal["pca", "umap", "tsne"]
    model: int | None = Field(default=None, ge=0)
    templates: bool = False


class _MapQuery(Body):
    order: str
    method: str = "pca"
    model: int | None = Field(default=None, ge=0)


class PlacesQuery(_MapQuery):
    """Which map; `strength` moves the points towards their templates."""

    strength: float | None = Field(default=None, ge=0, le=1)


class IslandsQuery(_MapQuery):
    """Which points; with `other`, those of a comparison."""

    other: int | None = Field(default=None, ge=0)


class ColourQuery(IslandsQuery):
    """Which points, and how to colour them."""

    by: By = "intent"
