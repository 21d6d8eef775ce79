"""Let projects be deleted so that they can come back."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0011"


def upgrade(operations: Operations) -> None:
    """Add the name from before the deletion; NULL in projects that are not deleted."""
    operations.add_column("project", sa.Column("deleted_name", sa.Text, nullable=True))
