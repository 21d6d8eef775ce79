"""Commands of the studio in forks of one process, which has loaded the libraries already.

A new interpreter spends about six seconds of processor on importing them, a fork none.
"""

import importlib.util
import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_LIBRARIES = ("torch", "transformers", "uvicorn", "sklearn.linear_model")
_WATCH = Path(__file__).parents[1] / "browser" / "watch" / "sitecustomize.py"


def start_fork(
    arguments: list[str], environment: dict[str, str], output: Path
) -> ForkServerProcess:
    """Start one command, such as `["--home", folder, "serve"]`; what it prints goes to `output`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_LIBRARIES, "app.cli", "app.server", "app.ui.navigation"])
    process = context.Process(target=_do, args=(arguments, environment, output))
    process.start()
    return process


def _do(arguments: list[str], environment: dict[str, str], output: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    # A new interpreter imports this by itself.
    specification = importlib.util.spec_from_file_location("sitecustomize", _WATCH)
    assert specification is not None
    assert specification.loader is not None
    specification.loader.exec_module(importlib.util.module_from_spec(specification))
    from app.cli import main

    sys.exit(main(arguments))
