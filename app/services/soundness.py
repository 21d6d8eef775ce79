"""Whether the database is sound: checked once while the server runs, and told on every page."""

import threading
from dataclasses import dataclass, field
from typing import Literal

from app.services.background import in_background, step_back
from app.services.studio import Studio
from core.errors import DatabaseDamaged, StudioError
from storage.database import quick_damage
from storage.faults import LastBackup, last_backup

_PARTS = {
    "texts, labels and intents": frozenset({"project", "intent", "utterance"}),
    "the history of changes": frozenset({"batch", "event", "dataset_version", "act"}),
    "model versions": frozenset({"model_version", "alias", "blob", "tree", "pin"}),
    "traffic and conversations": frozenset(
        {"sampled_day", "said_text", "said_log", "conversation_log"}
    ),
}
"""What people call the tables."""
_REST = "maps, groups, reports and settings"


@dataclass(frozen=True, slots=True)
class DatabaseView:
    """What is known of the database.

    Attributes:
        state: `unchecked` in the first seconds of a server, then `sound` or `damaged`.
        lost: Parts that cannot be read whole, in words; () where they are not known.
        readable: The other parts.
        backup: The newest backup that the home knows of, or None.
    """

    state: Literal["unchecked", "sound", "damaged"]
    lost: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    backup: LastBackup | None = None


@dataclass(slots=True)
class Soundness:
    """What the server knows of its database; it is checked while requests are answered.

    `sought`: since a request met damage, a thread has begun to look for what is damaged.
    """

    studio: Studio
    view: DatabaseView = DatabaseView("unchecked")
    sought: bool = False
    guard: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Run SQLite's quick check at low priority; damage that is known stays known."""
        step_back()
        with self.guard:  # one check at a time
            try:
                tables = quick_damage(self.studio.database)
            except StudioError:
                return  # it could not be read just now, which is no damage
            if tables is not None:
                self.view = self._damaged(tables)
            elif self.view.state == "unchecked":
                self.view = DatabaseView("sound")

    def note(self) -> None:
        """Remember that a request met damage, and look for what is damaged in the background."""
        if self.view.state != "damaged":
            self.view = self._damaged(frozenset())
        if not (self.sought or self.view.lost):
            in_background("look-for-damage", self.check)
            self.sought = True

    def require(self) -> None:
        """Refuse to call the server ready; whoever asks needs no token, so no path is told.

        Raises:
            DatabaseDamaged: The database is known to be damaged.
        """
        if self.view.state == "damaged":
            lost = f" What cannot be read whole: {', '.join(self.view.lost)}." * bool(
                self.view.lost
            )
            raise DatabaseDamaged(
                f"The database is damaged.{lost}",
                "Copy the studio's folder aside, and restore the newest backup elsewhere.",
            )

    def _damaged(self, tables: frozenset[str]) -> DatabaseView:
        known = frozenset[str]().union(*_PARTS.values())
        lost = [words for words, names in _PARTS.items() if names & tables]
        lost += [_REST] if tables - known else []
        readable = [words for words in (*_PARTS, _REST) if words not in lost] if lost else []
        backup = last_backup(self.studio.places.database)
        return DatabaseView("damaged", tuple(lost), tuple(readable), backup)
