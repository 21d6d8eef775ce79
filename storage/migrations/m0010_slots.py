"""Values are marked in utterances, and an utterance may be made from another one's template."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0010"


def upgrade(operations: Operations) -> None:
    """Add the columns; so far nothing is marked, and everything was said by somebody."""
    for name, nothing in (("slots", "[]"), ("synthetic", "")):
        column = sa.Column(name, sa.Text, nullable=False, server_default=nothing)
        operations.add_column("utterance", column)
