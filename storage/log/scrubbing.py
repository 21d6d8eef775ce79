"""Take erased texts out of receipts, jobs, preferences, versions and acts, which quote them."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.text import normalise
from storage.tables import act, job, model_version, preference, receipt

ERASED = "[erased]"
_LONG = 4
"""From this many words on, a text is found within a sentence; a shorter one only in quotes."""
_WORDS = frozenset(
    ("base", "device", "kind", "method", "precision", "recipe", "split", "state", "task")
)
"""Fields that hold words of the studio: nobody said them."""
_SAID = frozenset(("text", "texts", "twins"))
_OPEN, _SHUT = "[\u201c\"'\u2018]", "[\u201d\"'\u2019]"
_COLUMNS = {
    act: (act.c.about,),
    receipt: (receipt.c.content,),
    job: (job.c.payload, job.c.result, job.c.curve, job.c.message, job.c.hint, job.c.log_tail),
    preference: (preference.c.value, preference.c.name),
    model_version: (model_version.c.lineage, model_version.c.metrics, model_version.c.pins),
}


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces texts within JSON values; made by `scrubber_of`.

    People say "refund", and an intent has that name: where no text is meant, `names` stay. Without
    its intents' names a version has no floors, and without its fields it is not read at all.
    """

    texts: frozenset[str]
    quoted: re.Pattern[str]
    names: frozenset[str]

    def of(self, value: Any, field: str = "") -> Any:
        """Return a JSON value, which stands in a field, without the texts."""
        if field in _WORDS:
            return value
        if isinstance(value, str):
            return self._of_words(value, field)
        if isinstance(value, list):
            return [self.of(one, field) for one in value]
        if not isinstance(value, dict):
            return value
        # The words of an explained text stand one by one beside it.
        spelt = isinstance(value.get("text"), str) and normalise(value["text"]) in self.texts
        return {
            self._of_key(key): self.of(_unspelt(one) if spelt else one, key)
            for key, one in value.items()
        }

    def _of_words(self, words: str, field: str) -> str:
        plain = normalise(words)
        if plain in self.texts and (field in _SAID or plain not in self.names):
            return ERASED
        return self.quoted.sub(ERASED, words)

    def _of_key(self, key: str) -> str:
        """Return a key without the texts; a single word is a field's name."""
        return self._of_words(key, "") if len(key.split()) > 1 else key


def scrubber_of(texts: Iterable[str], names: Iterable[str] = ()) -> Scrubber:
    """Return what replaces these texts, but no intent's name where no text is meant."""
    plain = sorted(map(normalise, texts), key=len, reverse=True)
    kept = frozenset(map(normalise, names))
    parts = [
        re.escape(text)
        if len(text.split()) >= _LONG
        else rf"(?<={_OPEN}){re.escape(text)}(?={_SHUT})"
        for text in plain
        if text not in kept
    ]
    return Scrubber(frozenset(plain), re.compile("|".join(parts) or r"(?!)"), kept)


def tombstone() -> str:
    """Return what stands for one text: random, so that nobody can try texts against it."""
    return f"[erased {secrets.token_hex(4)}]"


def scrub_rows(connection: Connection, project_id: int, scrubber: Scrubber) -> dict[str, int]:
    """Rewrite the rows of a project that quote the texts; return how many of each table."""
    counts: dict[str, int] = {}
    for table, columns in _COLUMNS.items():
        keys = list(table.primary_key.columns)
        query = sa.select(*dict.fromkeys((*keys, *columns)))
        changed = 0
        for row in connection.execute(query.where(table.c.project_id == project_id)).all():
            values = {c.name: row._mapping[c.name] for c in columns}
            clean = scrubber.of(values)
            if clean != values:
                if table is preference:  # two filters that were named by texts stay two
                    clean["name"] = clean["name"].replace(ERASED, tombstone())
                here = sa.and_(*(key == row._mapping[key.name] for key in keys))
                connection.execute(sa.update(table).where(here).values(clean))
                changed += 1
        counts[table.name] = changed
    return counts


def _unspelt(value: Any) -> Any:
    """Drop the list of a text's words, wherever it stands in an explanation of that text."""
    if isinstance(value, list):
        return [_unspelt(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: None if key == "words" and not isinstance(part, str) else _unspelt(part)
        for key, part in value.items()
    }
