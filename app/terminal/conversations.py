"""Commands about logs of conversations."""

import argparse

from app.services.conversations import logs, removing
from app.services.conversations.logs import DialogueImport, DialogueReport
from app.terminal.output import opened, print_json, report, say, table, tell
from core.text import counted


def import_(options: argparse.Namespace) -> None:
    """Import a log."""
    request = DialogueImport(
        options.project, options.file, options.mask, max(0, options.pool), options.dry_run
    )
    with opened(options) as studio:
        added = logs.import_dialogues(studio, request)
    if options.json:
        print_json(added)
        return
    _say_report(added)
    if added.log is not None:
        tell(f"Next: intent-studio train '{options.project}' --recipe dialogues")


def list_(options: argparse.Namespace) -> None:
    """List the logs of a project."""
    with opened(options) as studio:
        records = logs.list_logs(studio, options.project)
    if options.json:
        print_json({"logs": records})
        return
    rows = [
        (log.id, log.source, log.n_dialogues, log.n_turns, _masked(log.masked), log.created_at[:19])
        for log in records
    ]
    head = ("log", "file", "conversations", "turns", "masked", "imported")
    table("Conversations", head, rows)


def remove(options: argparse.Namespace) -> None:
    """Delete a log."""
    with opened(options) as studio:
        record = removing.remove_log(studio, options.project, options.log)
        removing.delete_removed(studio, log_id=record.id)
    words = f"Deleted '{record.source}'; utterances that came from it stay in the pool."
    report(options, words, {"deleted": record})


def _say_report(added: DialogueReport) -> None:
    would = "Would add" if added.dry_run else "Added"
    what = f"{counted(added.dialogues, 'conversation')} of {counted(added.turns, 'turn')}"
    say(f"{would} {what}.")
    there, long = (counted(n, "conversation") for n in (added.repeated, added.too_long))
    come = "would come" if added.dry_run else "came"
    notes = {
        f"{there} there already": added.repeated,
        f"{long} of over a million signs, left out": added.too_long,
        counted(added.user_turns, "different user turn"): added.user_turns,
        f"{added.pooled:,} of them {come} into the pool": added.pooled,
        f"{added.known:,} of them in the project as utterances already": added.known,
    }
    for words, count in notes.items():
        if count:
            say(f"  {words}")
    if added.masked is not None:
        say(f"  masked: {_masked(added.masked)}")


def _masked(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "-"
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items()) or "nothing found"
