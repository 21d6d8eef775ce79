"""Every path and command that a document names is there, and the way in stays short."""

import argparse
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from app.settings import Settings
from app.terminal.arguments.parser import build_parser
from core.formats.rows import SPLITS, VALIDATION

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOP_FOLDERS = ("app", "core", "storage", "assets", "tests", "docs")
BASES = [
    ROOT,
    *(ROOT / folder for folder in TOP_FOLDERS),
    ROOT / "app/services",
    ROOT / "assets/js",
]
"""Folders from which a document may name a path."""
TWO_SCREENS = 900
TARGETS = set(
    (ROOT / "Makefile").read_text("utf-8").partition(".PHONY:")[2].splitlines()[0].split()
)

each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)


def named_code(text: str) -> list[str]:
    """Return what stands between backticks, and the lines of code blocks without comments."""
    text = text.replace("\\\n", " ")
    blocks = [line.partition("  #")[0].strip() for line in text.splitlines() if line[:4] == " " * 4]
    return [*re.findall(r"`([^`\n]+)`", text), *blocks]


def missing_paths(text: str, folder: Path) -> list[str]:
    """Return the paths that a document names and that are not there."""
    from_top = re.findall(rf"(?<![\w/.])((?:{'|'.join(TOP_FOLDERS)})/[\w./-]*\w)", text)
    links = re.findall(r"\]\(([^)#:]+)[^):]*\)", text)
    words = [word for word in re.findall(r"`([\w./-]+)`", text) if is_path(word)]
    return [
        *(path for path in from_top if not any((base / path).exists() for base in BASES)),
        *(link for link in links if not (folder / link).exists()),
        *(word for word in words if not any((base / word).exists() for base in BASES)),
    ]


def is_path(word: str) -> bool:
    """Return whether a word begins with a folder of this project."""
    first, slash, _ = word.partition("/")
    return bool(slash and first) and any((base / first).is_dir() for base in BASES)


def refusal(command: str) -> str:
    """Return why the command line does not know a command or an option of it; empty if it does."""
    parser = build_parser()
    for word in shlex.split(command)[1:]:
        if word.isupper():
            continue
        deeper = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        if word.startswith("--") and word.partition("=")[0] not in parser._option_string_actions:
            return f"{parser.prog} has no {word}"
        if deeper and not word.startswith("-"):
            if word not in deeper[0].choices:
                return f"{parser.prog} has no {word}"
            parser = deeper[0].choices[word]
    return ""


def all_commands(parser: argparse.ArgumentParser, name: str = "") -> Iterator[str]:
    """Yield the names of the commands that do something, such as `bundle export`."""
    deeper = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not deeper:
        yield name
        return
    for word, command in deeper[0].choices.items():
        yield from all_commands(command, f"{name} {word}".strip())


def listed_commands() -> list[tuple[str, list[str]]]:
    """Return the commands of each row on the page of commands, and the options beside them."""
    rows = re.findall(
        r"^\| `([^`]+)` (\|.*)$", (ROOT / "docs/topics/commands.md").read_text("utf-8"), re.M
    )
    plain = re.compile("[a-z-]*[a-z]").fullmatch
    return [
        (
            " ".join(takewhile(lambda word: plain(word) and word[0] != "-", command.split())),
            re.findall(r"--[a-z-]+", f"{command} {rest}"),
        )
        for command, rest in rows
    ]


@each_document
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    assert missing_paths(document.read_text("utf-8"), document.parent) == []


@each_document
def test_every_command_that_a_document_names_is_one(document: Path) -> None:
    code = named_code(document.read_text("utf-8"))
    commands = [line for line in code if line.startswith("intent-studio ")]
    assert [refusal(line) for line in commands if refusal(line)] == []
    targets = [line.split()[1] for line in code if re.match(r"make [a-z]", line)]
    assert set(targets) <= TARGETS


def test_the_page_of_commands_lists_each_command_with_options_that_it_has() -> None:
    """Fourteen commands stood in no document: only `--help` had them."""
    listed = listed_commands()
    assert {command for command, _ in listed} == set(all_commands(build_parser()))
    lines = (f"intent-studio {command} {option}" for command, all_ in listed for option in all_)
    assert [refusal(line) for line in lines if refusal(line)] == []


def test_commands_that_the_readme_shows_line_by_line_are_complete() -> None:
    shown = [line for line in named_code((ROOT / "README.md").read_text("utf-8")) if " " in line]
    commands = [
        line for line in shown if line.startswith("intent-studio ") and "COMMAND" not in line
    ]
    assert len(commands) > 5
    for command in commands:
        build_parser().parse_args(shlex.split(command)[1:])


def test_the_architecture_fits_two_screens_and_names_every_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert len(text.split()) <= TWO_SCREENS
    folders = [
        path.relative_to(ROOT).as_posix()
        for base in (ROOT / "app", ROOT / "app" / "services", ROOT / "core", ROOT / "storage")
        for path in base.iterdir()
        if path.is_dir() and not path.name.startswith("__")
    ]
    named = set(re.findall(r"`([\w./-]+)`", text))
    unnamed = {
        folder
        for folder in folders
        if not {folder, folder.removeprefix("app/"), folder.removeprefix("core/")} & named
    }
    assert unnamed == {"app/services"} - named


def test_the_page_on_imports_names_every_word_for_a_set() -> None:
    """It left out eight words, and said that any other word is refused."""
    text = (ROOT / "docs/topics/data-log.md").read_text("utf-8")
    assert [word for word in (*SPLITS, *VALIDATION) if f"`{word}`" not in text] == []


def test_the_page_on_operations_names_every_setting_and_every_extra() -> None:
    """No page named `STUDIO_DEVICE`, to which errors send people, or the extra `onnx`."""
    text = (ROOT / "docs/topics/operations.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [name for name in Settings.model_fields if f"`STUDIO_{name.upper()}`" not in text] == []
    assert [name for name in project["optional-dependencies"] if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("see `core/none.py`", ["core/none.py", "core/none.py"]),
        ("see [it](none.md)", ["none.md"]),
        ("`services/none` and `encoder/`", ["services/none"]),
        ("`core/pipeline.py` and [this](README.md#more)", []),
    ],
)
def test_a_path_that_is_not_there_is_found(text: str, missing: list[str]) -> None:
    assert missing_paths(text, ROOT) == missing


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ("intent-studio train support --recipe instant", ""),
        ("intent-studio bench few-shot", ""),
        ("intent-studio trian support", "intent-studio has no trian"),
        ("intent-studio train support --recipes x", "intent-studio train has no --recipes"),
    ],
)
def test_a_command_that_is_none_is_found(command: str, refused: str) -> None:
    assert refusal(command) == refused
