"""The arguments of the commands about bundles."""

import argparse
from pathlib import Path

from app.terminal.arguments.shared import Commands, add_command, add_options


def add_bundles(commands: Commands) -> None:
    """Add the commands that export, verify, sign and import bundles."""
    bundle = commands.add_parser("bundle", help="export, verify, sign or import a model bundle")
    verbs = bundle.add_subparsers(required=True, metavar="VERB")
    export = add_command(
        verbs, "export", "write a model version as one zip", "bundles.export", "model"
    )
    export.add_argument("out", type=Path, metavar="OUT.zip")
    export.add_argument("--sign", type=Path, metavar="KEY", help="sign it by a private key")
    export.add_argument(
        "--without-texts", action="store_true", help="ids and hashes instead of examples' texts"
    )
    _graphs(export)
    add_options(export, "--json")
    verify = add_command(
        verbs, "verify", "check every promise of a bundle", "bundles.verify", "file"
    )
    verify.add_argument(
        "--key", type=Path, metavar="KEY.pub", help="the public key that must have signed it"
    )
    add_options(verify, "--json")
    keygen = add_command(verbs, "keygen", "make a pair of keys to sign bundles", "bundles.keygen")
    keygen.add_argument("out", type=Path, metavar="KEY", help="private key; the public is KEY.pub")
    add_options(keygen, "--json")
    load = add_command(
        verbs, "import", "add a bundle as a model version", "bundles.import_", "file"
    )
    load.add_argument("--project", help="name of the project (default: the bundle's own)")
    add_options(load, "--json")


def _graphs(export: argparse.ArgumentParser) -> None:
    export.add_argument(
        "--runtime",
        choices=("torch", "onnx"),
        default="torch",
        help="onnx: one graph for a server without torch (default: torch)",
    )
    export.add_argument(
        "--precision",
        choices=("float32", "int8"),
        default="float32",
        help="of a graph: int8 is smaller and quicker (default: float32)",
    )
    export.add_argument(
        "--any-loss", action="store_true", help="in int8 even if it loses more than 0.3 points"
    )
