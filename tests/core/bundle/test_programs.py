"""The programs of both kinds of bundles take texts as the studio does."""

import ast
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.bundle.facts import ONNX, RUNTIME
from core.bundle.own_files import program
from core.text import is_blank, match_keys

PROGRAMS = {"torch": program({}), "graph": program({RUNTIME: ONNX})}
OWN = {"FILLERS", "OUTER", "OUTER_BEFORE", "SELECTORS", "is_blank", "main", "match_keys"}


class Echo:
    """Stands for the model of a bundle."""

    def predict(self, texts: Sequence[str]) -> list[dict[str, str]]:
        return [{"text": text} for text in texts]


def part_of(kind: str) -> dict[str, Any]:
    """Return what a program does with texts, without its model and the libraries of that."""
    nodes = [
        node
        for node in ast.parse(PROGRAMS[kind]).body
        if {getattr(node, "name", ""), *_assigned(node)} & OWN or _imports_python_alone(node)
    ]
    found: dict[str, Any] = {"Bundle": Echo}
    exec(compile(ast.Module(nodes, []), kind, "exec"), found)
    return found


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _imports_python_alone(node: ast.stmt) -> bool:
    names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
    names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
    return bool(names) and set(names) <= sys.stdlib_module_names


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_same_texts_are_blank(kind: str) -> None:
    """Marks of Mongolian, and those above U+E0100, were answered by the programs alone."""
    theirs: Callable[[str], bool] = part_of(kind)["is_blank"]
    signs = [
        *map(chr, range(0x10000)),
        *map(chr, range(0xE0000, 0xE0200)),
        "",
        " \u3164",
        "a\ufe0f",
    ]
    assert [sign for sign in signs if theirs(sign) != is_blank(sign)] == []


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_same_texts_are_one_question(kind: str) -> None:
    theirs: Callable[[str], tuple[str, ...]] = part_of(kind)["match_keys"]
    texts = [f"{sign}Where  is it{sign}!" for sign in map(chr, range(0x10000))]
    assert [text for text in texts if tuple(dict.fromkeys(theirs(text))) != match_keys(text)] == []


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_line_of_a_file_is_one_text(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text was cut in two at U+2028 and at U+0085, which some programs put for a line break."""
    texts = ["send\u2028it", "and\x85that", "or\x0bthis"]
    path = tmp_path / "texts.txt"
    path.write_bytes("\r\n".join([*texts, "", "last", ""]).encode())
    monkeypatch.setattr(sys, "argv", ["predict.py", "first", "--file", str(path)])
    part_of(kind)["main"]()
    said = [json.loads(line)["text"] for line in capsys.readouterr().out.split("\n") if line]
    assert said == ["first", *texts, "last"]
