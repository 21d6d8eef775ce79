"""Add revisions of creation and change to utterances, and loss curves to jobs."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0003"

_ADDED = """
    UPDATE utterance SET added_revision = COALESCE((
        SELECT MAX(event.revision) FROM event
        WHERE event.project_id = utterance.project_id AND event.subject = 'utterance'
          AND event.subject_id = utterance.id AND event.field = 'row'), 0)
"""
_TOUCHED = """
    UPDATE utterance SET touched_revision = COALESCE((
        SELECT MAX(event.revision) FROM event
        WHERE event.project_id = utterance.project_id AND event.subject = 'utterance'
          AND event.subject_id = utterance.id), 0)
"""


def upgrade(operations: Operations) -> None:
    """Add the columns and fill them from the log."""
    for name in ("added_revision", "touched_revision"):
        column = sa.Column(name, sa.Integer, nullable=False, server_default="0")
        operations.add_column("utterance", column)
    # Without an index by subject, SQLite would read the whole log for each utterance.
    operations.create_index("ix_event_subject", "event", ["project_id", "subject_id"])
    operations.execute(_ADDED)
    operations.execute(_TOUCHED)
    operations.create_index("ix_utterance_added", "utterance", ["project_id", "added_revision"])
    operations.add_column("job", sa.Column("curve", sa.Text, nullable=True))
