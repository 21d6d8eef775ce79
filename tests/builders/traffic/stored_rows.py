"""What a project has stored of its traffic, to be looked at."""

from app.services.live.live_studio import LiveStudio
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.said import traffic


def stored_rows(live: LiveStudio) -> list[tuple[str, str, str]]:
    """Return time, text and source of each row of the first project, by time."""
    with live.studio.database.read() as connection:
        texts = {r.id: r.text for r in utterances.find_all(connection, 1, Filter())}
        found = traffic.sample(connection, 1, "2026-01-01", "2027-01-01", 1_000)
    return sorted((row.at, texts[row.utterance_id], row.source) for row in found)
