"""Commands about bundles."""

import argparse

from app.services.versions import bundles
from app.terminal.output import opened, print_json, report, say
from core.bundle.archive import verify_bundle

_UNSIGNED = (
    "It bears no signature: nothing was damaged or added, but it does not prove who made it."
)
_OTHER_CARD = (
    "Its README.md is worded otherwise than this release words it: an earlier release wrote it, or "
    "somebody changed it. The figures in facts.json are those of the manifest."
)


def export(options: argparse.Namespace) -> None:
    """Write a model version as one zip."""
    with opened(options) as studio:
        manifest = bundles.export_model(studio, options.model, options.out)
    size = options.out.stat().st_size / (1 << 20)
    n_files = len(manifest.files)
    value = {"file": str(options.out), "files": n_files, "facts": manifest.facts}
    report(options, f"Wrote {options.out} ({size:.0f} MiB, {n_files} files).", value)


def verify(options: argparse.Namespace) -> None:
    """Check every claim of a bundle's manifest, and that what was generated is the studio's own."""
    manifest = verify_bundle(options.file)
    notes = [_UNSIGNED] if manifest.own_card else [_UNSIGNED, _OTHER_CARD]
    if options.json:
        facts = {"files": len(manifest.files), "facts": manifest.facts, "notes": notes}
        print_json({"sound": True, "signed": False, **facts})
        return
    say(
        f"{options.file} is sound: {len(manifest.files)} files as promised, and no foreign program."
    )
    for note in notes:
        say(note)


def import_(options: argparse.Namespace) -> None:
    """Add a bundle as a model version."""
    with opened(options, makes=True) as studio:
        name = bundles.import_bundle(studio, options.file, options.project)
    report(options, f"Added {name}.", {"model": name})
