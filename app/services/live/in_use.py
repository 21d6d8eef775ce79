"""How often two versions would be right if each were in use now."""

from dataclasses import dataclass

from app.services.live.accuracy import AccuracyNow, accuracy_now
from app.services.live.server_state import LiveStudio
from core.types import no_pause


@dataclass(frozen=True, slots=True)
class InUse:
    """Right answers to test texts with all labels up to now, and the project's names and fence.

    A comparison of versions shows each as it was trained. In use, newer labels vote in both.

    Attributes:
        n: Number of test texts, without those that say the same as an example.
        before: Number of right answers of the older version.
        after: Number of right answers of the newer version.
    """

    n: int
    before: int
    after: int


def compare_in_use(live_studio: LiveStudio, project: str, older: int, newer: int) -> InUse | None:
    """Compare two versions as each would answer if it were the champion now.

    None where there is no test set, or where so many labels vote that this takes long.

    Raises:
        NotFound: There is no such project or version.
    """
    before, after = (_accuracy(live_studio, project, number) for number in (older, newer))
    if before is None or after is None or before.n != after.n:
        return None
    return InUse(before.n, before.right, after.right)


def _accuracy(live_studio: LiveStudio, project: str, number: int) -> AccuracyNow | None:
    opened = live_studio.models.as_champion(project, number)
    return None if opened is None else accuracy_now(live_studio.studio, *opened, no_pause)
