"""The arguments of the command `serve-model`."""

import argparse
from pathlib import Path

from app.serving.limits import KEY, PUSH_TOKEN


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
        "--device", choices=("cpu", "cuda"), default="cpu", help="default cpu; cuda is a GPU"
    )
    command.add_argument(
        "--name", default="", help="name of the first in addresses (default: the project's)"
    )
    command.add_argument(
        "--api-key-file",
        type=Path,
        metavar="FILE",
        help=f"the key that clients must send; each line is one (default: the variable {KEY})",
    )
    command.add_argument("--no-key", action="store_true", help="serve other machines without one")
    _load(command)
    _shadow(command)
    _pushing(command)
    command.add_argument(
        "--log", choices=("text", "json"), help="log a line for each request, without its texts"
    )
    command.add_argument(
        "--log-texts", action="store_true", help="log texts and their answers, too"
    )


def _pushing(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--push-to", default="", metavar="URL", help="a studio whose traffic gets the texts, masked"
    )
    command.add_argument(
        "--push-token-file",
        type=Path,
        metavar="FILE",
        help=f"its token (default: the variable {PUSH_TOKEN})",
    )
    command.add_argument(
        "--push-project", default="", metavar="NAME", help="default: that of each bundle"
    )
    command.add_argument(
        "--push-source",
        default="model server",
        metavar="NAME",
        help="what it shows as their channel (default: model server)",
    )


def _load(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--most-waiting",
        type=int,
        default=512,
        help="texts that may wait for a model (default 512)",
    )
    command.add_argument(
        "--most-texts", type=int, default=256, help="texts of one request (default 256)"
    )


def _shadow(command: argparse.ArgumentParser) -> None:
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
