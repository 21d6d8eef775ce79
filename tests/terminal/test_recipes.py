"""`intent-studio recipes` prints what recipes are for, and every setting as it is declared."""

import json

import pytest

from app.cli import main
from core.errors import InvalidInput
from core.recipes.heads import VotesConfig
from core.recipes.read import RECIPES, read_recipe


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert main(["recipes", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", RECIPES)
def test_every_setting_is_printed_with_default_range_and_description(name: str, capsys) -> None:
    shown = printed(capsys, name)
    recipe = RECIPES[name]
    defaults = read_recipe(name, {}).model_dump(mode="json")
    settings = {setting["name"]: setting for setting in shown["settings"]}
    assert list(settings) == [field for field in recipe.model_fields if field != "kind"]
    assert {key: setting["default"] for key, setting in settings.items()} == {
        key: value for key, value in defaults.items() if key != "kind"
    }
    assert all(setting["range"] and setting["description"] for setting in settings.values())
    assert (shown["makes"], shown["learns_from"]) == (recipe.makes, recipe.learns_from)
    assert shown["tasks"] == list(recipe.tasks)


def test_ranges_and_defaults_of_the_task_are_said(capsys) -> None:
    settings = {setting["name"]: setting for setting in printed(capsys, "convfit")["settings"]}
    assert settings["learning_rate"]["range"] == "above 0, at most 0.1"
    assert settings["learning_rate"]["multi_label_default"] == 4e-4
    assert settings["epochs"]["range"] == "whole number, at least 1, at most 200 or null"
    assert settings["calibration"]["range"] == "held-out, leave-one-out"
    votes = {setting["name"] for setting in settings["head"]["settings"]["votes"]}
    assert votes == set(VotesConfig.model_fields) - {"kind"}


def test_without_a_name_every_recipe_is_listed(capsys) -> None:
    assert [shown["recipe"] for shown in printed(capsys)["recipes"]] == list(RECIPES)
    assert main(["recipes"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_the_settings_that_a_refused_one_leads_to_are_printed(name: str, capsys) -> None:
    assert main(["recipes", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{RECIPES[name].title}: ")
    assert "seed" in out
    with pytest.raises(InvalidInput, match="cannot be used: no_such: Extra inputs") as refusal:
        read_recipe(name, {"no_such": 1})
    assert refusal.value.hint.startswith(f"Look at the settings of {name}: ")


def test_an_unknown_recipe_is_refused_with_the_names_there_are(capsys) -> None:
    assert main(["recipes", "nope"]) == 2
    said = capsys.readouterr().err
    assert "There is no recipe 'nope'" in said
    assert ", ".join(RECIPES) in said
