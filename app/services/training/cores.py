"""Labels that came with the sure cores of groups, and the texts that were left of these groups."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from core.splits import drawn_rows
from core.text import worded_anew
from storage.computed.taken_groups import TakenGroups, taken_groups
from storage.database import Transaction
from storage.log import events
from storage.log.replay import State
from storage.queries import utterances
from storage.records import ProjectRecord

if TYPE_CHECKING:
    from core.training.from_labels.inputs import CoreLabels

_MOST = 500
"""Doubtful texts that a training scores; of more, a sample. It learns from none of them."""


def core_labels(
    connection: Transaction,
    project: ProjectRecord,
    state: State,
    revision: int,
    unlabelled: Callable[[], Mapping[str, str]],
) -> "CoreLabels | None":
    """Find the labels of a project at a revision that came with groups; None where none did.

    The groups are those of now: they are no part of a dataset version. `unlabelled` finds the
    texts without a label, by id; it is called where labels came with groups alone.
    """
    from core.training.from_labels.inputs import CoreLabels  # imports torch

    taken = taken_groups(connection, project.id, revision)
    if not taken.labelled:
        return None
    waiting = unlabelled()
    n_waiting = len(set(waiting.values()))
    rows = state.utterance_records()
    labelled = sum(row.labels is not None and row.split != "test" for row in rows)
    share = n_waiting / max(1, n_waiting + labelled)
    return CoreLabels(taken.labelled, _doubtful(taken, waiting), share)


def count_usable(connection: Transaction, project: ProjectRecord) -> int:
    """Count the unlabelled texts that a training would find now to learn from."""
    waiting = utterances.untaught(connection, project.id)
    if not waiting:
        return 0
    taken = taken_groups(connection, project.id, events.head(connection, project.id))
    known = utterances.taught_texts(connection, project.id, project.task)
    return sum(1 for _ in worded_anew(pool_of(waiting, _doubtful(taken, waiting)), known))


def pool_of(waiting: Mapping[str, str], doubtful: Collection[str]) -> tuple[str, ...]:
    """Return the unlabelled texts that a training may learn from, sorted, each once."""
    return tuple(sorted(set(waiting.values()) - set(doubtful)))


def _doubtful(taken: TakenGroups, waiting: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts without a label that were left of taken groups; of many, a sample."""
    left = {one for some in taken.left.values() for one in some}
    texts = sorted({waiting[key] for key in left if key in waiting})
    return tuple(texts[row] for row in drawn_rows(len(texts), _MOST, seed=0))
