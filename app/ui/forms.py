"""From a recipe's declaration to the fields of a form, and back."""

from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import gradio as gr
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_SIMPLE = frozenset(
    {"adapter", "epochs", "objective", "names", "seed", "minutes", "contexts", "size"}
)
"""What a designer may want to touch; everything else is folded away."""


@dataclass(frozen=True, slots=True)
class Field:
    """One setting of a recipe as a form shows it."""

    name: str
    component: gr.components.Component
    default: Any
    optional: bool = False


def label_of(name: str) -> str:
    """Write a field's name as words: `learning_rate` is "Learning rate"."""
    return name.replace("_", " ").capitalize()


def build_fields(recipe: type[BaseModel], *, advanced: bool) -> list[Field]:
    """Make a component for every setting of a recipe, inside the open Gradio context.

    Args:
        recipe: A recipe of `core.recipes`.
        advanced: Whether the folded-away settings are wanted, or the others.
    """
    found = []
    for name, info in recipe.model_fields.items():
        if name == "kind" or (name in _SIMPLE) == advanced or _nested(info.annotation):
            continue
        optional = _bare(info.annotation)[1]
        found.append(Field(name, _component(name, info), info.default, optional))
    return found


def changed_settings(fields: list[Field], values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what differs from the recipe's defaults.

    An empty field is the default, or nothing where the setting may be left out.
    """
    settings = {}
    for field, value in zip(fields, values, strict=True):
        given = None if value == "" else value
        if isinstance(field.default, int) and not isinstance(field.default, bool):
            given = int(given) if given is not None else None
        if given is None and field.optional and field.default is not None:
            settings[field.name] = None
        if given is not None and given != field.default:
            settings[field.name] = int(given) if field.name == "epochs" else given
    return settings


def _component(name: str, info: FieldInfo) -> gr.components.Component:
    kind, optional = _bare(info.annotation)
    shared = {"label": label_of(name), "info": info.description, "interactive": True}
    if get_origin(kind) is Literal:
        return gr.Dropdown(choices=list(get_args(kind)), value=info.default, **shared)
    if kind is bool:
        return gr.Checkbox(value=info.default, **shared)
    low, high = _bounds(info)
    precision = 0 if kind is int else None
    value = None if optional and info.default is None else info.default
    return gr.Number(value=value, precision=precision, minimum=low, maximum=high, **shared)


def _bounds(info: FieldInfo) -> tuple[float | None, float | None]:
    low = next(
        (getattr(m, "ge", getattr(m, "gt", None)) for m in info.metadata if isinstance(m, Ge | Gt)),
        None,
    )
    high = next(
        (getattr(m, "le", getattr(m, "lt", None)) for m in info.metadata if isinstance(m, Le | Lt)),
        None,
    )
    return low, high


def _bare(annotation: Any) -> tuple[Any, bool]:
    """Take None out of a union."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0], len(kinds) < len(get_args(annotation))
    return annotation, False


def _nested(annotation: Any) -> bool:
    kind, _ = _bare(annotation)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
