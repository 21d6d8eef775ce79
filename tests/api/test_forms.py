"""Forms are made from a recipe's declaration, and hand back what differs from it."""

import gradio as gr

from app.ui.forms import build_fields, changed_settings
from core.ranking_recipes import ConvertRecipe, DialoguesRecipe


def test_a_form_of_conversations_shows_what_matters_and_folds_the_rest_away() -> None:
    with gr.Blocks():
        shown = build_fields(DialoguesRecipe, advanced=False)
        folded = build_fields(DialoguesRecipe, advanced=True)
        sizes = build_fields(ConvertRecipe, advanced=False)
    assert [field.name for field in shown] == ["seed", "minutes", "contexts", "epochs"]
    assert {field.name for field in folded} >= {"batch_size", "denominator", "scale", "chunk"}
    assert "size" in [field.name for field in sizes]
    assert changed_settings(shown, (0, 15, 0, 1)) == {}
    assert changed_settings(shown, (3, 2.5, 10, 4)) == {
        "seed": 3,
        "minutes": 2.5,
        "contexts": 10,
        "epochs": 4,
    }


def test_an_emptied_field_lets_a_setting_out_where_it_may_be_left_out() -> None:
    """Emptying the longest time meant its default, so that no run could be without a limit."""
    with gr.Blocks():
        shown = build_fields(DialoguesRecipe, advanced=False)
    assert changed_settings(shown, (None, None, None, None)) == {"minutes": None}
