"""Let a conversation log be removed so that it can come back for a while."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0018"


def upgrade(operations: Operations) -> None:
    """Add the time of the removal; NULL in logs that are there."""
    operations.add_column("conversation_log", sa.Column("removed_at", sa.Text, nullable=True))
