"""The parser of the whole command line."""

import argparse
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from app.terminal.arguments import benchmarks, commands
from core.errors import InvalidInput
from core.text import did_you_mean

_UNKNOWN = re.compile(r"invalid choice: '(?P<word>.*?)' \(choose from (?P<choices>.*)\)$")


class WrongArguments(InvalidInput):
    """Arguments that a command does not take; `usage` is printed before the message."""

    def __init__(self, message: str, hint: str, usage: str) -> None:
        """Store what is wrong, and what the command takes."""
        super().__init__(message, hint)
        self.usage = usage


class CommandParser(argparse.ArgumentParser):
    """A parser that proposes the word that was probably meant."""

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse arguments; the command itself refuses those that it does not take.

        argparse hands them up to the whole parser, whose usage names no option of the command.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = " ".join(unknown)
            self.error(f"unrecognized arguments: {words}{self._meant(unknown)}")
        return found, unknown

    def _meant(self, unknown: Iterable[str]) -> str:
        """Return " Did you mean '--traffic'?" for the first option that there is none of, or ""."""
        option = next((word for word in unknown if word.startswith("-") and word != "--"), "")
        meant = did_you_mean(option.partition("=")[0], self._option_string_actions)
        return f". {meant}" if meant else ""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and the nearest choice.

        Raises:
            WrongArguments: Always.
        """
        raise WrongArguments(
            message + proposed(message),
            f"`{self.prog} --help` tells what it takes.",
            f"{self.format_usage()}{self.prog}: error: ",
        )


def proposed(message: str) -> str:
    """Return " Did you mean 'train'?" for a message about a choice that does not exist, or ""."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return ""
    choices = [choice.strip("' ") for choice in unknown["choices"].split(",")]
    meant = did_you_mean(unknown["word"], choices)
    return f". {meant}" if meant else ""


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of every command; each names its function under `app.terminal`."""
    parser = CommandParser(
        prog="intent-studio",
        description="Label a few utterances, tune a sentence encoder, see which examples decide.",
    )
    parser.add_argument("--home", type=Path, help="folder of the studio (default ~/.intent-studio)")
    parser.add_argument(
        "--database-url", help="another database than HOME/studio.db, as sqlite:///FILE"
    )
    number = version("intent-studio")
    parser.add_argument("--version", action="version", version=f"intent-studio {number}")
    verbs: Any = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_commands(verbs)
    benchmarks.add_benchmarks(verbs)
    commands.add_upkeep(verbs)
    return parser
