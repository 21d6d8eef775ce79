"""The settings of every recipe as a form shows them, with the defaults that a project has."""

from dataclasses import dataclass
from typing import Literal

from app.services.studio import Studio
from app.services.training.recipes import RecipeSetting, describe_settings
from core.recipes.base import Recipe
from core.recipes.read import RECIPES
from core.types import Task
from storage import projects

_SIMPLE = frozenset(
    {
        "adapter",
        "epochs",
        "objective",
        "names",
        "seed",
        "minutes",
        "contexts",
        "size",
        "tokens",
        "augment",
        "variant",
    }
)
"""Settings that a form shows at once; all others are folded away."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a recipe.

    Attributes:
        name: As a training takes it.
        label: The name as words.
        help: What it does.
        kind: Whether it is chosen, ticked or typed as a number.
        choices: What there is to choose; empty for the other kinds.
        default: What the project's task has; None where it is chosen by the labels.
        emptied: Whether an empty field says "no limit", which is not the default.
        advanced: Whether it is folded away.
    """

    name: str
    label: str
    help: str
    kind: Literal["choice", "tick", "number"]
    choices: tuple[str, ...]
    default: str | float | bool | None
    emptied: bool
    advanced: bool


@dataclass(frozen=True, slots=True)
class RecipeForm:
    """A recipe by its name, and what can be set."""

    recipe: str
    settings: tuple[Setting, ...]


def recipe_forms(studio: Studio, project: str) -> list[RecipeForm]:
    """Return the forms of a project's recipes; one that tunes nothing has none.

    Raises:
        NotFound: There is no such project.
    """
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
    )


def _form_setting(
    setting: RecipeSetting, kind: Literal["choice", "tick", "number"], task: Task
) -> Setting:
    default = setting.multi_label_default if task == "multi-label" else setting.default
    return Setting(
        name=setting.name,
        label=setting.name.replace("_", " ").capitalize(),
        help=setting.description,
        kind=kind,
        choices=setting.choices,
        default=default,
        emptied=setting.optional and default is not None,
        advanced=setting.name not in _SIMPLE,
    )
