"""The types of the whole program are right."""

import subprocess
import sys
from pathlib import Path


def test_mypy_finds_no_error() -> None:
    """A minute of work where nothing is remembered: beside the other tests, not before them."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
