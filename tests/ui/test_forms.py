"""Forms made from a recipe's declaration, and what comes back from them."""

import gradio as gr
import pytest

from app.ui.forms import Field, build_fields, given_settings
from core.errors import InvalidInput
from core.ranking_recipes import DialoguesRecipe
from core.recipes import AdapterRecipe, ConvfitRecipe, read_recipe


@pytest.fixture
def fields() -> list[Field]:
    with gr.Blocks():
        return [
            *build_fields(ConvfitRecipe, advanced=False),
            *build_fields(ConvfitRecipe, advanced=True),
        ]


def settings_with(fields: list[Field], **chosen: object) -> dict[str, object]:
    values = tuple(chosen.get(field.name, field.component.value) for field in fields)
    return given_settings(fields, values)


def test_an_untouched_form_gives_no_setting_so_that_each_project_takes_its_own_defaults(fields):
    assert settings_with(fields) == {}
    hints = {field.name: getattr(field.component, "placeholder", None) for field in fields}
    assert hints["learning_rate"] == "0.0001"
    assert hints["epochs"] == ""


def test_what_is_chosen_counts_even_where_it_equals_the_default_of_one_intent(fields):
    """The rate of one intent, typed into a project of several, was taken for "nothing typed"."""
    chosen = settings_with(
        fields, learning_rate="1e-4", objective="ocl", epochs="3", frozen_layers="0", names=False
    )
    assert chosen == {
        "learning_rate": 1e-4,
        "objective": "ocl",
        "epochs": 3,
        "frozen_layers": 0,
        "names": False,
    }
    recipe = read_recipe("convfit", chosen, "multi-label")
    assert isinstance(recipe, ConvfitRecipe)
    assert (recipe.learning_rate, recipe.objective, recipe.frozen_layers) == (1e-4, "ocl", 0)


def test_whole_numbers_stay_whole_and_a_form_knows_its_own_recipe() -> None:
    with gr.Blocks():
        fields = build_fields(AdapterRecipe, advanced=True)
    chosen = settings_with(fields, reduction_factor=" 8 ", interpolation="0.5")
    assert chosen == {"reduction_factor": 8, "interpolation": 0.5}
    assert isinstance(chosen["reduction_factor"], int)
    assert "adapter" not in {field.name for field in fields}  # it is among the simple ones


def test_a_limit_that_may_be_taken_away_is_shown_and_an_emptied_field_takes_it_away() -> None:
    with gr.Blocks():
        fields = build_fields(DialoguesRecipe, advanced=True)
        fields += build_fields(DialoguesRecipe, advanced=False)
    assert settings_with(fields) == {}
    assert settings_with(fields, minutes="") == {"minutes": None}
    assert settings_with(fields, minutes="3.5", epochs="") == {"minutes": 3.5}


def test_what_is_no_number_is_refused_by_its_name(fields) -> None:
    chosen = settings_with(fields, epochs="many", learning_rate="")
    assert chosen == {"epochs": "many"}
    with pytest.raises(InvalidInput, match="epochs: Input should be a valid integer"):
        read_recipe("convfit", chosen)


def test_an_unseen_form_is_empty_and_stays_so(fields) -> None:
    """Gradio's own field for numbers gave 0 for an empty one once it was shown."""
    shown = {field.name: field.component for field in fields}
    assert isinstance(shown["epochs"], gr.Textbox)
    assert shown["epochs"].value == ""
