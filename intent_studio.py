"""The entry of the command line: it finds the studio's own packages, whatever else is on the path.

Other projects have folders called `app` and `core`, too, and may stand before these.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path


def main() -> int:
    """Run one command and return its exit code."""
    codes: list[int] = []
    atexit.register(_leave, codes)  # what is registered first is called last
    codes.append(_run())
    return codes[0]


def _run() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    if sys.argv[1:2] == ["serve-model"]:  # runs where the studio's other packages are not
        from app.serving.command import main as serve

        return serve(sys.argv[2:])
    try:
        import pydantic  # noqa: F401 - every other command reads settings
    except ImportError:
        sys.stderr.write("Only serve-model can run here: the studio's packages are missing.\n")
        sys.stderr.write("  pip install 'intent-studio[studio]'\n")
        return 2
    from app.cli import main as run

    return run()


def _leave(codes: list[int]) -> None:
    """End the process while a daemon thread runs, after all else was closed.

    Python ends such a thread wherever it asks for the interpreter again. Within torch or ONNX
    Runtime that aborts the process: "terminate called without an active exception", exit code 134.
    """
    if codes and threading.active_count() > 1:  # the others were joined before
        with suppress(OSError, ValueError):  # whoever read the output has left
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(codes[0])


if __name__ == "__main__":
    sys.exit(main())
