"""Labels that came with the sure cores of groups, and the texts that were left of these groups."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from core.splits import drawn_rows
from storage.computed.taken_groups import taken_groups
from storage.database import Transaction
from storage.log import events
from storage.log.replay import State
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
    unlabelled: Callable[[], Sequence[str]],
) -> "CoreLabels | None":
    """Find the labels of a project at a revision that came with groups; None where none did.

    The groups are those of now: they are no part of a dataset version. `unlabelled` finds the
    texts without a label; it is called where labels came with groups alone.
    """
    from core.training.from_labels.inputs import CoreLabels  # imports torch

    taken = taken_groups(connection, project.id, revision)
    if not taken.labelled:
        return None
    waiting = set(unlabelled())
    doubtful = {one for some in taken.left.values() for one in some}
    rows = state.utterance_records()
    left = sorted({row.text for row in rows if row.text in waiting and row.id in doubtful})
    labelled = sum(row.labels is not None and row.split != "test" for row in rows)
    share = len(waiting) / max(1, len(waiting) + labelled)
    return CoreLabels(taken.labelled, _sample(left), share)


def count_doubtful(connection: Transaction, project_id: int, ids: Collection[str]) -> int:
    """Count those of some unlabelled texts, by id, that `core_labels` finds doubtful now."""
    taken = taken_groups(connection, project_id, events.head(connection, project_id))
    left = {one for some in taken.left.values() for one in some}
    return min(_MOST, len(left & set(ids)))


def without(pool: Sequence[str], cores: "CoreLabels | None") -> tuple[str, ...]:
    """Return the unlabelled texts that a training may learn from."""
    kept = set() if cores is None else set(cores.doubtful)
    return tuple(text for text in pool if text not in kept)


def _sample(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(texts[row] for row in drawn_rows(len(texts), _MOST, seed=0))
