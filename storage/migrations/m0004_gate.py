"""A project says whether its gate may promote a version by itself."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0004"


def upgrade(operations: Operations) -> None:
    """Add the column; a person decides until told otherwise."""
    column = sa.Column("auto_promote", sa.Integer, nullable=False, server_default="0")
    operations.add_column("project", column)
