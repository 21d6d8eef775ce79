"""The command line: read arguments, call one service, map errors to exit codes.

Exit codes: 0 done, 2 wrong input (message and hint on standard error), 1 unexpected error. Heavy
modules are imported only by the command that needs them, so `--help` answers at once.
"""

import argparse
import logging
import os
import sys
import traceback
import uuid
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from core.errors import StudioError

_FORMATS = ("auto", "csv", "tsv", "jsonl", "text", "rasa")
_OPTIONS: dict[str, dict[str, Any]] = {
    "project": {},
    "file": {"type": Path},
    "model": {"metavar": "MODEL"},
    "--json": {"action": "store_true", "help": "print one JSON object, nothing else"},
    "--dry-run": {"action": "store_true", "help": "report, and write nothing"},
    "--train": {"type": Path, "required": True},
    "--test": {"type": Path, "required": True},
    "--recipe": {"default": "convfit"},
    "--base": {"default": "bundled"},
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "dest": "settings",
        "help": "a setting of the recipe; `intent-studio recipes NAME` lists them",
    },
    "--seed": {"type": int, "default": 0},
    "--seeds": {"default": "0,1,2", "help": "comma-separated"},
}
"""Options that several commands share."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # OpenBLAS threads spin for about 25 ms after their work and slow down torch's threads:
    # embedding and scoring a text takes 24 ms with this setting, 83 ms without it (two cores).
    # OpenBLAS reads it once, when NumPy is imported; processes of jobs inherit it.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    os.umask(0o077)  # texts are what customers said: nobody else on this machine reads the files
    options = build_parser().parse_args(arguments)
    try:
        command = import_module(f"app.terminal.{options.room}")
        getattr(command, options.verb)(options)
    except StudioError as error:
        _say(error.message)
        if error.hint:
            _say(f"  {error.hint}")
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        _say("Stopped.")
        return 130
    except Exception:
        incident = uuid.uuid4().hex[:8]
        logging.getLogger("app.cli").debug("incident %s", incident, exc_info=True)
        _say(f"Something broke (incident {incident}). Please report what follows.")
        traceback.print_exc()
        return 1
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of every command; each names its function under `app.terminal`."""
    parser = argparse.ArgumentParser(
        prog="intent-studio",
        description="Label a few utterances, tune a sentence encoder, see which examples decide.",
    )
    parser.add_argument("--home", type=Path, help="folder of the studio (default ~/.intent-studio)")
    parser.add_argument("--database-url", help="SQLAlchemy URL of another database")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _data_commands,
        _slot_commands,
        _dialogue_commands,
        _training_commands,
        _model_commands,
        _bundle_commands,
        _bench_commands,
        _upkeep_commands,
    ):
        add(commands)
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(
    commands: _Commands, name: str, help_text: str, target: str, *options: str
) -> argparse.ArgumentParser:
    """Add one command with shared options; `target` is `module.function` under `app.terminal`.

    `--home` is accepted before and after the command's name.
    """
    room, verb = target.split(".")
    command = commands.add_parser(name, help=help_text, description=help_text)
    command.add_argument("--home", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    command.add_argument("--database-url", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    command.set_defaults(room=room, verb=verb)
    _add(command, *options)
    return command


def _add(command: argparse.ArgumentParser, *options: str, **changes: Any) -> None:
    for option in options:
        command.add_argument(option, **{**_OPTIONS[option], **changes})


def _data_commands(commands: _Commands) -> None:
    _command(commands, "projects", "list the projects", "data.projects_", "--json")
    new = _command(commands, "new", "create an empty project", "data.new")
    new.add_argument("name")
    new.add_argument(
        "--multi-label", action="store_true", help="an utterance may have many intents"
    )
    sample = _command(commands, "sample", "create the sample project", "data.sample")
    sample.add_argument("name")
    load = _command(
        commands, "import", "import utterances, all or nothing", "data.import_", "project", "file"
    )
    load.add_argument("--format", default="auto", choices=(*_FORMATS, "xlsx", "parquet"))
    load.add_argument(
        "--split", choices=("train", "test", "pool"), help="split of rows without one"
    )
    load.add_argument("--text-column", help="column that holds the text")
    load.add_argument("--intent-column", help="column that holds the intent")
    load.add_argument("--sheet", help="sheet of an Excel workbook (default: the first with rows)")
    _import_choices(load)
    load.add_argument("--separator", help="what parts several intents in one cell")
    load.add_argument("--encoding", help="such as cp1251, where it cannot be found out")
    _add(load, "--dry-run", "--json")
    export = _command(
        commands, "export", "export utterances and labels", "data.export", "project", "file"
    )
    export.add_argument("--format", default="auto", choices=(*_FORMATS, "spreadsheet"))
    export.add_argument("--version", help="dataset version, such as 3 (default: as it is now)")
    versions = _command(
        commands, "versions", "list dataset and model versions", "data.versions", "project"
    )
    versions.add_argument(
        "--shapes",
        action="store_true",
        help="measure uniformity and alignment, a second or so each",
    )
    _add(versions, "--json")


def _import_choices(load: argparse.ArgumentParser) -> None:
    for name, choices, help_text in (
        ("--conflicts", ("mine", "file"), "whose label a text keeps that has another one here"),
        ("--across", ("skip", "add"), "texts of the test set for another split, or the reverse"),
        ("--repeats", ("first", "last", "unlabelled"), "a text that the file labels differently"),
    ):
        load.add_argument(name, choices=choices, default=choices[0], help=help_text)
    load.add_argument("--treat", action="append", default=[], metavar="LABEL=MEANING")


def _slot_commands(commands: _Commands) -> None:
    book = _command(commands, "slots", "show the slots of a project", "slots.book", "project")
    book.add_argument("--text", default="", help="only values with this in them")
    book.add_argument("--most", type=int, help="values of each slot")
    _add(book, "--json")
    more = _command(
        commands, "augment", "add synthetic utterances from templates", "slots.augment", "project"
    )
    more.add_argument("--top", type=int, default=5, help="most frequent values (default 5)")
    more.add_argument(
        "--per-template", type=int, default=3, help="new ones of each utterance (default 3)"
    )
    more.add_argument("--most", type=int, default=1_000, help="new ones in all (default 1,000)")
    more.add_argument("--preview", action="store_true", help="show, and write nothing")
    _add(more, "--json")


def _dialogue_commands(commands: _Commands) -> None:
    dialogues = commands.add_parser("dialogues", help="import, list or remove conversation logs")
    verbs = dialogues.add_subparsers(required=True, metavar="VERB")
    load = _command(
        verbs, "import", "import a log, all or nothing", "conversations.import_", "project"
    )
    _add(load, "file", help="JSONL, or CSV of turns; perhaps with .gz")
    load.add_argument("--mask", action="store_true", help="put personal data behind words")
    load.add_argument(
        "--pool",
        type=int,
        default=5_000,
        metavar="N",
        help="user turns that become utterances of the pool at most (default 5,000)",
    )
    _add(load, "--dry-run", "--json")
    _command(
        verbs, "list", "list the logs of a project", "conversations.list_", "project", "--json"
    )
    remove = _command(verbs, "remove", "delete a log", "conversations.remove", "project")
    remove.add_argument("log", type=int, metavar="LOG", help="its number in the list")


def _training_commands(commands: _Commands) -> None:
    recipes = _command(commands, "recipes", "list recipes and their settings", "recipes.recipes")
    recipes.add_argument(
        "name", nargs="?", metavar="NAME", help="recipe whose settings are printed"
    )
    _add(recipes, "--json")
    train = _command(
        commands, "train", "train a model version in the background", "versions.train", "project"
    )
    models, encoders = _recipes("makes", "model"), _recipes("makes", "encoder")
    _add(train, "--recipe", help=f"{', '.join(models)} (default); {', '.join(encoders)}")
    _add(train, "--set")
    _add(train, "--base", help="bundled, a folder, a hub id or PROJECT@N")
    train.add_argument(
        "--detach", action="store_true", help="return at once, do not follow the job"
    )
    _add(train, "--json")


def _model_commands(commands: _Commands) -> None:
    evaluate = _command(
        commands, "evaluate", "measure a model on a labelled file", "versions.evaluate", "model"
    )
    _add(evaluate, "file", nargs="?", help="labelled texts (default: as it was judged in training)")
    _add(evaluate, "--json")
    predict = _command(commands, "predict", "predict intents of texts", "versions.predict")
    _add(predict, "model", metavar="MODEL_OR_BUNDLE")
    predict.add_argument("texts", nargs="*", metavar="TEXT")
    predict.add_argument("--file", type=Path, help="predict every utterance of a file")
    _add(predict, "--json")
    explain = _command(commands, "explain", "show why a text gets its intent", "explaining.explain")
    _add(explain, "model", metavar="MODEL_OR_BUNDLE")
    explain.add_argument("text", metavar="TEXT")
    explain.add_argument("--against", metavar="INTENT", help="why not this one (default: the next)")
    explain.add_argument("--html", type=Path, metavar="OUT", help="write the evidence as one page")
    explain.add_argument("--pdf", type=Path, metavar="OUT", help="write it as a PDF")
    _add(explain, "--json")
    review = _command(
        commands, "review", "list what hurts a model most", "review.review", "project"
    )
    review.add_argument("--kind", help="conflict, label, greedy, confusion, thin, next, ...")
    review.add_argument("--most", type=int, default=20, help="findings that are shown (default 20)")
    _add(review, "--json")
    promote = _command(commands, "promote", "make a model version the champion", "versions.promote")
    _add(promote, "model", metavar="PROJECT@N")


def _recipes(fact: str, value: str) -> list[str]:
    """Return the names of recipes whose attribute `fact` is `value`; the default is last."""
    from core.recipes.read import RECIPES

    names = [name for name, recipe in RECIPES.items() if getattr(recipe, fact) == value]
    return sorted(names, key=lambda name: name == _OPTIONS["--recipe"]["default"])


def _bundle_commands(commands: _Commands) -> None:
    bundle = commands.add_parser("bundle", help="export, verify or import a model bundle")
    verbs = bundle.add_subparsers(required=True, metavar="VERB")
    export = _command(
        verbs, "export", "write a model version as one zip", "bundles.export", "model"
    )
    export.add_argument("out", type=Path, metavar="OUT.zip")
    _command(verbs, "verify", "check every promise of a bundle", "bundles.verify", "file", "--json")
    load = _command(verbs, "import", "add a bundle as a model version", "bundles.import_", "file")
    load.add_argument("--project", help="name of the project (default: the bundle's own)")


def _bench_commands(commands: _Commands) -> None:
    bench = commands.add_parser("bench", help="measure accuracy, time and memory")
    verbs = bench.add_subparsers(required=True, metavar="BENCH")
    for add in (_model_benches, _ranking_bench, _names_bench, _templates_bench, _measuring_benches):
        add(verbs)


def _model_benches(verbs: _Commands) -> None:
    shot = _command(
        verbs,
        "few-shot",
        "train on one file, judge on another",
        "benchmarks.few_shot",
        "--train",
        "--test",
    )
    *models, usual = _recipes("makes", "model")
    _add(shot, "--recipe", help=f"{', '.join(models)} or {usual}")
    _add(shot, "--base", "--seeds", "--set", "--json")
    many = _command(
        verbs,
        "multi-label",
        "train on folds of a folder, judge on the others",
        "benchmarks.multi_label",
    )
    many.add_argument("--folds", type=Path, required=True, metavar="DIR")
    many.add_argument("--train-folds", type=int, default=1, help="folds to train on (default 1)")
    many.add_argument("--only", help="numbers of the runs, comma-separated (default: all)")
    _add(many, "--recipe", "--base", "--set", "--json")


def _ranking_bench(verbs: _Commands) -> None:
    replies = _command(
        verbs,
        "response-selection",
        "train on one log of conversations, find the right one of 100 replies in another",
        "benchmarks.response_selection",
        "--train",
        "--test",
    )
    _add(replies, "--recipe", default="dialogues", choices=_recipes("learns_from", "conversations"))
    _add(replies, "--base")
    replies.add_argument("--contexts", type=int, default=0, help="earlier turns that are read, too")
    replies.add_argument("--save", type=Path, help="folder for the encoder")
    _add(replies, "--set", "--json")


def _names_bench(verbs: _Commands) -> None:
    names = _command(
        verbs,
        "label-encoder",
        "train encoders of utterances and intent names, together or apart",
        "benchmarks.label_encoder",
        "--train",
        "--test",
    )
    names.add_argument(
        "--variants", default="siamese,non-siamese,heterogeneous", help="comma-separated"
    )
    _add(names, "--seeds")
    names.add_argument("--per-intent", type=int, help="train on so many of each (default: all)")
    names.add_argument("--shots", type=int, default=10, help="examples beside names (default 10)")
    _add(names, "--base", "--set", "--json")


def _templates_bench(verbs: _Commands) -> None:
    slots = _command(
        verbs,
        "templates",
        "learn from marked slots alone, judge by neighbours",
        "benchmarks.templates",
    )
    _add(slots, "--train", "--test", help="JSONL with slots and intents")
    _add(slots, "--base", "--seeds", "--set", "--json")


def _measuring_benches(verbs: _Commands) -> None:
    """Add the benchmarks of explanations, the review list and the fence."""
    errors = _command(
        verbs, "label-errors", "plant label errors and look for them", "benchmarks.label_errors"
    )
    errors.add_argument("--flip", type=float, default=0.05, help="share planted (default 0.05)")
    _add(errors, "--train", "--base", "--json", "--seed")
    scope = _command(
        verbs, "out-of-scope", "tell texts in scope from others", "benchmarks.out_of_scope"
    )
    _add(scope, "--test", help="labelled texts to judge")
    scope.add_argument("--oos-val", type=Path, required=True, help="out of scope, sets the limit")
    scope.add_argument("--oos-test", type=Path, required=True, help="out of scope, to judge")
    _add(scope, "--recipe", "--set", "--train", "--base", "--json", "--seed")
    explain = _command(
        verbs, "explain", "time explanations, and check them by fitting again", "benchmarks.explain"
    )
    _add(explain, "--train", "--base", "--json")


def _upkeep_commands(commands: _Commands) -> None:
    jobs = _command(commands, "jobs", "list the jobs", "upkeep.jobs")
    jobs.add_argument("--watch", action="store_true", help="follow until all have ended")
    _add(jobs, "--json")
    for verb, words in (("cancel", "stop a job"), ("resume", "let a cancelled job go on")):
        command = _command(commands, verb, words, f"upkeep.{verb}")
        command.add_argument("job", metavar="JOB")
    backup = _command(commands, "backup", "copy everything into one file", "upkeep.backup")
    backup.add_argument("out", type=Path, metavar="OUT")
    _command(commands, "restore", "bring a backup into an empty home", "upkeep.restore", "file")
    _command(commands, "doctor", "look for anything out of order", "upkeep.doctor", "--json")
    serve = _command(commands, "serve", "open the studio in the browser", "serve.serve")
    serve.add_argument("--host", default="127.0.0.1", help="address (default 127.0.0.1)")
    serve.add_argument("--port", type=int, help="default: the first free one from 7860 on")
    serve.add_argument("--no-browser", action="store_true", help="do not open a browser")
    serve.add_argument("--no-token", action="store_true", help="let every local program in")
    serve.add_argument("--sample", action="store_true", help="begin with the sample project")
    _command(commands, "demo", "walk through the sample project", "demo.walk")


if __name__ == "__main__":
    sys.exit(main())
