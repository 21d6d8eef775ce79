"""Every regular expression of the product, on texts that make careless ones explode."""

import importlib
import pkgutil
import re
import time
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
        "every compiled expression of the product, on kinds of text of 10,000 characters",
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
        "{a}",
        "+1 ",
        "\\\\",
        "##",
    ),
]
MOST_SECONDS = 2.0


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


@pytest.mark.parametrize(
    "longest",
    [pytest.param(500, id="quick"), pytest.param(10_000, id="fire", marks=pytest.mark.fire)],
)
def test_no_regular_expression_explodes(longest: int) -> None:
    patterns = expressions()
    assert len(patterns) > 30
    slow = {}
    for name, pattern in patterns.items():
        for piece in PIECES:
            text = piece * (longest // len(piece)) + "!"
            began = time.process_time()
            pattern.search(text)
            pattern.fullmatch(text)
            took = time.process_time() - began
            if took > MOST_SECONDS:
                slow[name, piece] = took
    assert slow == {}
