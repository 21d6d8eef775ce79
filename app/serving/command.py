"""The command `serve-model`, which runs where only the packages of the extra `serve` are."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.serving.arguments import add_arguments
from app.serving.limits import (
    PUSH_TOKEN,
    Serving,
    check_address,
    check_port,
    check_push,
    hosts_of,
    read_key,
)
from core.errors import InvalidInput, StudioError

NAME = "serve-model"
HELP = "serve graphs of bundles over HTTP, without torch"

_LONGEST_END_SECONDS = 15
"""Requests that are not answered by then are cut: a sender who stops must not hold up the end."""


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
        ArtifactDamaged: A bundle is not what was written.
    """
    serving = serving_of(options)
    try:
        import uvicorn

        from app.serving.server import CANNOT_START, log_as, make_application
        from app.slow_requests import PunctualProtocol
    except ImportError as error:
        raise InvalidInput(
            f"The server needs the package {error.name}, which is not installed.",
            "pip install 'intent-studio[serve]'",
        ) from error
    # No line of the access log: an address may hold a token, and a body holds texts.
    how: dict[str, Any] = {"host": options.host, "port": options.port, "access_log": False}
    usual = None if serving.log else _log_config(uvicorn.config.LOGGING_CONFIG)
    how |= {"log_level": "warning", "log_config": usual}
    how |= {"http": PunctualProtocol, "timeout_graceful_shutdown": _LONGEST_END_SECONDS}
    log_as(serving.log)
    if options.workers > 1:
        _serve_by_processes(serving, options, how)
        return
    server = _one_process(uvicorn.Config(make_application(serving), **how), options)
    with suppress(KeyboardInterrupt):  # Ctrl-C is the usual end
        server.run()
    if not server.started:  # uvicorn has said why
        sys.exit(CANNOT_START)


def _serve_by_processes(
    serving: Serving, options: argparse.Namespace, how: Mapping[str, Any]
) -> None:
    """Let several processes answer, each of which opens the bundles by itself.

    Raises:
        InvalidInput: A bundle cannot be served, or a process could not start.
        ArtifactDamaged: A bundle is not what was written.
    """
    import uvicorn

    from app.serving.lifetime import opened_shadow
    from app.serving.models import opened_models
    from app.serving.server import CANNOT_START, SETTINGS

    # Told once, before a process is started that could not open a bundle either.
    opened_models(serving, opened_shadow(serving), None)
    os.environ[SETTINGS] = json.dumps(serving.values)
    target = "app.serving.server:application"
    config = uvicorn.Config(target, factory=True, workers=options.workers, **how)
    server = _processes(config)
    _say_where(options, server.sockets[0])
    server.run()
    if any(one.process.exitcode == CANNOT_START for one in server.processes):
        raise InvalidInput("A process of the server could not start.", "It said why above.")


def _processes(config: Any) -> Any:
    """Return uvicorn's processes, which take no connection any more once they are to end."""
    from uvicorn.supervisors import Multiprocess

    class Processes(Multiprocess):
        def terminate_all(self) -> None:
            for one in self.sockets:  # this process holds it, too, and answers nobody
                one.close()
            super().terminate_all()

    return Processes(config, sockets=[config.bind_socket()])


def _one_process(config: Any, options: argparse.Namespace) -> Any:
    """Return uvicorn's server, which says where it listens once it does."""
    import uvicorn

    class SayingWhere(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:  # some versions of uvicorn return where nothing could be started
                _say_where(options, self.servers[0].sockets[0])

    return SayingWhere(config)


def _say_where(options: argparse.Namespace, listener: Any) -> None:
    """Print the address; where the port is 0, the system has chosen that of the socket."""
    files, port = ", ".join(map(str, (options.bundle, *options.others))), listener.getsockname()[1]
    sys.stderr.write(f"Serving {files} at http://{options.host}:{port}\n")
    sys.stderr.flush()


def serving_of(options: argparse.Namespace) -> Serving:
    """Read the settings of a server from its command line.

    Raises:
        InvalidInput: A number cannot be used, or other machines are served without a key.
    """
    check_port(options.port)
    for name in ("workers", "most_waiting", "most_texts"):
        if getattr(options, name) < 1:
            raise InvalidInput(f"--{name.replace('_', '-')} must be 1 or more.")
    (name, first), others = _bundles(options)
    _check_shadow(options)
    if options.log_texts and not options.log:
        raise InvalidInput("Texts stand in a log.", "Add --log json or --log text.")
    push_token = _push_token(options)
    key = read_key(options.api_key_file)
    check_address(options.host, key, without_key=options.no_key)
    return Serving(
        bundle=first,
        name=name or options.name,
        threads=_threads(options.workers),
        most_waiting=options.most_waiting,
        most_texts=options.most_texts,
        key=key,
        shadow=str(options.shadow.absolute()) if options.shadow else "",
        shadow_file=str(options.shadow_file.absolute()) if options.shadow_file else "",
        shadow_texts=options.shadow_texts,
        others=others,
        push_to=options.push_to,
        push_token=push_token,
        push_project=options.push_project,
        push_source=options.push_source,
        log=options.log or "",
        log_texts=options.log_texts,
        hosts=hosts_of(options.host, key, without_key=options.no_key),
        device=options.device,
    )


def _bundles(options: argparse.Namespace) -> tuple[tuple[str, str], dict[str, str]]:
    """Return name and file of the first bundle, and the names of the others by their files."""
    first, *others = (_named(one) for one in (options.bundle, *options.others))
    found = {file: name for name, file in others}
    if len(found) < len(others):
        raise InvalidInput("A bundle is named twice.", "Name each once.")
    return first, found


def _check_shadow(options: argparse.Namespace) -> None:
    if options.shadow is not None:
        _require(options.shadow)
    kept, told = options.shadow_file is not None, options.shadow_texts
    if (kept and options.shadow is None) or (told and not kept):
        raise InvalidInput(
            "Differing answers are kept of a shadow model, and texts in their file.",
            "Write --shadow BUNDLE --shadow-file FILE --shadow-texts.",
        )


def _threads(workers: int) -> int:
    """Return how many threads compute for a model; 0 for one a processor."""
    if workers == 1:
        return 0
    from core.runtime.engine import available

    return max(1, available() // workers)  # each process has its share


def _push_token(options: argparse.Namespace) -> str:
    """Check where texts are pushed to; return the token of that studio."""
    if options.push_to:
        check_push(options.push_to, options.push_source)
        token = read_key(options.push_token_file, PUSH_TOKEN)
        if "\n" in token:
            raise InvalidInput("The studio's token has several lines.", "Write it on one.")
        return token
    if options.push_token_file or options.push_project:
        raise InvalidInput("No studio is named that gets the texts.", "Add --push-to URL.")
    return ""


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
