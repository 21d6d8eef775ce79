"""The commands that serve the studio, one model, and the tools for agents."""

import argparse
import gc
import time
from functools import partial

from app.addresses import Doorway, check_hosts, read_public, read_token
from app.security import check_binding
from app.services.data.projects import create_sample_once
from app.services.studio import Studio
from app.services.training import runs
from app.serving.limits import check_port
from app.terminal.output import opened, tell
from core.errors import InvalidInput
from storage import jobs

_SAMPLE = "sample"
_LONGEST_WAIT_SECONDS = 10.0


def serve(options: argparse.Namespace) -> None:
    """Serve the studio until Ctrl-C."""
    door = door_of(options)  # before anything is started that outlives a refusal
    # Importing the libraries makes millions of objects and no garbage: looking for some took an
    # eighth of a start, and stops all answers for 0.3 s whenever the whole heap is searched.
    gc.set_threshold(50_000, 20, 100)
    with opened(options, makes=True, standby=True) as studio:
        first_model = _begin_with_sample(studio) if options.sample else None
        from app.server import serve as listen  # importing Gradio takes seconds, while the job runs

        listen(studio, door, None if first_model is None else partial(_wait, studio, first_model))


def door_of(options: argparse.Namespace) -> Doorway:
    """Read where to listen, whom to let in and how people reach it.

    Raises:
        InvalidInput: Something of it cannot be used, or not together.
    """
    check_port(options.port)
    check_binding(options.host, token=not options.no_token)
    public = read_public(options.public_url, options.root_path)
    trusted = check_hosts(options.trusted_hosts)
    secret = read_token(options.token_file)
    if options.no_token and (secret or public.origin or trusted):
        raise InvalidInput(
            "--no-token lets everybody in who reaches the studio.",
            "Leave it out where other machines reach it, or where a token is set.",
        )
    if options.socket is not None and options.port is not None:
        raise InvalidInput("A server listens on a socket or on a port.", "Name one of both.")
    if options.socket_group and options.socket is None:
        raise InvalidInput("There is no socket for a group to open.", "Add --socket FILE.")
    return Doorway(
        host=options.host,
        port=options.port,
        token=not options.no_token,
        browser=not options.no_browser,
        secret=secret,
        socket=options.socket.absolute() if options.socket else None,
        group=options.socket_group,
        public=public,
        trusted=trusted,
    )


def serve_model(options: argparse.Namespace) -> None:
    """Serve one model; `intent_studio.py` comes here by a shorter way."""
    from app.serving.command import serve as serve_graph

    serve_graph(options)


def mcp(options: argparse.Namespace) -> None:
    """Speak with an agent over standard input and output, until it hangs up."""
    from app.agents.tools import build_server
    from app.services.live.live_studio import open_live_studio

    with opened(options) as studio:
        build_server(open_live_studio(studio), options.name).run("stdio")


def _begin_with_sample(studio: Studio) -> str | None:
    """The first time, import the sample and train a model of it; return the id of its job."""
    if not create_sample_once(studio, _SAMPLE):
        return None
    tell("Creating the sample project ...")
    return runs.start_training(studio, runs.TrainingRequest(_SAMPLE, "instant", {})).id


def _wait(studio: Studio, job_id: str) -> None:
    """Wait until the sample's model answers; a machine that is too slow opens without it."""
    until = time.monotonic() + _LONGEST_WAIT_SECONDS
    while time.monotonic() < until:
        with studio.database.read() as connection:
            if jobs.get(connection, job_id).ended:
                return
        time.sleep(0.05)
