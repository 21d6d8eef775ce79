"""Where a typed text is in its project already."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.services.studio import Studio
from core.types import Split
from storage.queries import utterances


@dataclass(frozen=True, slots=True)
class KnownText:
    """An utterance of the project; `labels` are intent ids, None if it is unlabelled."""

    id: str
    split: Split
    labels: tuple[str, ...] | None


def known_texts(studio: Studio, project_id: int, texts: Sequence[str]) -> tuple[KnownText, ...]:
    """Return the utterances that have just the one given text; none for several texts."""
    if len(texts) != 1:
        return ()
    with studio.database.read() as connection:
        records = utterances.by_text(connection, project_id, texts[0])
    return tuple(KnownText(one.id, one.split, one.labels) for one in records)
