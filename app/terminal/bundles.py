"""Commands about bundles."""

import argparse

from app.services.versions import bundles
from app.terminal.output import opened, print_json, report, say
from core.bundle.archive import verify_bundle


def export(options: argparse.Namespace) -> None:
    """Write a model version as one zip."""
    with opened(options) as studio:
        manifest = bundles.export_model(studio, options.model, options.out)
    size = options.out.stat().st_size / (1 << 20)
    n_files = len(manifest.files)
    value = {"file": str(options.out), "files": n_files, "facts": manifest.facts}
    report(options, f"Wrote {options.out} ({size:.0f} MiB, {n_files} files).", value)


def verify(options: argparse.Namespace) -> None:
    """Check every claim of a bundle's manifest."""
    manifest = verify_bundle(options.file)
    if options.json:
        print_json({"sound": True, "files": len(manifest.files), "facts": manifest.facts})
    else:
        say(f"{options.file} is sound: {len(manifest.files)} files as promised.")


def import_(options: argparse.Namespace) -> None:
    """Add a bundle as a model version."""
    with opened(options, makes=True) as studio:
        name = bundles.import_bundle(studio, options.file, options.project)
    report(options, f"Added {name}.", {"model": name})
