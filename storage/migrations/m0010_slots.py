"""Mark values in utterances, and record which utterance a synthetic one was made from."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0010"


def upgrade(operations: Operations) -> None:
    """Add the columns; existing utterances are unmarked and not synthetic."""
    for name, nothing in (("slots", "[]"), ("synthetic", "")):
        column = sa.Column(name, sa.Text, nullable=False, server_default=nothing)
        operations.add_column("utterance", column)
