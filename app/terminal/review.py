"""The commands that list the findings of a project, and the groups of its unlabelled texts."""

import argparse

from app.services.discover.views import DiscoveredGroup
from app.terminal.output import opened, print_json, progress_bar, say, table, tell
from core.errors import InvalidInput
from core.text import counted, decimal, percent
from storage.queries.utterances import Page

_SHOWN_TEXTS = 3
"""Typical and border texts of a group; --json prints more."""


def review(options: argparse.Namespace) -> None:
    """List the findings of a project, the most harmful first."""
    from app.services.live.live_studio import open_live_studio
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


def discover(options: argparse.Namespace) -> None:
    """Group the unlabelled texts of a project by meaning, and print what each group is about."""
    from app.services.discover.files import read_placed, write_placed
    from app.services.discover.grouped import GroupChoice
    from app.services.discover.groups import discover
    from app.services.discover.runs import count_out_of_scope
    from app.services.live.live_studio import open_live_studio

    if options.format and options.out is None:
        raise InvalidInput("--format is that of a file.", "Name one with --out.")
    before = {} if options.before is None else read_placed(options.before)
    choice = GroupChoice(options.groups, before, out_of_scope=options.out_of_scope)
    with opened(options) as studio:
        if choice.out_of_scope:
            n_outside = count_out_of_scope(studio, options.project)
            tell(f"Also grouped: {counted(n_outside, 'text')} labelled out of scope.")
        with progress_bar("texts embedded") as bar:
            view, placed = discover(
                open_live_studio(studio),
                options.project,
                choice,
                lambda done, total: bar.move(
                    done / total, f"{done:,} of {counted(total, 'text')} embedded"
                ),
            )
            bar.move(1.0, f"{counted(view.n_texts, 'text')} grouped")
    if options.out is not None and placed:
        write_placed(options.out, placed, spreadsheet=options.format == "spreadsheet")
        tell(f"Wrote {options.out}.")
    if options.json:
        print_json(view)
        return
    if view.groups:
        n = view.n_out_of_scope
        more = f" and {n:,} out of scope" if n else ""
        texts = counted(view.n_texts - n, "text")
        say(f"{texts} without a label{more}, grouped by {view.by}.")
    for group in view.groups:
        _show_group(group)
    if view.note:
        say(view.note)


def _show_group(group: DiscoveredGroup) -> None:
    near = ", ".join(f"{one.intent} ({decimal(one.cosine, 2)})" for one in group.nearest)
    share = "" if group.in_scope is None else f", {percent(group.in_scope)} answered in scope"
    size = counted(group.size, "text")
    say(f"\n{group.name}: {size}, cohesion {decimal(group.cohesion, 2)}{share}")
    say(f"  {group.description}")
    if near:
        say(f"  nearest intents: {near}")
    for title, texts in (("typical", group.typical), ("border", group.border)):
        for text in texts[:_SHOWN_TEXTS]:
            say(f"  {title}: {text}")
