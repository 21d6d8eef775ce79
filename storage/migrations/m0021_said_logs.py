"""Keep which rows of the traffic came with which log, so that its import can be taken back."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0021"


def upgrade(operations: Operations) -> None:
    """Create the table of imported logs; rows that are there came with none."""
    operations.create_table(
        "said_log",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "project_id",
            sa.Integer,
            sa.ForeignKey("project.id", name="fk_said_log_project_id"),
            nullable=False,
        ),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.UniqueConstraint("project_id", "key", name="uq_said_log_project_id"),
        sqlite_strict=True,
    )
    operations.add_column("said_text", sa.Column("log_id", sa.Integer, nullable=True))
    operations.create_index("ix_said_text_log", "said_text", ["project_id", "log_id"])
