"""Let a project set from which score on a text is in scope."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0007"


def upgrade(operations: Operations) -> None:
    """Add the column; without a value, the model's own limit applies."""
    operations.add_column("project", sa.Column("fence", sa.Text, nullable=True))
