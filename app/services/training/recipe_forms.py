"""The settings of every recipe for a form, with the project's defaults."""

from dataclasses import dataclass
from typing import Literal

from app.services.studio import Studio
from app.services.training.estimate import Size, size_now
from app.services.training.recipes import RecipeSetting, describe_settings
from core.recipes.base import Recipe
from core.recipes.labels import fewest_texts
from core.recipes.read import RECIPES
from storage import projects

_SIMPLE = frozenset({"epochs", "names", "pool", "minutes", "contexts", "size", "augment"})
"""Settings that a form shows; it folds away all others, which only researchers need."""
_ONE_INTENT = frozenset(
    ("pool", "pool_size", "intents_per_batch", "utterances_per_intent", "out_of_scope_rejection")
)
"""Settings without a meaning where a text may have several intents."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a recipe, as a field of a form.

    Attributes:
        choices: Empty unless `kind` is `choice`.
        default: Default for the project's task; None where the labels determine it.
        emptied: Whether an empty field means "no limit", which is not the default.
        why_not: Why it does nothing in this project yet, so that it cannot be chosen; or "".
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
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class RecipeForm:
    """A recipe's name and settings."""

    recipe: str
    settings: tuple[Setting, ...]


def recipe_forms(studio: Studio, project: str) -> list[RecipeForm]:
    """Return the forms of a project's recipes; raises NotFound for an unknown project."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        size = size_now(connection, record)
    return [
        RecipeForm(name, _form_settings(recipe, size))
        for name, recipe in RECIPES.items()
        if recipe.has_form and size.task in recipe.tasks
    ]


def _form_settings(recipe: type[Recipe], size: Size) -> tuple[Setting, ...]:
    task = size.task
    return tuple(
        _form_setting(setting, setting.kind, size)
        for setting in describe_settings(recipe)
        if setting.kind != "choice of settings"
        and not (task == "multi-label" and setting.name in _ONE_INTENT)
    )


def _form_setting(
    setting: RecipeSetting, kind: Literal["choice", "tick", "number"], size: Size
) -> Setting:
    default = setting.multi_label_default if size.task == "multi-label" else setting.default
    return Setting(
        name=setting.name,
        label=setting.title,
        help=setting.description,
        kind=kind,
        choices=setting.choices,
        default=default,
        emptied=setting.optional and default is not None,
        advanced=setting.name not in _SIMPLE,
        why_not=_too_few_texts(size) if setting.name == "pool" else "",
    )


def _too_few_texts(size: Size) -> str:
    """Say how many unlabelled texts are missing; "" where there are enough to learn from."""
    needed = fewest_texts(size.rows)
    if size.unlabelled >= needed:
        return ""
    there = f"{size.unlabelled:,}" if size.unlabelled else "none"
    return f"Not yet: it takes {needed:,} unlabelled texts, and there are {there}."
