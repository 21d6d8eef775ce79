"""The command that explains an answer, and writes the evidence."""

import argparse

from app.services.explaining.explained_model import ExplainedModel, explained_reference
from app.services.explaining.views import Explanation, IntentReason, WordsView
from app.services.studio import Studio
from app.terminal.output import opened, plain, print_json, say, table, tell
from app.terminal.versions import prediction_as_json
from core.files import is_file
from core.text import counted, percent
from storage.records import now

_SCORES = 5
"""Intents whose scores are listed."""


def explain(options: argparse.Namespace) -> None:
    """Show why a text gets its intent; with a file, store the evidence and write it.

    The JSON holds what `predict` prints for the text, and the explanation.
    """
    from app.services.explaining.explain import explain_text

    with opened(options, makes=is_file(options.model)) as studio:
        model = explained_reference(studio, options.model)
        explanation = explain_text(studio, model, options.text, options.against)
        receipt = None
        if options.html or options.pdf:
            receipt = _write(options, studio, model, explanation)
    if options.json:
        [prediction] = model.pipeline.predict([options.text])
        answered = prediction_as_json(
            prediction, model.pipeline.task, None if model.version is None else model.revision
        )
        answered["model_version"] = explanation.model
        print_json({**answered, **plain(explanation), "receipt": receipt})
    else:
        show_explanation(explanation)


def _write(
    options: argparse.Namespace, studio: Studio, model: ExplainedModel, explanation: Explanation
) -> str | None:
    """Write the evidence; return its path in the studio, if it is stored there."""
    from app.services.reports.pdf import print_pdf
    from app.services.reports.receipts import content_of, keep, receipt_page

    kept = None if model.project is None else keep(studio, model, explanation)
    page = receipt_page(content_of(studio, model, explanation), now(), "", {})
    if options.html:
        options.html.write_text(page, encoding="utf-8")
        tell(f"Wrote {options.html}.")
    if options.pdf:
        print_pdf(studio.settings, page, options.pdf)
        tell(f"Wrote {options.pdf}.")
    if kept is None:
        return None
    tell(f"The studio keeps it at {kept.path}.")
    return kept.path


def show_explanation(explanation: Explanation) -> None:
    """Print why a text gets its answer."""
    say(explanation.sentence)
    say(explanation.scope.words)
    ranked = [
        (s.intent, f"{s.score:+.3f}", percent(s.probability, 1) if explanation.answer else "")
        for s in explanation.ranked[:_SCORES]
    ]
    table("Scores", ("intent", "score", "probability"), ranked)
    if explanation.ranked[_SCORES:]:
        say(f"{counted(len(explanation.ranked) - _SCORES, 'more intent')} with lower scores.")
    for reason in explanation.reasons:
        _show_reason(reason)
    if explanation.why_not is not None:
        say(f"Why not {explanation.why_not.intent}? {explanation.why_not.words}")
    heads = [(head.name, head.intent, head.detail) for head in explanation.heads]
    table("Ways of deciding", ("way", "says", "because"), heads)
    for note in explanation.notes:
        say(note)


def _show_reason(reason: IntentReason) -> None:
    votes = [
        (
            f"{one.vote:+.4f}",
            f"{one.cosine:.3f}",
            ", ".join(one.example.intents) or "no intent",
            one.example.text + (f" (+ {len(one.twins):,} nearly the same)" if one.twins else ""),
            "" if one.origin is None else f"{one.origin.by}, {one.origin.at[:10]}",
        )
        for one in reason.votes
    ]
    every = "all " if reason.n_others > 1 else ""
    others = every + counted(reason.n_others, "other example")
    votes.append((f"{reason.others:+.4f}", "", "", others, ""))
    votes.append((f"{reason.prior:+.4f}", "", "", "share of the labels (prior)", ""))
    if reason.voice:
        votes.append((f"{reason.voice:+.4f}", "", "", "the intent's name and description", ""))
    title = f"Votes for {reason.intent}; they add up to {reason.score:+.4f}"
    title += "" if reason.limit is None else f", its limit is {reason.limit:+.4f}"
    table(title, ("vote", "cosine", "intent", "example", "labelled by"), votes)
    if reason.words is not None and reason.words.words:
        _show_words(reason.words)
    if reason.load_bearing is not None:
        say(reason.load_bearing.words)
        for example in reason.load_bearing.examples[:5]:
            say(f"  “{example.text}” ({', '.join(example.intents) or 'no intent'})")


def _show_words(attribution: WordsView) -> None:
    rival = "" if attribution.rival is None else f" against {attribution.rival}"
    error = (
        ""
        if attribution.error is None
        else f"; {percent(attribution.error, 2)} of it is not accounted for"
    )
    rows = [
        (one.text, "" if one.share is None else f"{one.share:+.4f}", f"{one.effect:+.4f}")
        for one in attribution.words
    ]
    title = f"Words that carry the difference of {attribution.difference:+.4f}{rival}{error}"
    table(title, ("word", "gradient share", "lost without it"), rows)
    for line in filter(None, (attribution.note, attribution.unclear)):
        say(line)
