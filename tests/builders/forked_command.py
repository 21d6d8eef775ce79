"""Commands of the studio in forks of one process, which has loaded the libraries already.

A new interpreter spends about six seconds of processor on importing them, a fork none.
"""

import importlib
import importlib.util
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

_LIBRARIES = ("torch", "transformers", "uvicorn", "sklearn.linear_model")
_WATCH = Path(__file__).parents[1] / "browser" / "watch" / "sitecustomize.py"


def forks() -> ForkServerContext:
    """Return what starts processes as forks of one that has the libraries."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_LIBRARIES, "app.cli", "app.server", "app.ui.navigation"])
    return context


def start_fork(
    arguments: list[str], environment: dict[str, str], output: Path, program: str = "app.cli"
) -> ForkServerProcess:
    """Start one command, such as `["--home", folder, "serve"]`; what it prints goes to `output`.

    `program` is a module whose `main` reads its arguments as a program does.
    """
    process = forks().Process(target=_do, args=(program, arguments, environment, output))
    process.start()
    return process


def run_in_two(body: Callable[..., None], arguments: tuple[object, ...]) -> None:
    """Run a function in two processes at once, each with its number before the arguments."""
    from torch.multiprocessing import start_processes

    forks()
    start_processes(body, arguments, nprocs=2, start_method="forkserver")


def _do(program: str, arguments: list[str], environment: dict[str, str], output: Path) -> None:
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
    sys.argv = [program, *arguments]
    sys.exit(importlib.import_module(program).main())
