"""The command line: read arguments, call one service, map errors to exit codes.

Exit codes: 0 done, 2 wrong input (message and hint on standard error), 3 a model does not pass
`check`, 1 unexpected error. Heavy modules are imported only by the command that needs them, so
`--help` answers at once.
"""

import argparse
import itertools
import json
import logging
import os
import shlex
import sys
import uuid
from collections.abc import Sequence
from importlib import import_module

from app.failures import failure_in_words
from app.log_lines import places_of
from core.errors import DatabaseDamaged, StudioError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # OpenBLAS threads spin for about 25 ms after their work and slow down torch's threads:
    # embedding and scoring a text takes 24 ms with this setting, 83 ms without it (two cores).
    # OpenBLAS reads it once, when NumPy is imported; processes of jobs inherit it.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # MKL, which torch brings, keeps 33 MB for each thread that has ever multiplied: with eight
    # threads that answer 240 MB, in 80 s of work. Without them products take as long. It is read
    # when torch is imported.
    os.environ.setdefault("MKL_DISABLE_FAST_MM", "1")
    _wait_briefly()
    os.umask(0o077)  # texts are what customers said: nobody else on this machine reads the files
    options = _parsed(sys.argv[1:] if arguments is None else arguments)
    try:
        command = import_module(f"app.terminal.{options.room}")
        code: int | None = getattr(command, options.verb)(options)
    except StudioError as error:
        _refuse(error, as_json=getattr(options, "json", False))
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        _say("Stopped.")
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it was, the user gets a number
        told = failure_in_words(error)
        if told is None:
            return _broken(error)
        _refuse(told, as_json=getattr(options, "json", False))
        return 2
    return code or 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options that a command line names, or tell what is wrong and leave with 2."""
    from app.terminal.arguments.parser import WrongArguments, build_parser  # imports NumPy

    try:
        return build_parser().parse_args(arguments)
    except WrongArguments as error:
        if "--json" in itertools.takewhile(lambda word: word != "--", arguments):
            _refuse(error, as_json=True)
        else:
            _say(f"{error.usage}{error.message}\n  {error.hint}")
        raise SystemExit(2) from error


def _wait_briefly() -> None:
    """Let torch's threads look for each other some 0.1 ms at full speed, then sleep.

    libgomp's own 300,000 looks last several milliseconds: beside other programs, the thread that
    all wait for then never gets a core. It reads the setting when torch is loaded.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def _broken(error: Exception) -> int:
    incident = uuid.uuid4().hex[:8]
    logging.getLogger("app.cli").debug("incident %s", incident, exc_info=error)
    _say(f"Something broke (incident {incident}). Please report what follows; no text is in it.")
    _say("\n".join(f"  {place}" for place in places_of(error)))
    return 1


def _refuse(error: StudioError, *, as_json: bool) -> None:
    """Say on standard error what was wrong, with --json as one object; the result stays empty."""
    hint = error.hint
    if isinstance(error, DatabaseDamaged) and error.backup:  # pages name no command
        hint += f" `intent-studio --home NEW_FOLDER restore {shlex.quote(error.backup)}` does so."
    if as_json:
        _say(json.dumps({"message": error.message, "hint": hint}))
        return
    _say(error.message)
    if hint:
        _say(f"  {hint}")


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


if __name__ == "__main__":
    sys.exit(main())
