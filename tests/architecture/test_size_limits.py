"""The limits that keep a newcomer able to read any file in one sitting."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "storage", "intent_studio_client", "tests")
SCRIPTS = sorted((ROOT / "assets" / "js").rglob("*.js"))
SHEETS = sorted((ROOT / "assets" / "css").rglob("*.css"))
FOLDERS_OF_THINGS_ALIKE = {"core/formats", "storage/migrations"}
FORBIDDEN_NAMES = {"utils", "helpers", "manager", "handler", "misc", "common"}


def sources(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", sources(*ROOMS), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", sources(*ROOMS[:-1]), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_function_has_at_most_40_lines(path: Path) -> None:
    if "migrations" in path.parts:
        pytest.skip("a migration lists columns and has no logic to divide")
    long = {f.name: _body_lines(f) for f in functions(path) if _body_lines(f) > 40}
    assert long == {}


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the end."""
    body = function.body
    first = body[1] if ast.get_docstring(function) and len(body) > 1 else body[0]
    return (function.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("path", SCRIPTS + SHEETS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_script_or_style_sheet_has_at_most_400_lines_of_120_characters(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert [line for line in lines if len(line) > 120] == []


def test_scripts_import_without_going_in_circles() -> None:
    imports = {path: imported(path) for path in SCRIPTS}
    assert all(path.exists() for paths in imports.values() for path in paths)
    while leaves := {path for path, wanted in imports.items() if not wanted & imports.keys()}:
        imports = {path: wanted for path, wanted in imports.items() if path not in leaves}
    assert imports == {}


def imported(script: Path) -> set[Path]:
    """Return the scripts that one imports, by the paths that it names."""
    names = re.findall(r" from '(\.{1,2}/[^']+)';$", script.read_text("utf-8"), re.M)
    return {(script.parent / name).resolve() for name in names}


def test_package_markers_are_empty() -> None:
    filled = [p for p in sources(*ROOMS) if p.name == "__init__.py" and p.read_text().strip()]
    assert filled == []


def test_no_file_hides_behind_a_name_that_says_nothing() -> None:
    assert [p for p in sources(*ROOMS) if p.stem in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_folder_has_at_most_14_modules_side_by_side(room: str) -> None:
    markers = {"__init__.py", "conftest.py"}
    counts = Counter(path.parent for path in sources(room) if path.name not in markers)
    full = {str(folder.relative_to(ROOT)): n for folder, n in counts.items() if n > 14}
    assert full.keys() - FOLDERS_OF_THINGS_ALIKE == set(), full


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sources("app", "core", "storage"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_fixture_is_written_twice() -> None:
    """That of two threads stood in two files; what several need stands in the nearest conftest."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sources("tests"):
        text = path.read_text(encoding="utf-8")
        for made in ast.parse(text).body if "pytest.fixture" in text else ():
            is_fixture = isinstance(made, ast.FunctionDef) and any(
                "fixture" in ast.unparse(one) for one in made.decorator_list
            )
            if is_fixture and len(made.body) > 2:
                body = "\n".join(map(ast.unparse, made.body))
                places[body].append(f"{path.relative_to(ROOT)}: {made.name}")
    assert [found for found in places.values() if len(found) > 1] == []


def test_texts_that_a_model_has_not_learned_are_chosen_by_one_function() -> None:
    """Bundles had one of the same name, which also read the project's test texts once more."""
    named = [
        str(path.relative_to(ROOT))
        for path in sources("app")
        for one in functions(path)
        if one.name == "unlearned_tests"
    ]
    assert named == ["app/services/answering/judging.py"]


def test_lines_of_json_in_bundles_are_read_by_one_function() -> None:
    """Stored answers had a reader of their own beside that of examples."""
    read = [
        str(path.relative_to(ROOT))
        for path in sources("app", "core/bundle", "core/runtime")
        if "json.loads(line)" in path.read_text(encoding="utf-8")
    ]
    assert read == ["core/runtime/files.py"]
