"""The command that lists what hurts a model most."""

import argparse

from app.terminal.output import opened, print_json, say, table, tell
from core.errors import InvalidInput


def review(options: argparse.Namespace) -> None:
    """List the findings of a project, those first that do most harm."""
    from app.services.live.server_state import open_live_studio
    from app.services.review import review as reviewing
    from app.services.review.findings import KINDS

    if options.kind is not None and options.kind not in KINDS:
        raise InvalidInput(f"There is no kind '{options.kind}'.", f"Use {', '.join(KINDS)}.")
    with opened(options) as studio:
        live_studio = open_live_studio(studio)
        reviewing.wait_for_pool(live_studio, options.project)
        found = reviewing.review(
            live_studio, options.project, options.kind, (0, max(1, options.most))
        )
    if options.json:
        print_json(found)
        return
    counts = ", ".join(f"{n} {kind}" for kind, n in found.counts.items() if n)
    say(f"Open findings: {counts or 'none'}.")
    rows = [
        (one.kind, one.title, one.texts[0].text if one.texts else "", one.measure)
        for one in found.findings
    ]
    if rows:
        table(options.project, ("kind", "finding", "text", "measure"), rows)
    for note in found.notes:
        tell(note)
