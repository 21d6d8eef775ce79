"""The data of a data version, as trainings read them."""

from storage.database import Transaction
from storage.log import edits, versions
from storage.log.replay import State
from storage.records import DatasetVersionRecord


def frozen_state(connection: Transaction, project_id: int, version: DatasetVersionRecord) -> State:
    """Rebuild the data of a version, without the texts that were erased since.

    The log still has their labels, each with a tombstone in place of the text.
    """
    state = versions.state_at(connection, project_id, version.revision)
    gone = edits.erased(connection, project_id, state.utterances)
    return state.part(key for key in state.utterances if key not in gone) if gone else state
