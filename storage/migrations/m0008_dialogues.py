"""Logs of conversations, and model versions that are encoders."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0008"


def upgrade(operations: Operations) -> None:
    """Create the table of imported logs; every model version so far answers intents."""
    operations.create_table(
        "conversation_log",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("tree_sha256", sa.Text, nullable=False),
        sa.Column("n_dialogues", sa.Integer, nullable=False),
        sa.Column("n_turns", sa.Integer, nullable=False),
        sa.Column("n_user_turns", sa.Integer, nullable=False),
        sa.Column("masked", sa.Text, nullable=True),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversation_log"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_conversation_log_project_id"
        ),
        sqlite_strict=True,
    )
    operations.create_index("ix_conversation_log_project_id", "conversation_log", ["project_id"])
    kind = sa.Column("kind", sa.Text, nullable=False, server_default="intents")
    operations.add_column("model_version", kind)
