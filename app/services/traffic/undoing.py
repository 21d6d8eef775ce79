"""Take the import of a log back: its rows, and the texts that nobody has touched since."""

from collections import Counter
from dataclasses import dataclass

from app.services.live.live_studio import LiveStudio
from core.errors import NotFound
from core.text import counted
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import TRAFFIC, Action, Reversal
from storage.people.acts import Act, note_aside
from storage.queries import utterances
from storage.records import BatchRecord, row_of
from storage.said import logs, traffic


@dataclass(frozen=True, slots=True)
class UndoneLog:
    """What taking an import back did.

    Attributes:
        rows: Rows of the traffic that are gone.
        removed: Texts that the import had added and that are gone.
        stay: Texts that it had added and that stay: somebody has changed them since, or they were
            said elsewhere, too.
    """

    rows: int
    removed: int
    stay: int


def undo_log(live_studio: LiveStudio, project: str, key: str) -> UndoneLog:
    """Take the import of an uploaded log back, some hundred texts a transaction.

    It may be repeated, also where it was cut off. What the sample of a day left out for these rows
    does not come back; the rows that are left are a fair sample all the same. Days and sources of
    which none is left thin the others no more.

    Raises:
        NotFound: There is no such project, or no log was imported under this key.
    """
    database = live_studio.studio.database
    with database.read() as connection:
        project_id = projects.find(connection, project).id
        log = logs.find(connection, project_id, key)
        if log is None:
            raise NotFound("No log was imported under this key.", "Reload the page.")
        found = logs.actions(connection, project_id, key)
    actions = [one for one in found if one.verb == TRAFFIC]  # anybody may choose such a key
    rows, gone = 0, 1
    while gone:
        live_studio.traffic.give_way()
        with database.write() as connection:
            gone = logs.remove_rows(connection, project_id, log.id)
            if not gone:
                traffic.forget_empty_days(connection, project_id)
        rows += gone
    counts = Counter[str]()
    for action in actions:
        live_studio.traffic.give_way()
        with database.write() as connection:
            actor = live_studio.studio.settings.actor
            counts += _take_back(connection, project_id, action, actor)
    if rows or actions:
        about = f"{log.name}: {counted(rows, 'row')}, {counted(counts['removed'], 'text')} gone"
        note_aside(database, project_id, Act("undo log", live_studio.studio.settings.actor, about))
    return UndoneLog(rows, counts["removed"], counts["stay"])


def _take_back(
    connection: Transaction, project_id: int, target: BatchRecord, actor: str
) -> Counter[str]:
    """Remove the texts of one action that are as it added them, and that no other row says."""
    if events.is_undone(connection, target):
        return Counter()
    made = {change.subject_id: change for change in events.changes_of(connection, target.id)}
    records = utterances.by_ids(connection, project_id, list(made))
    spoken = logs.spoken(connection, project_id, list(made))
    free = {
        key
        for key, record in records.items()
        if key not in spoken and row_of(record) == {**row_of(record), **made[key].after}
    }
    added = [made[key] for key in made if key in free]
    changes = edits.backwards(connection, project_id, target, added)
    if changes:
        action = Action(TRAFFIC, actor, target.origin)
        events.record(connection, project_id, action, changes)
        events.close_reversal(connection, project_id, Reversal(target, action, changes))
    return Counter(removed=len(free), stay=len(records) - len(free))
