"""Let a project choose whether its gate promotes versions without a person."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0004"


def upgrade(operations: Operations) -> None:
    """Add the column; by default, a person decides."""
    column = sa.Column("auto_promote", sa.Integer, nullable=False, server_default="0")
    operations.add_column("project", column)
