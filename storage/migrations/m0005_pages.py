"""Find a late page of a large project without sorting all of it."""

from alembic.operations import Operations

REVISION = "0005"


def upgrade(operations: Operations) -> None:
    """Index the orders that had no index yet."""
    operations.create_index("ix_utterance_touched", "utterance", ["project_id", "touched_revision"])
    operations.create_index("ix_utterance_text", "utterance", ["project_id", "text", "id"])
