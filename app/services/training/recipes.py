"""The purpose of each recipe, and its settings with default, range and description."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.recipes.base import Makes, Recipe, Source
from core.recipes.read import RECIPES
from core.types import Task

SettingKind = Literal["choice", "tick", "number", "choice of settings"]


@dataclass(frozen=True, slots=True)
class RecipeView:
    """A recipe and its purpose; `learns_from` and `tasks` say which projects can use it."""

    recipe: str
    title: str
    summary: str
    makes: Makes
    learns_from: Source
    tasks: tuple[Task, ...]
    needs_base: bool


@dataclass(frozen=True, slots=True)
class RecipeSetting:
    """A setting as a recipe declares it.

    Attributes:
        name: Key in `--set KEY=VALUE`.
        title: What a form calls it.
        kind: A choice, a tick, a number, or an object with settings of its own.
        default: A JSON value; None where the data determine it.
        multi_label_default: Default for multi-label tasks.
        range: The allowed values, in words.
        optional: Whether it may be empty (null).
        settings: For an object, its settings by `kind`.
    """

    name: str
    title: str
    kind: SettingKind
    default: Any
    multi_label_default: Any
    range: str
    description: str
    choices: tuple[str, ...]
    optional: bool
    settings: Mapping[str, tuple["RecipeSetting", ...]]


def list_recipes() -> list[RecipeView]:
    """Return every recipe, those that make a model first."""
    return [view_recipe(recipe) for recipe in RECIPES.values()]


def view_recipe(recipe: type[Recipe]) -> RecipeView:
    """Return the purpose of a recipe."""
    return RecipeView(
        recipe=recipe.name(),
        title=recipe.title,
        summary=recipe.summary,
        makes=recipe.makes,
        learns_from=recipe.learns_from,
        tasks=recipe.tasks,
        needs_base=recipe.needs_base,
    )


def describe_settings(recipe: type[Recipe]) -> tuple[RecipeSetting, ...]:
    """Return every setting of a recipe in the order of its declaration."""
    schema = recipe.model_json_schema()
    return _settings(schema, schema.get("$defs", {}), recipe.multi_label)


def _settings(
    schema: Mapping[str, Any], parts: Mapping[str, Any], multi_label: Mapping[str, object]
) -> tuple[RecipeSetting, ...]:
    """Read settings from a JSON schema; `parts` are the schemas that it refers to."""
    settings = []
    for name, declared in schema["properties"].items():
        if name == "kind":
            continue
        options = declared.get("anyOf", [declared])
        value = next(option for option in options if option.get("type") != "null")
        mapping = value.get("discriminator", {}).get("mapping", {})
        nested = {
            kind: _settings(parts[reference.rsplit("/", 1)[-1]], parts, {})
            for kind, reference in mapping.items()
        }
        settings.append(
            RecipeSetting(
                name=name,
                title=declared["title"],
                kind=_kind_of(value),
                default=declared["default"],
                multi_label_default=multi_label.get(name, declared["default"]),
                range=_range_words(value, nested) + (" or null" if len(options) > 1 else ""),
                description=declared["description"],
                choices=tuple(value.get("enum", ())),
                optional=len(options) > 1,
                settings=nested,
            )
        )
    return tuple(settings)


def _kind_of(value: Mapping[str, Any]) -> SettingKind:
    if "discriminator" in value:
        return "choice of settings"
    if "enum" in value:
        return "choice"
    return "tick" if value["type"] == "boolean" else "number"


def _range_words(value: Mapping[str, Any], nested: Mapping[str, object]) -> str:
    if nested:
        return f"an object whose kind is {', '.join(nested)}"
    if "enum" in value:
        return ", ".join(value["enum"])
    if value["type"] == "boolean":
        return "true, false"
    bounds = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    limits = [f"{words} {value[bound]:,}" for bound, words in bounds.items() if bound in value]
    return ", ".join([*(["whole number"] if value["type"] == "integer" else []), *limits])
