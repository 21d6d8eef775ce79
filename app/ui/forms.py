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
    """One setting of a recipe as a form shows it.

    Attributes:
        name: Of the setting.
        component: What it is typed or chosen in.
        default: Of the recipe.
        whole: A whole number, which comes back as a float.
        clearable: An emptied field means None, which is not the default.
    """

    name: str
    component: gr.components.Component
    default: Any
    whole: bool
    clearable: bool


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
        kind, optional = _bare(info.annotation)
        clearable = optional and info.default is not None
        component = _component(name, info)
        found.append(Field(name, component, info.default, kind is int, clearable))
    return found


def given_settings(fields: list[Field], values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what somebody chose; what is empty takes the default of the project's task."""
    settings: dict[str, Any] = {}
    for field, value in zip(fields, values, strict=True):
        shown = field.clearable or isinstance(value, bool)
        if shown and value == field.default:
            continue
        if value not in (None, ""):
            settings[field.name] = int(value) if field.whole else value
        elif field.clearable:
            settings[field.name] = None
    return settings


def _component(name: str, info: FieldInfo) -> gr.components.Component:
    """Return what a setting is typed or chosen in.

    A box to tick shows its default as a value, and so does a number that may be taken away.
    Elsewhere it is a hint in an empty field, so that a default which depends on the project is
    never overwritten by one that does not.
    """
    kind, optional = _bare(info.annotation)
    shared = {"label": label_of(name), "info": info.description, "interactive": True}
    if get_origin(kind) is Literal:
        named = ((choice, choice) for choice in get_args(kind))
        choices = [(f"usual ({info.default})", ""), *named]
        return gr.Dropdown(choices=choices, value="", **shared)
    if kind is bool:
        return gr.Checkbox(value=info.default, **shared)
    low, high = _bounds(info)
    return gr.Number(
        value=info.default if optional else None,
        placeholder="" if info.default is None else f"{info.default:g}",
        precision=0 if kind is int else None,
        minimum=low,
        maximum=high,
        **shared,
    )


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
    """Take None out of a union, and say whether it was there."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0], len(kinds) < len(get_args(annotation))
    return annotation, False


def _nested(annotation: Any) -> bool:
    kind, _ = _bare(annotation)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
