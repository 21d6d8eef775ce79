"""The arguments of every command but the benchmarks."""

from pathlib import Path
from typing import get_args

from app.terminal.arguments.bundles import add_bundles
from app.terminal.arguments.exporting import add_export
from app.terminal.arguments.importing import add_import
from app.terminal.arguments.serving import add_serving
from app.terminal.arguments.shared import Commands, add_command, add_options, recipe_names
from core.formats.rows import AnswerFormat


def add_commands(commands: Commands) -> None:
    """Add the commands about projects and models."""
    for add in (_data, _slots, _dialogues, _training, _models, add_bundles):
        add(commands)


def _data(commands: Commands) -> None:
    add_command(commands, "projects", "list the projects", "data.projects_", "--json")
    new = add_command(commands, "new", "create an empty project", "data.new")
    new.add_argument("name")
    new.add_argument(
        "--multi-label", action="store_true", help="an utterance may have many intents"
    )
    add_options(new, "--json")
    sample = add_command(commands, "sample", "create the sample project", "data.sample")
    sample.add_argument("name")
    add_options(sample, "--json")
    add_import(commands)
    add_export(commands)
    _folder(commands)
    _project(commands)
    _past(commands)


def _folder(commands: Commands) -> None:
    sync = add_command(
        commands,
        "sync",
        "sync a project with a folder for git, both ways",
        "exchange.packages.sync",
        "project",
    )
    sync.add_argument("folder", type=Path, metavar="DIR", help="it is made where there is none")
    sync.add_argument(
        "--author",
        default="folder",
        metavar="NAME",
        help="whose the changes of lines are that git does not know (default: folder)",
    )
    add_options(sync, "--dry-run", "--json")
    driver = add_command(
        commands,
        "git-merge",
        "merge a file of such a folder, for git",
        "exchange.packages.git_merge",
    )
    for name in ("base", "ours", "theirs"):
        driver.add_argument(name, type=Path)
    driver.add_argument("path", help="its name in the repository")


def _project(commands: Commands) -> None:
    project = commands.add_parser("project", help="rename, delete or restore a project")
    verbs = project.add_subparsers(required=True, metavar="VERB")
    rename = add_command(verbs, "rename", "rename a project", "data.rename", "project")
    rename.add_argument("name", metavar="NEW", help="its new name")
    delete = add_command(verbs, "delete", "move a project aside", "data.delete", "project")
    restore = add_command(verbs, "restore", "bring a deleted project back", "data.restore")
    restore.add_argument(
        "key", type=int, nargs="?", metavar="KEY", help="that `delete` printed; none lists all"
    )
    for verb in (rename, delete, restore):
        add_options(verb, "--json")


def _past(commands: Commands) -> None:
    erase = add_command(
        commands, "erase", "erase texts for good, as a person may ask for", "data.erase", "project"
    )
    which = erase.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the texts, one a line, each as it was said; - for standard input",
    )
    which.add_argument(
        "--containing", metavar="WORDS", help="all texts that contain these words, listed first"
    )
    erase.add_argument(
        "--list", metavar="CODE", help="the code under the list of --containing that you have read"
    )
    erase.add_argument("--now", action="store_true", help="erase; otherwise count what it touches")
    add_options(erase, "--json")
    versions = add_command(
        commands, "versions", "list dataset and model versions", "data.versions", "project"
    )
    versions.add_argument(
        "--shapes",
        action="store_true",
        help="measure uniformity and alignment, a second or so each",
    )
    versions.add_argument("--delete", type=int, metavar="N", help="delete a model version")
    versions.add_argument(
        "--even-so", action="store_true", help="with --delete, against the reasons that are told"
    )
    add_options(versions, "--json")


def _slots(commands: Commands) -> None:
    book = add_command(commands, "slots", "show the slots of a project", "slots.book", "project")
    book.add_argument("--text", default="", help="only values with this in them")
    book.add_argument("--most", type=int, help="values of each slot")
    add_options(book, "--json")
    more = add_command(
        commands, "augment", "add synthetic utterances from templates", "slots.augment", "project"
    )
    more.add_argument("--top", type=int, default=5, help="most frequent values (default 5)")
    more.add_argument(
        "--per-template", type=int, default=3, help="new ones of each utterance (default 3)"
    )
    more.add_argument("--most", type=int, default=1_000, help="new ones in all (default 1,000)")
    more.add_argument("--preview", action="store_true", help="show, and write nothing")
    add_options(more, "--json")


def _dialogues(commands: Commands) -> None:
    dialogues = commands.add_parser("dialogues", help="import, list or remove conversation logs")
    verbs = dialogues.add_subparsers(required=True, metavar="VERB")
    load = add_command(
        verbs, "import", "import a log, all or nothing", "conversations.import_", "project"
    )
    add_options(load, "file", help="JSONL, or CSV of turns; perhaps with .gz")
    load.add_argument("--mask", action="store_true", help="put personal data behind words")
    load.add_argument(
        "--pool",
        type=int,
        default=5_000,
        metavar="N",
        help="user turns that become utterances of the pool at most (default 5,000)",
    )
    add_options(load, "--dry-run", "--json")
    add_command(
        verbs, "list", "list the logs of a project", "conversations.list_", "project", "--json"
    )
    remove = add_command(verbs, "remove", "delete a log", "conversations.remove", "project")
    remove.add_argument("log", type=int, metavar="LOG", help="its number in the list")
    add_options(remove, "--json")


def _training(commands: Commands) -> None:
    recipes = add_command(commands, "recipes", "list recipes and their settings", "recipes.recipes")
    recipes.add_argument(
        "name", nargs="?", metavar="NAME", help="recipe whose settings are printed"
    )
    add_options(recipes, "--json")
    train = add_command(
        commands, "train", "train a model version in the background", "versions.train", "project"
    )
    models, encoders = recipe_names("makes", "model"), recipe_names("makes", "encoder")
    add_options(train, "--recipe", help=f"{', '.join(models)} (default); {', '.join(encoders)}")
    add_options(train, "--set")
    bases = "bundled, a folder, a hub id or PROJECT@N (default: as the version in use)"
    add_options(train, "--base", default=None, help=bases)
    train.add_argument(
        "--detach", action="store_true", help="return at once, do not follow the job"
    )
    add_options(train, "--json")


_SPREADSHEET = (
    "spreadsheet is a CSV to look at: an apostrophe keeps Excel from computing a text that begins "
    "with =, +, - or @"
)
_ANSWERS = (
    "PROJECT: the model in use, with every label given up to now; PROJECT@champion: the same as it "
    "was trained; PROJECT@3: version 3 as it was trained; or the file of a bundle"
)


def _predicting(commands: Commands) -> None:
    predict = add_command(commands, "predict", "predict intents of texts", "versions.predict")
    add_options(predict, "model", metavar="MODEL_OR_BUNDLE", help=_ANSWERS)
    predict.add_argument("texts", nargs="*", metavar="TEXT")
    predict.add_argument("--file", type=Path, help="predict every utterance of a file")
    predict.add_argument(
        "--to", type=Path, help="write the answers to --file into this .csv or .jsonl, of any size"
    )
    predict.add_argument(
        "--format",
        choices=get_args(AnswerFormat),
        help=f"with --to (default: by the file's ending); {_SPREADSHEET}",
    )
    predict.add_argument(
        "--precision",
        choices=("float32", "bfloat16", "int8"),
        help="with --to, where the processor has it: bfloat16 reads about three times as fast and "
        "changes one answer in a thousand, int8 twice as fast and changes one in a hundred; "
        "a bundle made with --runtime onnx has its own",
    )
    add_options(predict, "--json")


def _models(commands: Commands) -> None:
    evaluate = add_command(
        commands, "evaluate", "measure a model on a labelled file", "versions.evaluate", "model"
    )
    add_options(
        evaluate, "file", nargs="?", help="labelled texts (default: as it was judged in training)"
    )
    add_options(evaluate, "--json")
    _predicting(commands)
    explain = add_command(
        commands, "explain", "show why a text gets its intent", "explaining.explain"
    )
    add_options(explain, "model", metavar="MODEL_OR_BUNDLE", help=_ANSWERS)
    explain.add_argument("text", metavar="TEXT")
    explain.add_argument("--against", metavar="INTENT", help="why not this one (default: the next)")
    explain.add_argument("--html", type=Path, metavar="OUT", help="write the evidence as one page")
    explain.add_argument("--pdf", type=Path, metavar="OUT", help="write it as a PDF")
    add_options(explain, "--json")
    review = add_command(
        commands, "review", "list what hurts a model most", "review.review", "project"
    )
    review.add_argument("--kind", help="conflict, label, greedy, confusion, thin, next, ...")
    review.add_argument("--most", type=int, default=20, help="findings that are shown (default 20)")
    add_options(review, "--json")
    _discover(commands)
    _check(commands)
    promote = add_command(
        commands, "promote", "make a model version the champion", "versions.promote"
    )
    add_options(promote, "model", metavar="PROJECT@N", help="such as support@3: version 3")
    add_options(promote, "--json")


def _check(commands: Commands) -> None:
    check = add_command(
        commands,
        "check",
        "judge a model for a pipeline: exit code 0 if it passes, 3 if it does not",
        "versions.check",
    )
    check.add_argument(
        "model",
        metavar="BUNDLE_OR_PROJECT",
        help="the file of a bundle; PROJECT: its champion; or PROJECT@3: version 3",
    )
    check.add_argument(
        "--against", metavar="CHAMPION", help="a bundle or version than which it may not be worse"
    )
    for option, name, example in (
        ("--min", "least", "accuracy=0.9 or recall:INTENT=0.8"),
        ("--max", "most", "latency_ms=20 or megabytes=120"),
    ):
        check.add_argument(
            option,
            dest=name,
            action="append",
            default=[],
            metavar="FIGURE=NUMBER",
            help=f"such as {example}; may be repeated",
        )
    check.add_argument(
        "--test", type=Path, metavar="FILE", help="labelled texts to judge by, for a bundle, say"
    )
    check.add_argument("--junit", type=Path, metavar="FILE", help="write the checks as JUnit XML")
    check.add_argument("--summary", type=Path, metavar="FILE.md", help="write them as Markdown")
    add_options(check, "--json")


def _discover(commands: Commands) -> None:
    found = add_command(
        commands, "discover", "group the texts without a label by meaning", "review.discover"
    )
    found.add_argument("--project", required=True, help="name of the project")
    found.add_argument(
        "--groups",
        type=int,
        metavar="N",
        help="number of groups (default: the root of the number of texts, beside labels twice it)",
    )
    found.add_argument(
        "--out", type=Path, metavar="FILE.csv", help="write each text with its group and closeness"
    )
    found.add_argument(
        "--format",
        choices=("csv", "spreadsheet"),
        help=f"with --out (default: csv, which --before reads); {_SPREADSHEET}",
    )
    found.add_argument(
        "--before",
        type=Path,
        metavar="FILE.csv",
        help="what --out wrote earlier: its groups keep their texts and names, new texts join",
    )
    found.add_argument(
        "--out-of-scope", action="store_true", help="also group the texts labelled out of scope"
    )
    add_options(found, "--json")


def add_upkeep(commands: Commands) -> None:
    """Add the commands about jobs, homes and the server."""
    jobs = add_command(commands, "jobs", "list the jobs, or print the log of one", "upkeep.jobs")
    jobs.add_argument(
        "verb_of_job", nargs="?", choices=("log",), metavar="log", help="print a job's output"
    )
    jobs.add_argument("job", nargs="?", metavar="JOB", help="its id, or how that begins")
    jobs.add_argument("--watch", action="store_true", help="follow until all have ended")
    add_options(jobs, "--json")
    for verb, words in (("cancel", "stop a job"), ("resume", "let a cancelled job go on")):
        command = add_command(commands, verb, words, f"upkeep.{verb}")
        command.add_argument("job", metavar="JOB", help="its id, or how that begins")
        add_options(command, "--json")
    _backups(commands)
    add_serving(commands)
    completion = add_command(
        commands,
        "completion",
        "print what a shell needs to complete commands",
        "upkeep.completion",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    add_command(commands, "demo", "walk through the sample project", "demo.walk")


def _backups(commands: Commands) -> None:
    backup = add_command(commands, "backup", "copy everything into one file", "upkeep.backup")
    backup.add_argument("out", type=Path, metavar="OUT")
    backup.add_argument(
        "--keep",
        type=int,
        metavar="N",
        help="OUT is a folder: write a dated file into it, and keep the newest N",
    )
    add_options(backup, "--json")
    add_command(
        commands, "restore", "bring a backup into an empty home", "upkeep.restore", "file", "--json"
    )
    doctor = add_command(
        commands, "doctor", "look for anything out of order", "upkeep.doctor", "--json"
    )
    doctor.add_argument(
        "--repair", action="store_true", help="mend what can be mended without loss"
    )
    doctor.add_argument(
        "--prune", action="store_true", help="count what is old and nothing needs any more"
    )
    doctor.add_argument("--now", action="store_true", help="with --prune, delete it")
