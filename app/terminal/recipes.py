"""The command that prints recipes and their settings."""

import argparse
import json
from collections.abc import Iterator, Sequence

from app.services.training.recipes import (
    RecipeSetting,
    RecipeView,
    describe_settings,
    list_recipes,
    view_recipe,
)
from app.terminal.output import plain, print_json, say, table, tell
from core.recipes.read import RECIPES, recipe_named


def recipes(options: argparse.Namespace) -> None:
    """Print every recipe; with a name, every setting of that recipe."""
    if options.name is None:
        if options.json:
            print_json({"recipes": [_as_json(name) for name in RECIPES]})
        else:
            _show_recipes(list_recipes())
    elif options.json:
        print_json(_as_json(options.name))
    else:
        _show_settings(options.name)


def _as_json(name: str) -> dict[str, object]:
    recipe = recipe_named(name)
    return {**plain(view_recipe(recipe)), "settings": describe_settings(recipe)}


def _show_recipes(views: Sequence[RecipeView]) -> None:
    head = ("recipe", "makes", "learns from", "tasks", "what it does")
    rows = [(v.recipe, v.makes, v.learns_from, ", ".join(v.tasks), v.summary) for v in views]
    table("Recipes", head, rows)
    tell("`intent-studio recipes NAME` prints the settings of one.")


def _show_settings(name: str) -> None:
    recipe = recipe_named(name)
    view = view_recipe(recipe)
    say(f"{view.title}: {view.summary}")
    say(f"It makes a {view.makes}".replace("a e", "an e") + f", from {view.learns_from}.")
    table(name, ("setting", "default", "range", "description"), _rows(describe_settings(recipe)))
    tell("Set them with --set KEY=VALUE; a value is JSON where it looks like it.")


def _rows(settings: Sequence[RecipeSetting]) -> Iterator[list[str]]:
    for setting in settings:
        default = json.dumps(setting.default)
        if setting.multi_label_default != setting.default:
            default += f" (multi-label: {json.dumps(setting.multi_label_default)})"
        yield [setting.name, default, setting.range, setting.description]
        for kind, nested in setting.settings.items():
            for name, *cells in _rows(nested):
                yield [f"{setting.name} {kind}: {name}", *cells]
