"""From a recipe's declaration to the fields of a form, and back."""

from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import gradio as gr
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_SIMPLE = frozenset({"adapter", "epochs", "objective", "names", "seed"})
"""What a designer may want to touch; everything else is folded away."""


@dataclass(frozen=True, slots=True)
class Field:
    """One setting of a recipe as a form shows it; `whole` numbers come back as floats."""

    name: str
    component: gr.components.Component
    default: Any
    whole: bool


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
        component, whole = _component(name, info)
        found.append(Field(name, component, info.default, whole))
    return found


def given_settings(fields: list[Field], values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what somebody chose; what is empty takes the default of the project's task."""
    settings = {}
    for field, value in zip(fields, values, strict=True):
        if value in (None, "") or (isinstance(value, bool) and value == field.default):
            continue
        settings[field.name] = int(value) if field.whole else value
    return settings


def _component(name: str, info: FieldInfo) -> tuple[gr.components.Component, bool]:
    """Return what a setting is typed or chosen in, and whether it is a whole number.

    Only a box to tick shows its default as a value. Elsewhere it is a hint in an empty field, so
    that a default which depends on the project is never overwritten by one that does not.
    """
    kind = _bare(info.annotation)
    shared = {"label": label_of(name), "info": info.description, "interactive": True}
    if get_origin(kind) is Literal:
        named = ((choice, choice) for choice in get_args(kind))
        choices = [(f"usual ({info.default})", ""), *named]
        return gr.Dropdown(choices=choices, value="", **shared), False
    if kind is bool:
        return gr.Checkbox(value=info.default, **shared), False
    low, high = _bounds(info)
    number = gr.Number(
        value=None,
        placeholder="" if info.default is None else f"{info.default:g}",
        precision=0 if kind is int else None,
        minimum=low,
        maximum=high,
        **shared,
    )
    return number, kind is int


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


def _bare(annotation: Any) -> Any:
    """Take None out of a union."""
    if get_origin(annotation) in (Union, UnionType):
        return next(kind for kind in get_args(annotation) if kind is not type(None))
    return annotation


def _nested(annotation: Any) -> bool:
    kind = _bare(annotation)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
