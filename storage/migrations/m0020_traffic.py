"""Keep when and where texts of the traffic were said."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0020"


def upgrade(operations: Operations) -> None:
    """Create the tables of what was said, and of what the sample of a day left out."""
    operations.create_table(
        "said_text",
        sa.Column(
            "project_id",
            sa.Integer,
            sa.ForeignKey("project.id", name="fk_said_text_project_id"),
            primary_key=True,
        ),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("utterance_id", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    operations.create_index("ix_said_text_at", "said_text", ["project_id", "at"])
    operations.create_index("ix_said_text_utterance", "said_text", ["project_id", "utterance_id"])
    operations.create_table(
        "sampled_day",
        sa.Column(
            "project_id",
            sa.Integer,
            sa.ForeignKey("project.id", name="fk_sampled_day_project_id"),
            primary_key=True,
        ),
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("below", sa.Integer, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
