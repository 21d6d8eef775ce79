"""Every regular expression of the product, on texts that make careless ones explode."""

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import app
import core
import storage
from tests.abuse.table import Abuse

ABUSES = (
    Abuse(
        19,
        "Texts on which a regular expression takes quadratic or exponential time",
        "every regular expression of the product, on kinds of text of 10,000 characters",
        "each is done within two seconds of computing; a linear one takes a millisecond",
        ("tests/abuse/test_changed_files.py",),
    ),
)
PIECES = [
    *("a", " ", "\n", "\t", "1", ".", "-", "_", '"', "'", "\\", "|", "@", "(", "[", "{", "<", "é"),
    *(
        "a ",
        "1.",
        "a@",
        "a.",
        "a-",
        "1-",
        "[a](",
        "[a]{",
        '"a":',
        "<row",
        "<v a",
        "<v.",
        "{a}",
        "+1 ",
        "\\\\",
        "##",
        "ten ",
        ",111",
        " +" + "1" * 45,
        " 0" + "1" * 30 + "a",
    ),
]
MOST_SECONDS = 2.0
ROOT = Path(__file__).parents[2]
CALLS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}


def modules() -> list[ModuleType]:
    """Import what needs no large library of its own to be imported."""
    return [
        importlib.import_module(entry.name)
        for root in (app, core, storage)
        for entry in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
    ]


def expressions() -> dict[str, re.Pattern[str]]:
    """Return the expressions over texts, by module and name."""
    return {
        f"{module.__name__}.{name}": value
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
    }


def sources() -> Iterator[Path]:
    """Yield all Python of the product, and the programs that a bundle brings along."""
    for room in ("app", "core", "storage", "intent_studio_client"):
        yield from sorted((ROOT / room).rglob("*.py"))
    yield from sorted((ROOT / "core" / "bundle").glob("*.py.txt"))


def literal_expressions() -> dict[str, re.Pattern[str]]:
    """Return the expressions that are written as literals where they are used, by file and line."""
    found = dict[str, re.Pattern[str]]()
    for path in sources():
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and _of_re(call.func) in CALLS and call.args:
                written = call.args[0]
                if isinstance(written, ast.Constant) and isinstance(written.value, str):
                    place = f"{path.relative_to(ROOT)}:{written.lineno}"
                    found[place] = re.compile(written.value, _flags(call))
    return found


def _of_re(node: ast.AST) -> str:
    """Return the name of what a node takes from the module `re`, or ""."""
    is_taken = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.attr if is_taken and node.value.id == "re" else ""  # type: ignore[attr-defined]


def _flags(call: ast.Call) -> re.RegexFlag:
    """Return the flags among the arguments of a call."""
    flags = re.RegexFlag(0)
    for name in filter(None, map(_of_re, ast.walk(call))):
        flag = getattr(re, name)
        flags |= flag if isinstance(flag, re.RegexFlag) else 0
    return flags


def test_expressions_within_functions_are_found() -> None:
    """Those that have a name in a module were tried alone."""
    places = {place.partition(":")[0] for place in literal_expressions()}
    assert {
        "app/services/data/uploads.py",
        "core/bundle/predict_graph.py.txt",
        "core/platforms/writing.py",
        "core/traffic/times.py",
    } <= places


@pytest.mark.parametrize(
    "longest",
    [
        pytest.param(500, id="quick", marks=pytest.mark.quick),
        pytest.param(10_000, id="fire", marks=pytest.mark.fire),
    ],
)
def test_no_regular_expression_explodes(longest: int) -> None:
    names = {pattern: name for name, pattern in (literal_expressions() | expressions()).items()}
    assert len(names) > 30
    slow = {}
    for pattern, name in names.items():
        for piece in PIECES:
            text = piece * (longest // len(piece)) + "!"
            began = time.process_time()
            pattern.search(text)
            pattern.fullmatch(text)
            took = time.process_time() - began
            if took > MOST_SECONDS:
                slow[name, piece] = took
    assert slow == {}
