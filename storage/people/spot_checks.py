"""Judgements of spot checks: whether answers of the version in use are right, by text."""

from collections.abc import Mapping
from typing import TypeAlias

from sqlalchemy.engine import Connection

from storage.people import preferences

Judged: TypeAlias = Mapping[str, tuple[str, bool]]
"""The id of the answered intent and whether the answer is right, by id of the text."""

_ANYBODY = ""


def keep_judged(connection: Connection, project_id: int, version: int, judged: Judged) -> Judged:
    """Add judgements of a version's answers, drop those of other versions, and return them all.

    A text that is judged again has the newest judgement.
    """
    for name in preferences.kept(connection, project_id, _ANYBODY, "check"):
        if name != str(version):
            preferences.drop(connection, project_id, _ANYBODY, "check", name)
    every = {**judged_of(connection, project_id, version), **judged}
    stored = {text: list(one) for text, one in every.items()}
    preferences.keep(connection, project_id, _ANYBODY, "check", {str(version): stored})
    return every


def judged_of(connection: Connection, project_id: int, version: int) -> Judged:
    """Return what was judged of a version's answers; empty if nothing was."""
    stored = preferences.kept(connection, project_id, _ANYBODY, "check").get(str(version), {})
    return {text: (str(intent), bool(right)) for text, (intent, right) in stored.items()}
