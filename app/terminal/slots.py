"""Commands about marked values: the slot book, and utterances made of templates."""

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
        found = view_book(studio, options.project, options.text, most)
    if options.json:
        print_json(found)
        return
    say(f"{found.n_marked:,} of {counted(found.n_utterances, 'utterance')} have slots.")
    rows = [(s.name, s.count, s.n_values, ", ".join(map(_said, s.values))) for s in found.slots]
    if rows:
        table(options.project, ("slot", "marked", "values", "most frequent"), rows)
    tell("A ? is behind values that are marked in less than half of their occurrences.")


def _said(value: ValueView) -> str:
    return f"{value.value} {value.count}{'?' if value.noisy else ''}"


def augment(options: argparse.Namespace) -> None:
    """Add synthetic utterances, or show which there would be."""
    request = AugmentationRequest(options.top, options.per_template, options.most)
    with opened(options) as studio:
        run = preview_augmentation if options.preview else add_synthetic
        found = run(studio, options.project, request)
    if options.json:
        print_json(found)
        return
    would = "Would add" if found.preview else "Added"
    of = f"{counted(found.n_templates, 'template')} of {counted(found.n_sources, 'utterance')}"
    say(f"{would} {counted(found.n, 'synthetic utterance')} from {of}.")
    for one in found.templates[:_SHOWN]:
        say(f"  {one.template} ({' and '.join(one.intents)}): {one.n:,}, such as")
        for example in one.examples[:2]:
            say(f"    {example}")
