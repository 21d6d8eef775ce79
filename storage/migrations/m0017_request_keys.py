"""Keep the first answer to a request whose sender may repeat it."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0017"


def upgrade(operations: Operations) -> None:
    """Create the table of answered requests."""
    operations.create_table(
        "answered_request",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sqlite_strict=True,
    )
