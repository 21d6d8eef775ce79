"""The command `serve-model`, which runs where only the packages of the extra `serve` are."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.serving.limits import Serving, check_address, read_key
from core.errors import InvalidInput, StudioError

NAME = "serve-model"
HELP = "serve graphs of bundles over HTTP, without torch"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "bundle", type=Path, metavar="BUNDLE", help="FILE or NAME=FILE, made with --runtime onnx"
    )
    command.add_argument(
        "others",
        type=Path,
        nargs="*",
        metavar="BUNDLE",
        help="further ones; the first answers whoever names no model",
    )
    command.add_argument("--host", default="127.0.0.1", help="address (default 127.0.0.1)")
    command.add_argument("--port", type=int, default=8080, help="default 8080")
    command.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    command.add_argument(
        "--name", default="", help="name of the first in addresses (default: the project's)"
    )
    command.add_argument(
        "--api-key-file", type=Path, metavar="FILE", help="the key that clients must send"
    )
    command.add_argument("--no-key", action="store_true", help="serve other machines without one")
    command.add_argument(
        "--most-waiting",
        type=int,
        default=512,
        help="texts that may wait for a model (default 512)",
    )
    command.add_argument(
        "--most-texts", type=int, default=256, help="texts of one request (default 256)"
    )
    command.add_argument(
        "--shadow",
        type=Path,
        metavar="BUNDLE",
        help="a bundle that answers what the first one is asked, unseen",
    )
    command.add_argument(
        "--shadow-file", type=Path, metavar="FILE", help="keep its differing answers here"
    )
    command.add_argument(
        "--shadow-texts", action="store_true", help="keep the texts of these answers, too"
    )


def main(arguments: Sequence[str]) -> int:
    """Run the command by itself; return its exit code."""
    parser = argparse.ArgumentParser(f"intent-studio {NAME}", description=HELP)
    add_arguments(parser)
    try:
        serve(parser.parse_args(arguments))
    except StudioError as error:
        sys.stderr.write(f"{error.message}\n" + (f"  {error.hint}\n" if error.hint else ""))
        return 2
    return 0


def serve(options: argparse.Namespace) -> None:
    """Serve bundles until Ctrl-C.

    Raises:
        InvalidInput: There is no such bundle, it holds no graph, or a setting cannot be used.
    """
    serving = serving_of(options)
    try:
        import uvicorn

        from app.serving.server import SETTINGS, make_application
    except ImportError as error:
        raise InvalidInput(
            f"The server needs the package {error.name}, which is not installed.",
            "pip install 'intent-studio[serve]'",
        ) from error
    # No line of the access log: an address may hold a token, and a body holds texts.
    how: dict[str, Any] = {"host": options.host, "port": options.port, "access_log": False}
    how |= {"log_level": "warning", "log_config": _log_config(uvicorn.config.LOGGING_CONFIG)}
    files = ", ".join(map(str, (options.bundle, *options.others)))
    sys.stderr.write(f"Serving {files} at http://{options.host}:{options.port}\n")
    if options.workers == 1:
        uvicorn.run(make_application(serving), **how)
        return
    os.environ[SETTINGS] = json.dumps(serving.values)
    target = "app.serving.server:application"
    uvicorn.run(target, factory=True, workers=options.workers, **how)


def serving_of(options: argparse.Namespace) -> Serving:
    """Read the settings of a server from its command line.

    Raises:
        InvalidInput: A number is too small, or other machines are served without a key.
    """
    for name in ("workers", "most_waiting", "most_texts"):
        if getattr(options, name) < 1:
            raise InvalidInput(f"--{name.replace('_', '-')} must be 1 or more.")
    (name, first), *others = (_named(one) for one in (options.bundle, *options.others))
    further = {file: given for given, file in others}
    if len(further) < len(others):
        raise InvalidInput("A bundle is named twice.", "Name each once.")
    if options.shadow is not None:
        _require(options.shadow)
    kept, told = options.shadow_file is not None, options.shadow_texts
    if (kept and options.shadow is None) or (told and not kept):
        raise InvalidInput(
            "Differing answers are kept of a shadow model, and texts in their file.",
            "Write --shadow BUNDLE --shadow-file FILE --shadow-texts.",
        )
    key = read_key(options.api_key_file)
    check_address(options.host, key, without_key=options.no_key)
    threads = 0
    if options.workers > 1:  # each has its share of the processors
        from core.runtime.engine import available

        threads = max(1, available() // options.workers)
    return Serving(
        bundle=first,
        name=name or options.name,
        threads=threads,
        most_waiting=options.most_waiting,
        most_texts=options.most_texts,
        key=key,
        shadow=str(options.shadow.absolute()) if options.shadow else "",
        shadow_file=str(options.shadow_file.absolute()) if options.shadow_file else "",
        shadow_texts=options.shadow_texts,
        others=further,
    )


def _named(word: Path) -> tuple[str, str]:
    """Read FILE or NAME=FILE as name and file; a link in the file may be turned to another one."""
    name, given, file = str(word).partition("=")
    if not given or word.is_file():
        name, file = "", str(word)
    _require(Path(file))
    return name, str(Path(file).absolute())


def _require(bundle: Path) -> None:
    if not bundle.is_file():
        raise InvalidInput(f"There is no file {bundle}.", "Check the path.")


def _log_config(usual: dict[str, Any]) -> dict[str, Any]:
    """Let the server's own lines, such as those on a new bundle, go where uvicorn's go."""
    own = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return {**usual, "loggers": {**usual["loggers"], "app.serving": own}}
