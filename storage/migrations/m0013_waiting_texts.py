"""Count and draw texts that wait for a label without reading all rows."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0013"


def upgrade(operations: Operations) -> None:
    """Create an index of the texts without a label, in the order in which they are drawn."""
    operations.create_index(
        "ix_utterance_waiting",
        "utterance",
        ["project_id", "skipped", "text_hash", "id"],
        sqlite_where=sa.text("labels IS NULL"),
        postgresql_where=sa.text("labels IS NULL"),
    )
