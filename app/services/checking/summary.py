"""The result of a check in Markdown, as a pipeline shows it."""

from collections.abc import Sequence

from app.services.checking.views import CheckReport, CheckResult
from core.text import counted, plain_markdown, unturned

_MOST = 50
"""Broken pins that are listed; a summary of GitHub holds 1 MiB."""
_LONGEST = 300
"""Signs of one cell or line."""
_SIGNS = {"passed": "✅ passed", "failed": "❌ failed", "skipped": "⚠️ not judged"}


def summary_markdown(report: CheckReport) -> str:
    """Write verdict, a table of the checks, and each broken pin with what broke it."""
    pins = [one for one in report.checks if one.kind == "pin"]
    others = [one for one in report.checks if one.kind != "pin"]
    sign = "✅" if report.passes else "❌"
    lines = [
        f"## {sign} {_words(report.verdict)}",
        "",
        f"Judged on {_words(report.judged_on)}.",
        *(f"\n{_words(note)}" for note in report.notes),
        "",
        "| check | found | |",
        "| --- | --- | --- |",
        *_pins_row(pins),
        *(_row(one) for one in others),
        *_broken_pins(pins),
    ]
    return "\n".join(lines) + "\n"


def _row(one: CheckResult) -> str:
    why = f" {_words(one.why)}" if one.why else ""
    return f"| {_words(one.name)} | {_words(one.found)}{why} | {_SIGNS[one.state]} |"


def _pins_row(pins: Sequence[CheckResult]) -> list[str]:
    if not pins:
        return []
    broken = sum(one.state == "failed" for one in pins)
    sign = _SIGNS["failed" if broken else "passed"]
    return [f"| pins | {len(pins) - broken:,} of {len(pins):,} kept | {sign} |"]


def _broken_pins(pins: Sequence[CheckResult]) -> list[str]:
    broken = [one for one in pins if one.state == "failed"]
    if not broken:
        return []
    lines = ["", "### Broken pins", ""]
    for one in broken[:_MOST]:
        why = f" {_words(one.why)}" if one.why else ""
        lines.append(f"- **{_words(one.name)}** and {_words(one.found)}.{why}")
        lines += [f"  - {_words(example.words)}" for example in one.examples]
    more = len(broken) - _MOST
    return [*lines, *([f"- {counted(more, 'pin')} more"] if more > 0 else [])]


def _words(words: str) -> str:
    cut = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return plain_markdown(unturned(cut))
