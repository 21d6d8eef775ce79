"""What people read in the browser names no command, no option, no code; percents look alike."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("app/api", "app/services", "core", "storage")
OF_THE_TERMINAL = {
    "app/services/reports/pdf.py",  # options of the browser that prints
    "app/services/sync/authors.py",  # options of git
    "app/services/upkeep.py",
    "app/services/versions/graphs.py",  # only a command makes a graph
    "core/benchmarks",
    "core/bundle/card.py",  # Markdown beside an exported model
    "core/bundle/signing.py",  # keys are files of the command line
    "core/encoders/bundled.py",  # asks to reinstall what came with the studio
    "core/text.py",  # punctuation
    "storage/backup.py",
    "storage/database.py",
}
CODE = re.compile(r"`|intent-studio \w|(^|\s)--\w|pip install")


def test_no_message_names_a_command() -> None:
    assert list(messages_with_code()) == []


def messages_with_code() -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if any(name.startswith(spared) for spared in OF_THE_TERMINAL):
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
                if is_text and id(node) not in documents and CODE.search(node.value):
                    yield f"{name}:{node.lineno} {node.value!r}"


def test_no_page_names_a_command() -> None:
    for script in sorted((ROOT / "assets/js").rglob("*.js")):
        quoted = re.findall(r"'(?:[^'\\\n]|\\.)*'", script.read_text(encoding="utf-8"))
        for text in quoted:
            found = " " in text and re.search(r"intent-studio |(^|\s)--\w|command line", text)
            assert not found, f"{script.name}: {text}"


def test_percents_are_written_by_one_function() -> None:
    """ "86.0 %" everywhere: `core.text.percent`, and `percent` of `shared/words.js`."""
    for folder in ("app", "core", "storage"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            written = re.findall(r":\.?\d*%\}", path.read_text(encoding="utf-8"))
            assert not written, f"{path.name}: {written}"
    for script in sorted((ROOT / "assets/js").rglob("*.js")):
        if script.name != "words.js":
            assert "} %" not in script.read_text(encoding="utf-8"), script.name
