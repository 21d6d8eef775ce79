"""The settings of the Train page: made from the recipes, handed to the page's script."""

import json
from itertools import count, islice
from typing import Any

import gradio as gr
from pydantic import BaseModel

from app.ui.forms import Field, build_fields, given_settings
from core.ranking_recipes import ConvertRecipe, DialoguesRecipe
from core.recipes import AdapterRecipe, ConvfitRecipe

_QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "api_visibility": "private",
    "trigger_mode": "always_last",
    "queue": False,
}
_FORMS: dict[str, type[BaseModel]] = {
    "convfit": ConvfitRecipe,
    "adapter": AdapterRecipe,
    "dialogues": DialoguesRecipe,
    "convert": ConvertRecipe,
}


def settings_form(view: gr.HTML) -> None:
    """Show the settings of each training; what somebody chose goes to the view's script.

    The script gets an object of settings by recipe, and shows one form at a time.
    """
    forms = {kind: _form(kind, recipe) for kind, recipe in _FORMS.items()}
    inputs = [field.component for fields in forms.values() for field in fields]
    read = _reader(forms)
    for component in inputs:
        component.change(read, inputs, view, **_QUIET)


def _form(kind: str, recipe: type[BaseModel]) -> list[Field]:
    with gr.Accordion(
        "Settings of the tuning",
        open=False,
        elem_id=f"settings-{kind}",
        elem_classes="recipe-settings",
    ):
        fields = build_fields(recipe, advanced=False)
        with gr.Accordion("Advanced", open=False):
            fields += build_fields(recipe, advanced=True)
    return fields


def _reader(forms: dict[str, list[Field]]) -> Any:
    answers = count(1)

    def read(*values: Any) -> gr.HTML:
        given, rest = {}, iter(values)
        for kind, fields in forms.items():
            given[kind] = given_settings(fields, tuple(islice(rest, len(fields))))
        # The number makes each answer another one, so that the script hears of every answer.
        return gr.HTML(settings=json.dumps({**given, "answer": next(answers)}))

    return read
