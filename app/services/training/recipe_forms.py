"""The settings of every recipe for a form, with the project's defaults."""

from dataclasses import dataclass
from typing import Literal

from app.services.studio import Studio
from app.services.training.recipes import RecipeSetting, describe_settings
from core.recipes.base import Recipe
from core.recipes.read import RECIPES
from core.types import Task
from storage import projects

_SIMPLE = frozenset({"epochs", "names", "pool", "minutes", "contexts", "size", "augment"})
"""Settings that a form shows; it folds away all others, which only researchers need."""
_ONE_INTENT = frozenset({"pool", "pool_size"})
"""Settings without a meaning where a text may have several intents."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a recipe, as a field of a form.

    Attributes:
        choices: Empty unless `kind` is `choice`.
        default: Default for the project's task; None where the labels determine it.
        emptied: Whether an empty field means "no limit", which is not the default.
        advanced: Whether the form folds it away.
    """

    name: str
    label: str
    help: str
    kind: Literal["choice", "tick", "number"]
    choices: tuple[str, ...]
    default: str | int | float | bool | None
    emptied: bool
    advanced: bool


@dataclass(frozen=True, slots=True)
class RecipeForm:
    """A recipe's name and settings."""

    recipe: str
    settings: tuple[Setting, ...]


def recipe_forms(studio: Studio, project: str) -> list[RecipeForm]:
    """Return the forms of a project's recipes; raises NotFound for an unknown project."""
    with studio.database.read() as connection:
        task = projects.find(connection, project).task
    return [
        RecipeForm(name, _form_settings(recipe, task))
        for name, recipe in RECIPES.items()
        if recipe.has_form and task in recipe.tasks
    ]


def _form_settings(recipe: type[Recipe], task: Task) -> tuple[Setting, ...]:
    return tuple(
        _form_setting(setting, setting.kind, task)
        for setting in describe_settings(recipe)
        if setting.kind != "choice of settings"
        and not (task == "multi-label" and setting.name in _ONE_INTENT)
    )


def _form_setting(
    setting: RecipeSetting, kind: Literal["choice", "tick", "number"], task: Task
) -> Setting:
    default = setting.multi_label_default if task == "multi-label" else setting.default
    return Setting(
        name=setting.name,
        label=setting.title,
        help=setting.description,
        kind=kind,
        choices=setting.choices,
        default=default,
        emptied=setting.optional and default is not None,
        advanced=setting.name not in _SIMPLE,
    )
