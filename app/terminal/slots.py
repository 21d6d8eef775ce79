"""Commands for the slot book, and for utterances made of templates."""

import argparse

from app.services.slots.augmentation import AugmentationRequest, add_synthetic, preview_augmentation
from app.services.slots.book import ValueView, view_book
from app.terminal.output import opened, print_json, say, table, tell
from core.text import counted

_SHOWN = 5


def book(options: argparse.Namespace) -> None:
    """Show the slots of a project with their most frequent values."""
    with opened(options) as studio:
        most = options.most or (_SHOWN if not options.json else 1_000_000)
        slots = view_book(studio, options.project, options.text, most)
    if options.json:
        print_json(slots)
        return
    say(f"{slots.n_marked:,} of {counted(slots.n_utterances, 'utterance')} have slots.")
    rows = [(s.name, s.count, s.n_values, ", ".join(map(_said, s.values))) for s in slots.slots]
    if rows:
        table(options.project, ("slot", "marked", "values", "most frequent"), rows)
    tell("A ? is behind values that are marked in less than half of their occurrences.")


def _said(value: ValueView) -> str:
    return f"{value.value} {value.count}{'?' if value.noisy else ''}"


def augment(options: argparse.Namespace) -> None:
    """Add synthetic utterances, or preview them."""
    request = AugmentationRequest(options.top, options.per_template, options.most)
    with opened(options) as studio:
        run = preview_augmentation if options.preview else add_synthetic
        added = run(studio, options.project, request)
    if options.json:
        print_json(added)
        return
    would = "Would add" if added.preview else "Added"
    of = f"{counted(added.n_templates, 'template')} of {counted(added.n_sources, 'utterance')}"
    say(f"{would} {counted(added.n, 'synthetic utterance')} from {of}.")
    for filled in added.templates[:_SHOWN]:
        say(f"  {filled.template} ({' and '.join(filled.intents)}): {filled.n:,}, such as")
        for example in filled.examples[:2]:
            say(f"    {example}")
