"""The command that opens the studio in the browser."""

import argparse

from app.services.data.projects import create_sample_once
from app.services.studio import Studio
from app.services.training import runs
from app.terminal.output import opened, tell

_SAMPLE = "sample"


def serve(options: argparse.Namespace) -> None:
    """Serve the studio until Ctrl-C."""
    with opened(options) as studio:
        if options.sample:
            _begin_with_sample(studio)
        from app.server import Doorway  # importing Gradio takes seconds, while the job runs
        from app.server import serve as listen

        door = Doorway(
            host=options.host,
            port=options.port,
            token=not options.no_token,
            browser=not options.no_browser,
        )
        listen(studio, door)


def _begin_with_sample(studio: Studio) -> None:
    """The first time, import the sample and train a model of it that is ready in seconds."""
    if create_sample_once(studio, _SAMPLE):
        tell("Creating the sample project ...")
        runs.start_training(studio, runs.TrainingRequest(_SAMPLE, "instant", {}))
