"""What the arguments of several commands have in common."""

import argparse
from pathlib import Path
from typing import Any, TypeAlias

OPTIONS: dict[str, dict[str, Any]] = {
    "project": {"help": "name of the project"},
    "file": {"type": Path},
    "model": {
        "metavar": "MODEL",
        "help": "PROJECT: its champion as it was trained; PROJECT@3: version 3; or the file of a "
        "bundle",
    },
    "--json": {"action": "store_true", "help": "print one JSON object, nothing else"},
    "--dry-run": {"action": "store_true", "help": "report, and write nothing"},
    "--train": {"type": Path, "required": True},
    "--test": {"type": Path, "required": True},
    "--recipe": {"default": "convfit", "help": "recipe to train by (default: convfit)"},
    "--base": {
        "default": "bundled",
        "help": "encoder to start from: bundled (default), a folder or a hub id",
    },
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "dest": "settings",
        "help": "a setting of the recipe; `intent-studio recipes NAME` lists them",
    },
    "--seed": {"type": int, "default": 0},
    "--seeds": {"default": "0,1,2", "help": "comma-separated"},
}
"""Options that several commands share."""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_command(
    commands: Commands, name: str, help_text: str, target: str, *options: str
) -> argparse.ArgumentParser:
    """Add one command with shared options; `target` is `module.function` under `app.terminal`.

    `--home` is accepted before and after the command's name.
    """
    room, _, verb = target.rpartition(".")
    command = commands.add_parser(name, help=help_text, description=help_text)
    command.add_argument("--home", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    command.add_argument("--database-url", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    command.set_defaults(room=room, verb=verb)
    add_options(command, *options)
    return command


def add_options(command: argparse.ArgumentParser, *options: str, **changes: Any) -> None:
    """Add shared options, each with some of its facts changed."""
    for option in options:
        command.add_argument(option, **{**OPTIONS[option], **changes})


def recipe_names(fact: str, value: str) -> list[str]:
    """Return the names of recipes whose attribute `fact` is `value`; the default is last."""
    from core.recipes.read import RECIPES

    names = [name for name, recipe in RECIPES.items() if getattr(recipe, fact) == value]
    return sorted(names, key=lambda name: name == OPTIONS["--recipe"]["default"])
