"""From a recipe's declaration to the fields of a form, and back."""

from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import gradio as gr
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
        clearable: An emptied field means None, which is not the default.
    """

    name: str
    component: gr.components.Component
    default: Any
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
        clearable = _bare(info.annotation)[1] and info.default is not None
        found.append(Field(name, _component(name, info), info.default, clearable))
    return found


def given_settings(fields: list[Field], values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what somebody chose; what is empty takes the default of the project's task.

    What is no number stays as it was typed, so that the recipe can name it as it refuses it.
    """
    settings: dict[str, Any] = {}
    for field, value in zip(fields, values, strict=True):
        given = _number(value) if isinstance(value, str) else value
        shown = field.clearable or isinstance(given, bool)
        if shown and given == field.default:
            continue
        if given not in (None, ""):
            settings[field.name] = given
        elif field.clearable:
            settings[field.name] = None
    return settings


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text.strip())
        except ValueError:
            continue
    return text.strip()


def _component(name: str, info: FieldInfo) -> gr.components.Component:
    """Return what a setting is typed or chosen in.

    A box to tick shows its default as a value, and so does a number that may be taken away.
    Elsewhere it is a hint in an empty field, so that a default which depends on the project is
    never overwritten by one that does not. Numbers are typed as text: Gradio's own field for them
    turns an empty one into 0 as soon as it is seen.
    """
    kind, optional = _bare(info.annotation)
    shared = {"label": label_of(name), "info": info.description, "interactive": True}
    if get_origin(kind) is Literal:
        named = ((choice, choice) for choice in get_args(kind))
        choices = [(f"usual ({info.default})", ""), *named]
        return gr.Dropdown(choices=choices, value="", **shared)
    if kind is bool:
        return gr.Checkbox(value=info.default, **shared)
    default = "" if info.default is None else f"{info.default:g}"
    return gr.Textbox(value=default if optional else "", placeholder=default, lines=1, **shared)


def _bare(annotation: Any) -> tuple[Any, bool]:
    """Take None out of a union, and say whether it was there."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0], len(kinds) < len(get_args(annotation))
    return annotation, False


def _nested(annotation: Any) -> bool:
    kind, _ = _bare(annotation)
    return isinstance(kind, type) and issubclass(kind, BaseModel)
