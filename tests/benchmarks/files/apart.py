"""Measure in another process, so that no way keeps what an earlier one loaded."""

import json
import subprocess
import sys
from typing import Any


def figures_of(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module as a program of its own, and return the figures that it prints as JSON."""
    command = [sys.executable, "-m", module, *arguments]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: dict[str, Any] = json.loads(said)
    return figures


def told_figure(key: str, module: str, *arguments: str) -> float:
    """Measure in a program of its own, print all its figures, and return one of them."""
    figures = figures_of(module, *arguments)
    tell(figures)
    return float(figures[key])


def tell(figures: dict[str, Any]) -> None:
    """Print figures as a line of JSON, at once."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
