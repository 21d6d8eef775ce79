"""A walk through the whole studio on the sample project, in the terminal."""

import argparse
import shutil
from pathlib import Path

from app.services.data import projects
from app.services.training import runs
from app.terminal.explaining import show_explanation
from app.terminal.output import opened, say
from app.terminal.versions import follow, say_metrics
from core.text import counted, size_words

_PROJECT = "sample"
_QUESTIONS = (
    "wifi keeps dropping in the bedroom but its fine next to the router",
    "why am i paying more than last month??",
    "can you recommend a good pasta recipe",
)


def walk(options: argparse.Namespace) -> None:
    """Import, train, evaluate, explain three utterances, export and verify a bundle."""
    from app.services.explaining.explain import explain_reference
    from app.services.versions.bundles import export_model
    from core.bundle.archive import verify_bundle

    home = (options.home or Path(".studio/demo")).absolute()
    _clear(home)
    options.home = home
    with opened(options, makes=True) as studio:
        say("1. Import the sample project")
        for report in projects.create_sample(studio, _PROJECT):
            say(f"   added {counted(report.added, 'utterance')}, {report.labelled:,} labelled")
        say("2. Train: tune the encoder on the labels (ConvFiT Stage 2)")
        request = runs.TrainingRequest(_PROJECT, "convfit", {})
        ended = follow(studio, runs.start_training(studio, request))
        if ended is None or ended.result is None:
            return
        say("3. Evaluate on the test set")
        say_metrics(str(ended.result["model"]), ended.result["metrics"])
        say("4. Explain three utterances")
        for question in _QUESTIONS:
            say(f"\n   “{question}”")
            show_explanation(explain_reference(studio, _PROJECT, question))
        say("5. Export a bundle and verify it")
        out = home / "sample.zip"
        export_model(studio, _PROJECT, out)
        manifest = verify_bundle(out)
        size = size_words(out.stat().st_size)
        say(f"   {out}: {size}, {counted(len(manifest.files), 'file')}, sound")
    say(f"\nThe studio of this walk is {home}. Look around:")
    say(f'   .venv/bin/intent-studio --home {home} explain {_PROJECT} "your text"')


def _clear(home: Path) -> None:
    """Empty the home, but only if an earlier walk made it."""
    marker = home / ".demo"
    if marker.exists():
        shutil.rmtree(home)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "studio.db").exists():
        marker.touch()
