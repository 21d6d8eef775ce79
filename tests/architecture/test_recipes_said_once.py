"""No page, command or service lists recipes by hand: they read what the classes say."""

import ast
import re
from pathlib import Path

import pytest

from core.recipes.read import RECIPES

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "assets" / "js").rglob("*.js"))
SOURCES = sorted(path for room in ("app", "storage") for path in (ROOT / room).rglob("*.py"))
LISTS = ast.Tuple | ast.List | ast.Set | ast.Dict


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_lists_recipes(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, LISTS):
            texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            assert len(texts & RECIPES.keys()) < 2, f"line {node.lineno}"


def test_no_script_chooses_a_recipe() -> None:
    """Which recipes are Quick and Best is a rule of the services."""
    names = RECIPES.keys() - {recipe.learns_from for recipe in RECIPES.values()}
    named = {}
    for path in SCRIPTS:
        texts = set(re.findall(r"'([^']*)'", path.read_text(encoding="utf-8")))
        if texts & names:
            named[path.relative_to(ROOT).as_posix()] = texts & names
    assert not any(path.startswith("assets/js/train") for path in named)
    assert all(len(found) == 1 for found in named.values())
