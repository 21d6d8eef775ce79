"""All recipes as one union, read from a name and settings."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Literal, get_args, overload

from pydantic import Field, TypeAdapter, ValidationError

from core.errors import InvalidInput
from core.recipes.base import Recipe, Source, Tuned
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import AnyModelRecipe, LabelEncoderRecipe
from core.recipes.templates import TemplatesRecipe
from core.types import Task

AnyEncoderRecipe = DialoguesRecipe | ConvertRecipe | TemplatesRecipe
AnyRecipe = AnyModelRecipe | AnyEncoderRecipe
RECIPES: dict[str, type[Recipe]] = {recipe.name(): recipe for recipe in get_args(AnyRecipe)}
"""Every recipe by its name, those that make a model first."""

_READER: TypeAdapter[AnyRecipe] = TypeAdapter(Annotated[AnyRecipe, Field(discriminator="kind")])


def recipe_named(name: str) -> type[Recipe]:
    """Return the recipe of a name; raises InvalidInput for an unknown name."""
    recipe = RECIPES.get(name)
    if recipe is None:
        near = "".join(f"Did you mean '{one}'? " for one in get_close_matches(name, RECIPES, 1))
        hint = f"{near}Recipes are {', '.join(RECIPES)}."
        raise InvalidInput(f"There is no recipe '{name}'.", hint)
    return recipe


_WHAT: Mapping[Source, str] = {
    "labels": "your examples",
    "conversations": "your messages",
    "templates": "texts with marked values",
}


def learns_from(stored: Mapping[str, object]) -> Source | None:
    """Return the data that a stored recipe learned from; None for an unknown recipe."""
    recipe = RECIPES.get(str(stored.get("kind")))
    return None if recipe is None else recipe.learns_from


def title_of(stored: Mapping[str, object]) -> str:
    """Return the name on pages of a stored recipe; "" for an unknown one."""
    recipe = RECIPES.get(str(stored.get("kind")))
    return "" if recipe is None else recipe.title


def work_of(stored: Mapping[str, object]) -> str:
    """Say in plain words how a stored recipe learns, and from what; "" for an unknown one."""
    recipe = RECIPES.get(str(stored.get("kind")))
    return "" if recipe is None else recipe.work.format(what=_WHAT[recipe.learns_from])


def is_tuned_on_labels(stored: Mapping[str, object]) -> bool:
    """Whether a stored recipe tuned the encoder on labels."""
    recipe = RECIPES.get(str(stored.get("kind")))
    return recipe is not None and issubclass(recipe, Tuned) and recipe.learns_from == "labels"


def task_defaults(name: str, task: Task) -> dict[str, object]:
    """Return a recipe's defaults that differ for a task."""
    return dict(recipe_named(name).multi_label) if task == "multi-label" else {}


def require_task(recipe: Recipe | type[Recipe], task: Task) -> None:
    """Raise InvalidInput if a recipe cannot learn a task."""
    if task not in recipe.tasks:
        raise InvalidInput(
            f"The recipe '{recipe.name()}' brings a text to one intent's name, and away from "
            "all others; here a text may have several intents.",
            "Use convfit or adapter, whose objective “overlap” knows shared intents.",
        )


@overload
def read_recipe(
    name: Literal["label-encoder"], settings: dict[str, object], task: Task = ...
) -> LabelEncoderRecipe: ...
@overload
def read_recipe(
    name: Literal["templates"], settings: dict[str, object], task: Task = ...
) -> TemplatesRecipe: ...
@overload
def read_recipe(name: str, settings: dict[str, object], task: Task = ...) -> AnyRecipe: ...
def read_recipe(name: str, settings: dict[str, object], task: Task = "single-label") -> AnyRecipe:
    """Build a recipe from its name and loose settings, from a form, a flag or a file.

    Missing settings have the task's default.

    Raises:
        InvalidInput: The recipe is unknown, cannot learn the task, or has settings that are unknown
            or out of range; the message names them all.
    """
    require_task(recipe_named(name), task)
    try:
        return _READER.validate_python({**task_defaults(name, task), **settings, "kind": name})
    except ValidationError as error:
        faults = [f"{_setting(item['loc'][1:])}: {item['msg']}" for item in error.errors()]
        raise InvalidInput(
            f"The recipe '{name}' cannot be used: {'; '.join(faults)}.",
            f"Look at the settings of {name}: their names, and which values they take.",
        ) from error


def _setting(location: tuple[int | str, ...]) -> str:
    """Name the setting of a fault; `location` is empty where several are at fault."""
    return ".".join(str(part) for part in location) or "recipe"
