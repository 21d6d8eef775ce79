"""The arguments of the benchmarks."""

import argparse
from pathlib import Path

from app.terminal.arguments.shared import Commands, add_command, add_options, recipe_names


def add_benchmarks(commands: Commands) -> None:
    """Add `bench` and its verbs."""
    bench = commands.add_parser("bench", help="measure accuracy, time and memory")
    verbs = bench.add_subparsers(required=True, metavar="BENCH")
    for add in (
        _model_benches,
        _ranking_bench,
        _names_bench,
        _templates_bench,
        _measuring_benches,
        _discover_bench,
        _serving_bench,
    ):
        add(verbs)


def _model_benches(verbs: Commands) -> None:
    shot = add_command(
        verbs,
        "few-shot",
        "train on one file, judge on another",
        "benchmarks.few_shot",
        "--train",
        "--test",
    )
    *models, usual = recipe_names("makes", "model")
    add_options(shot, "--recipe", help=f"{', '.join(models)} or {usual}")
    _pool_options(shot)
    shot.add_argument(
        "--device", default="cpu", help="where tuning computes: auto, cpu, cuda or cuda:N"
    )
    add_options(shot, "--base", "--seeds", "--set", "--json")
    many = add_command(
        verbs,
        "multi-label",
        "train on folds of a folder, judge on the others",
        "benchmarks.multi_label",
    )
    many.add_argument("--folds", type=Path, required=True, metavar="DIR")
    many.add_argument("--train-folds", type=int, default=1, help="folds to train on (default 1)")
    many.add_argument("--only", help="numbers of the runs, comma-separated (default: all)")
    add_options(many, "--recipe", "--base", "--set", "--json")


def _pool_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--pool",
        type=Path,
        metavar="FILE",
        help="texts to learn from without their labels, which only judge the result",
    )
    command.add_argument(
        "--pool-oos",
        metavar="FILE|SHARE|FILE:SHARE",
        help="texts out of scope to put into the pool: all of FILE, or a share of the pool; "
        "without FILE: the pool's own texts whose intents are not in the training file",
    )


def _ranking_bench(verbs: Commands) -> None:
    replies = add_command(
        verbs,
        "response-selection",
        "train on one log of conversations, find the right one of 100 replies in another",
        "benchmarks.response_selection",
        "--train",
        "--test",
    )
    add_options(
        replies,
        "--recipe",
        default="dialogues",
        choices=recipe_names("learns_from", "conversations"),
        help="recipe to train by (default: dialogues)",
    )
    add_options(replies, "--base")
    replies.add_argument("--contexts", type=int, default=0, help="earlier turns that are read, too")
    replies.add_argument("--save", type=Path, help="folder for the encoder")
    add_options(replies, "--set", "--json")


def _names_bench(verbs: Commands) -> None:
    names = add_command(
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
    add_options(names, "--seeds")
    names.add_argument("--per-intent", type=int, help="train on so many of each (default: all)")
    names.add_argument("--shots", type=int, default=10, help="examples beside names (default 10)")
    add_options(names, "--base", "--set", "--json")


def _templates_bench(verbs: Commands) -> None:
    slots = add_command(
        verbs,
        "templates",
        "learn from marked slots alone, judge by neighbours",
        "benchmarks.templates",
    )
    add_options(slots, "--train", "--test", help="JSONL with slots and intents")
    add_options(slots, "--base", "--seeds", "--set", "--json")


def _measuring_benches(verbs: Commands) -> None:
    """Add the benchmarks of explanations, traffic, the review list and the fence."""
    errors = add_command(
        verbs, "label-errors", "plant label errors and look for them", "benchmarks.label_errors"
    )
    errors.add_argument("--flip", type=float, default=0.05, help="share planted (default 0.05)")
    add_options(errors, "--train", "--base", "--json", "--seed")
    scope = add_command(
        verbs, "out-of-scope", "tell texts in scope from others", "benchmarks.out_of_scope"
    )
    add_options(scope, "--test", help="labelled texts to judge")
    scope.add_argument("--oos-val", type=Path, required=True, help="out of scope, sets the limit")
    scope.add_argument("--oos-test", type=Path, required=True, help="out of scope, to judge")
    _pool_options(scope)
    add_options(scope, "--recipe", "--set", "--train", "--base", "--json", "--seed")
    traffic = add_command(
        verbs, "traffic", "draw weeks of traffic, and judge what is told", "benchmarks.traffic"
    )
    traffic.add_argument("--texts", type=Path, required=True, help="labelled texts of the traffic")
    traffic.add_argument("--oos", type=Path, help="texts of the traffic that are out of scope")
    add_options(traffic, "--recipe", "--set", "--train", "--base", "--json", "--seed")
    explain = add_command(
        verbs, "explain", "time explanations, and check them by fitting again", "benchmarks.explain"
    )
    add_options(explain, "--train", "--base", "--json")


def _discover_bench(verbs: Commands) -> None:
    discover = add_command(
        verbs, "discover", "hide labels, and find them by groups", "benchmarks.discover"
    )
    discover.add_argument("--texts", type=Path, required=True, help="labelled texts to hide")
    discover.add_argument("--known", type=float, default=0.0, help="share not hidden (default 0)")
    discover.add_argument(
        "--decisions", type=int, default=400, help="that the designer makes (default 400)"
    )
    instead = discover.add_mutually_exclusive_group()
    instead.add_argument(
        "--hide",
        type=int,
        metavar="N",
        help="instead: hide N intents among the others, which have labels, and look for them",
    )
    instead.add_argument(
        "--many",
        type=int,
        metavar="N",
        help="instead: group N texts, the file's repeated with noise, and add 5 %% more",
    )
    discover.add_argument("--labels", type=int, default=10, help="of each intent (default 10)")
    discover.add_argument(
        "--grouped", type=int, default=50_000, help="texts to group, repeated in other words"
    )
    add_options(discover, "--recipe", help="with --hide: what trains on the labels that are there")
    add_options(discover, "--set", "--base", "--json", "--seed")


def _serving_bench(verbs: Commands) -> None:
    served = add_command(
        verbs,
        "serving",
        "serve a bundle's graph, time it, and compare it with the bundle",
        "benchmarks.serving",
        "file",
        "--test",
    )
    served.add_argument("--precision", choices=("float32", "int8"), default="int8")
    served.add_argument(
        "--load",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="also find the capacity, ask at 80 %% of it for so long, and then at twice of it",
    )
    add_options(served, "--json")
