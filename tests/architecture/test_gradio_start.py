"""Gradio writes no files for editors while the studio starts."""

import inspect
from pathlib import Path

import gradio as gr
import pytest
from gradio import component_meta

from app.ui import gradio_start, navigation


def test_a_component_is_defined_without_reading_its_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Parsing the source of all components took 1.5 s of each start."""
    read: list[str] = []
    monkeypatch.setattr(
        component_meta, "extract_class_source_code", lambda code, name: read.append(name)
    )
    plain = inspect.getfile
    with gradio_start.without_stub_files():

        class Defined(gr.HTML):
            """A component of the studio."""

        assert inspect.getfile(Path) == plain(Path)
    assert read == []
    assert inspect.getfile is plain
    assert Path(inspect.getfile(Defined)) == Path(__file__)


def test_no_other_module_of_the_studio_imports_gradio_first() -> None:
    """`navigation` imports it, then the two modules that need it."""
    root = Path(inspect.getfile(navigation)).parents[1]
    holders = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if "import gradio" in file.read_text(encoding="utf-8")
    }
    assert holders == {"ui/navigation.py", "ui/theme.py", "ui/components/view.py"}
    source = inspect.getsource(navigation)
    assert source.index("with without_stub_files():") < source.index("import gradio")
