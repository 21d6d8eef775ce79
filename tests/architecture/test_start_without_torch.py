"""Pages open, labels save and `--help` answers before torch is loaded."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "gradio")


@pytest.mark.parametrize("module", ["app.cli", "storage.database", "app.jobs.supervisor"])
def test_importing_does_not_load_heavy_libraries(module: str) -> None:
    script = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_server_opens_its_first_page_before_torch_is_loaded() -> None:
    """Two of the five seconds to the first page went into libraries that no page needs."""
    heavy = (*HEAVY, "scipy.stats", "scipy.optimize")
    script = f"import sys, app.server; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
