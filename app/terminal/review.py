"""The command that lists the findings of a project."""

import argparse

from app.terminal.output import opened, print_json, say, table, tell
from core.errors import InvalidInput
from storage.queries.utterances import Page


def review(options: argparse.Namespace) -> None:
    """List the findings of a project, the most harmful first."""
    from app.services.live.server_state import open_live_studio
    from app.services.review.findings import KINDS
    from app.services.review.review import review as list_findings
    from app.services.review.review import wait_for_pool

    if options.kind is not None and options.kind not in KINDS:
        raise InvalidInput(f"There is no kind '{options.kind}'.", f"Use {', '.join(KINDS)}.")
    with opened(options) as studio:
        live_studio = open_live_studio(studio)
        wait_for_pool(live_studio, options.project)
        page = list_findings(
            live_studio, options.project, options.kind, Page(0, max(1, options.most))
        )
    if options.json:
        print_json(page)
        return
    counts = ", ".join(f"{n:,} {kind}" for kind, n in page.counts.items() if n and kind != "doubt")
    say(f"Open findings: {counts or 'none'}.")
    rows = [
        (
            finding.kind,
            finding.title,
            finding.texts[0].text if finding.texts else "",
            finding.measure,
        )
        for finding in page.findings
    ]
    if rows:
        table(options.project, ("kind", "finding", "text", "measure"), rows)
    for note in page.notes:
        tell(note)
