"""What a file says beside a text that the studio shows nowhere, kept so that it survives.

It is one JSON object: `language`, and under the name of each format what only that format says,
such as the id of a phrase or a tool's own fields.
"""

import json
from collections.abc import Mapping
from typing import Any

from core.formats.rows import ImportedRow
from core.text import is_storable

LANGUAGE = "language"
_OWN = frozenset(
    {
        *("text", "intent", "intents", "label", "labels", "cats", "accept", "answer", "options"),
        *("data", "parts", "annotations", "spans", "ents", "dataset", "language", "languageCode"),
    }
)
"""Keys that writers fill from the text, its labels and its marks."""

LONGEST = 20_000
"""Characters of what is kept beside one text; more is left in the file, and told."""


def kept_json(format: str, fields: Mapping[str, Any]) -> str | None:
    """Write what a format says of a text; empty for nothing, None for too much to be kept."""
    if not fields:
        return ""
    try:
        kept = _json({format: dict(fields)})
    except (ValueError, RecursionError):
        return None
    return kept if len(kept) <= LONGEST and _is_storable(kept) else None


def beside(row: ImportedRow) -> str:
    """Return all that is kept beside a text as JSON; empty for nothing."""
    if not row.language:
        return row.kept
    return _json({LANGUAGE: row.language} | (json.loads(row.kept) if row.kept else {}))


def completed(stored: str, row: ImportedRow) -> str:
    """Return what is kept beside a text with what a file says besides; what is there stays.

    More than can be kept is left in the file; a language that is missing has room of its own.
    """
    said = beside(row)
    if not said or said == stored:
        return stored
    there = json.loads(stored) if stored else {}
    added = {key: one for key, one in json.loads(said).items() if key not in there}
    language = {key: one for key, one in added.items() if key == LANGUAGE}
    choices = (_json(more | there) for more in (added, language) if more)
    return next((one for one in choices if len(one) <= 2 * LONGEST), stored)


def lacks_room(whole: str, row: ImportedRow) -> bool:
    """Whether something that a file says of a text is not in what `completed` made."""
    said = beside(row)
    if said in ("", whole):
        return False
    return not json.loads(said).keys() <= (json.loads(whole) if whole else {}).keys()


def language_and_kept(stored: str) -> tuple[str, str]:
    """Return the language, and the rest as JSON, of what `beside` wrote."""
    if not stored:
        return "", ""
    value = json.loads(stored)
    language = str(value.pop(LANGUAGE, ""))
    return language, _json(value) if value else ""


def kept_fields(row: ImportedRow, format: str) -> dict[str, Any]:
    """Return what a format said of a text when it was imported, and nothing that is the text's own.

    A file for import may claim anything of what is kept.
    """
    value = json.loads(row.kept).get(format) if row.kept else None
    found = value if isinstance(value, dict) else {}
    return {key: one for key, one in found.items() if key not in _OWN}


def is_beside(value: object) -> bool:
    """Whether a text is what `beside` writes: an object with a language and objects alone."""
    if not isinstance(value, str) or len(value) > 2 * LONGEST:
        return False
    if not value:
        return True
    try:
        found = json.loads(value)
        written = _json(found)  # as it will be once a file completes it
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(found, dict)
        and bool(found)
        and isinstance(found.get(LANGUAGE, ""), str)
        and all(isinstance(one, dict) for name, one in found.items() if name != LANGUAGE)
        and _is_storable(written)
    )


def _is_storable(text: str) -> bool:
    return "\\u0000" not in text and is_storable(text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
