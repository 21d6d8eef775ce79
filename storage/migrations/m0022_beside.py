"""Keep beside a text what its file said of it that the studio shows nowhere."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0022"


def upgrade(operations: Operations) -> None:
    """Add the column; nothing is kept of texts that are there already."""
    column = sa.Column("beside", sa.Text, nullable=False, server_default="")
    operations.add_column("utterance", column)
