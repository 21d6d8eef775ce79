"""All recipes in one union: what each says about itself, and how settings are refused."""

import pytest

from core.errors import InvalidInput
from core.recipes.base import Recipe, Tuned
from core.recipes.read import (
    RECIPES,
    is_tuned_on_labels,
    learns_from,
    read_recipe,
    require_task,
    task_defaults,
)

SHARED = ("learning_rate", "warmup", "weight_decay", "frozen_layers", "interpolation", "max_tokens")


def test_the_union_holds_every_recipe_there_is() -> None:
    assert list(RECIPES) == [
        "instant",
        "convfit",
        "adapter",
        "label-encoder",
        "dialogues",
        "convert",
        "templates",
    ]
    assert leaves(Recipe) == set(RECIPES.values())


def leaves(recipe: type[Recipe]) -> set[type[Recipe]]:
    """Return the classes below that have a name of their own."""
    below = {leaf for child in recipe.__subclasses__() for leaf in leaves(child)}
    return below | ({recipe} if "kind" in recipe.model_fields else set())


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_says_what_it_is_for_and_is_read_again_from_its_json(name: str) -> None:
    recipe = read_recipe(name, {})
    assert recipe.name() == name
    assert recipe.makes == ("model" if recipe.learns_from == "labels" else "encoder")
    assert recipe.title
    assert recipe.summary.endswith(".")
    assert "12 texts" in recipe.describe_work("12 texts")
    stored = recipe.model_dump(mode="json")
    assert read_recipe(str(stored["kind"]), stored) == recipe
    assert learns_from(stored) == recipe.learns_from
    assert set(task_defaults(name, "multi-label")) <= set(stored)


def test_settings_of_tuning_are_declared_once() -> None:
    """A recipe below `Tuned` may change their defaults and words, never their range."""
    for recipe in RECIPES.values():
        if issubclass(recipe, Tuned):
            for setting in SHARED:
                declared, own = Tuned.model_fields[setting], recipe.model_fields[setting]
                assert (own.annotation, own.metadata) == (declared.annotation, declared.metadata)
                assert own.description


def test_what_was_tuned_on_labels_is_told_from_stored_recipes() -> None:
    tuned = [name for name in RECIPES if is_tuned_on_labels({"kind": name})]
    assert tuned == ["convfit", "adapter", "label-encoder"]
    assert not is_tuned_on_labels({})
    assert learns_from({"kind": "of another studio"}) is None


def test_a_recipe_that_cannot_learn_a_task_is_refused() -> None:
    refused = []
    for name, recipe in RECIPES.items():
        try:
            require_task(recipe, "multi-label")
        except InvalidInput as error:
            refused.append((name, error.hint))
    assert [name for name, _ in refused] == ["label-encoder"]
    with pytest.raises(InvalidInput, match="several intents"):
        read_recipe("label-encoder", {}, "multi-label")


def test_one_refusal_names_every_faulty_setting() -> None:
    with pytest.raises(
        InvalidInput, match=r"'convert' cannot be used: contexts: .*; vocabulary: .*; nope: "
    ):
        read_recipe("convert", {"contexts": 11, "vocabulary": 1, "nope": 1})
    with pytest.raises(InvalidInput, match=r"'convfit' cannot be used: head\.votes\.tau: "):
        read_recipe("convfit", {"head": {"kind": "votes", "tau": 3}})
    with pytest.raises(InvalidInput, match="There is no recipe 'nope'"):
        read_recipe("nope", {})


def whole_numbers(recipe: type[Recipe]) -> dict[str, dict[str, object]]:
    """Return the whole numbers among a recipe's settings, and those of its head."""
    schema = recipe.model_json_schema()
    return {
        name: choice
        for part in (schema, *schema.get("$defs", {}).values())
        for name, value in part.get("properties", {}).items()
        for choice in value.get("anyOf", [value])
        if choice.get("type") == "integer"
    }


@pytest.mark.parametrize("name", RECIPES)
def test_no_number_of_a_recipe_is_without_bounds(name: str) -> None:
    """10**30 was taken, and the job ended in an error of arithmetic instead of words."""
    for setting, numbers in whole_numbers(RECIPES[name]).items():
        assert numbers.keys() & {"minimum", "exclusiveMinimum"}, setting
        assert numbers.keys() & {"maximum", "exclusiveMaximum"}, setting


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dialogues", {"minutes": float("inf")}),
        ("dialogues", {"shuffled": 10**30}),
        ("instant", {"head": {"kind": "linear", "inverse_penalty": float("inf")}}),
    ],
)
def test_a_setting_without_end_is_refused(name: str, settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=f"'{name}' cannot be used"):
        read_recipe(name, settings)
