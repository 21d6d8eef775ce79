"""What the forms of the recipes hold: every setting once, with the defaults of the project."""

import json
from dataclasses import asdict

from pydantic import TypeAdapter

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.recipe_forms import RecipeForm, Setting, recipe_forms
from core.recipes.labels import ConvfitRecipe
from core.recipes.read import read_recipe
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.tuning import tuning_rows
from core.types import Exemplar, Intent
from tests.builders.tiny_encoder import HashingEncoder


def forms(studio: Studio, project: str) -> dict[str, dict[str, Setting]]:
    return {
        form.recipe: {setting.name: setting for setting in form.settings}
        for form in recipe_forms(studio, project)
    }


def test_a_form_has_every_setting_of_its_recipe_that_is_one_value(studio: Studio) -> None:
    create_project(studio, "p")
    found = forms(studio, "p")
    kinds = {"convfit", "adapter", "label-encoder", "dialogues", "convert", "templates"}
    assert set(found) == kinds
    for kind, settings in found.items():
        recipe = read_recipe(kind, {}).model_dump()
        left_out = {"kind", "head"} & set(recipe)
        assert set(settings) == set(recipe) - left_out
        assert all(setting.help for setting in settings.values())
        assert {name: recipe[name] for name in settings} == {
            name: setting.default for name, setting in settings.items()
        }


def test_each_kind_of_setting_is_shown_as_what_it_is(studio: Studio) -> None:
    create_project(studio, "p")
    found = forms(studio, "p")
    assert asdict(found["convfit"]["calibration"]) == {
        "name": "calibration",
        "label": "Calibration",
        "help": "Where the limit for out of scope comes from: texts not tuned on, or all.",
        "kind": "choice",
        "choices": ("held-out", "leave-one-out"),
        "default": "held-out",
        "emptied": False,
        "advanced": True,
        "why_not": "",
    }
    assert (found["convfit"]["names"].kind, found["convfit"]["names"].default) == ("tick", True)
    rate = found["convfit"]["learning_rate"]
    assert (rate.kind, rate.label, rate.default) == ("number", "Learning rate", 1e-4)


def test_names_are_told_to_count_as_examples_and_descriptions_are_not(studio: Studio) -> None:
    """Who wrote fifty descriptions, as the words asked for, got an equal model."""
    create_project(studio, "p")
    exemplars = (Exemplar("a", "pay me back", ("refund",)), Exemplar("b", "lost it", ("parcel",)))
    intents = (Intent("parcel", "Where a parcel is"), Intent("refund", "Money that is paid back"))
    inputs = RunInputs(exemplars, intents, HashingEncoder())
    assert tuning_rows(ConvfitRecipe(), inputs)[0] == ["pay me back", "lost it", "parcel", "refund"]
    for recipe in ("convfit", "adapter"):
        words = forms(studio, "p")[recipe]["names"].help
        assert words.startswith("Names of intents count as extra examples.")


def test_what_does_nothing_here_yet_says_what_it_waits_for(studio: Studio) -> None:
    """ "Learn from unlabelled texts" was ticked with 300 texts, though it takes 500."""
    create_project(studio, "p")
    found = forms(studio, "p")
    assert found["convfit"]["pool"].why_not == (
        "Not yet: it takes 500 unlabelled texts, and there are none."
    )
    assert found["convfit"]["names"].why_not == ""


def test_an_empty_field_means_no_limit_only_where_there_is_a_limit_by_default(
    studio: Studio,
) -> None:
    create_project(studio, "p")
    found = forms(studio, "p")
    emptied = {name for name, setting in found["dialogues"].items() if setting.emptied}
    assert emptied == {"minutes"}
    assert (found["convfit"]["epochs"].default, found["convfit"]["epochs"].emptied) == (None, False)


def test_a_project_of_several_intents_shows_its_own_defaults(studio: Studio) -> None:
    """A form used to hint at 1e-4 where 4e-4 was meant."""
    create_project(studio, "p", task="multi-label")
    found = forms(studio, "p")
    assert found["convfit"]["learning_rate"].default == 4e-4
    assert found["adapter"]["learning_rate"].default == 8e-3
    assert found["convfit"]["objective"].default == "overlap"
    assert "label-encoder" not in found  # it knows one name for each utterance


def test_a_project_of_several_intents_shows_no_setting_that_nothing_reads(studio: Studio) -> None:
    """Batches by intent and the share out of scope could be set, and changed nothing."""
    create_project(studio, "p", task="multi-label")
    create_project(studio, "one")
    unread = {"out_of_scope_rejection", "intents_per_batch", "utterances_per_intent"}
    for kind in ("convfit", "adapter"):
        found = forms(studio, "p")[kind].keys()
        assert not unread & found
        assert {"theta", "batch_size"} <= found
        assert unread <= forms(studio, "one")[kind].keys()


def test_forms_are_written_as_json_without_a_warning(studio: Studio) -> None:
    """Opening the Train page printed hundreds of lines about whole numbers as defaults."""
    create_project(studio, "p")
    written = TypeAdapter(list[RecipeForm]).dump_json(recipe_forms(studio, "p"))
    adapter = next(form for form in json.loads(written) if form["recipe"] == "adapter")
    defaults = {setting["name"]: setting["default"] for setting in adapter["settings"]}
    assert (defaults["folds"], defaults["warmup"], defaults["names"]) == (1, 0.1, True)
