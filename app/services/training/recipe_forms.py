"""The settings of every recipe as a form shows them, with the defaults that a project has."""

from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from app.services.studio import Studio
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import AdapterRecipe, ConvfitRecipe, LabelEncoderRecipe
from core.recipes.tasks import task_defaults, tasks_of
from core.recipes.templates import TemplatesRecipe
from core.types import Task
from storage import projects

_RECIPES: tuple[type[BaseModel], ...] = (
    ConvfitRecipe,
    AdapterRecipe,
    LabelEncoderRecipe,
    DialoguesRecipe,
    ConvertRecipe,
    TemplatesRecipe,
)
"""Those with something to choose; `instant` has settings for the command line alone."""
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
"""What a designer may want to touch; everything else is folded away."""


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
    """Return the forms of a project's recipes.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        task = projects.find(connection, project).task
    fitting = [recipe for recipe in _RECIPES if task in tasks_of(_kind_of(recipe))]
    return [_form(recipe, task) for recipe in fitting]


def _kind_of(recipe: type[BaseModel]) -> str:
    return str(recipe.model_fields["kind"].default)


def _form(recipe: type[BaseModel], task: Task) -> RecipeForm:
    kind = _kind_of(recipe)
    usual = task_defaults(kind, task)
    found = []
    for name, info in recipe.model_fields.items():
        annotation, optional = _bare(info.annotation)
        if name == "kind" or _nested(annotation):
            continue
        kind_of = _kind(annotation)
        default: Any = usual.get(name, info.default)
        found.append(
            Setting(
                name=name,
                label=name.replace("_", " ").capitalize(),
                help=info.description or "",
                kind=kind_of,
                choices=get_args(annotation) if kind_of == "choice" else (),
                default=default,
                emptied=optional and default is not None,
                advanced=name not in _SIMPLE,
            )
        )
    return RecipeForm(kind, tuple(found))


def _kind(annotation: Any) -> Literal["choice", "tick", "number"]:
    if get_origin(annotation) is Literal:
        return "choice"
    return "tick" if annotation is bool else "number"


def _bare(annotation: Any) -> tuple[Any, bool]:
    """Take None out of a union, and say whether it was there."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    if NoneType not in get_args(annotation):
        return annotation, False
    return kinds[0], True


def _nested(annotation: Any) -> bool:
    """Whether it is a recipe inside a recipe, such as the head."""
    kinds = [annotation, *get_args(annotation)]
    return any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds)
