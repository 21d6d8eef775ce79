"""The settings of the Train page: made from the recipes, handed to the page's script."""

import json
from typing import Any

import gradio as gr

from app.ui.forms import Field, build_fields, changed_settings
from core.recipes import ConvfitRecipe

_QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "api_visibility": "private",
    "trigger_mode": "always_last",
    "queue": False,
}


def settings_form(view: gr.HTML) -> None:
    """Show the settings of `convfit`; what differs from the defaults goes to the view's script."""
    with gr.Accordion("Settings of the tuning", open=False, elem_id="recipe-settings"):
        fields = build_fields(ConvfitRecipe, advanced=False)
        with gr.Accordion("Advanced", open=False):
            fields += build_fields(ConvfitRecipe, advanced=True)
    inputs = [field.component for field in fields]
    read = _reader(fields)
    for component in inputs:
        component.change(read, inputs, view, **_QUIET)


def _reader(fields: list[Field]) -> Any:
    def read(*values: Any) -> gr.HTML:
        return gr.HTML(settings=json.dumps(changed_settings(fields, values)))

    return read
