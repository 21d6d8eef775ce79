"""Keep every act with its person and where it came from, also those outside the log."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0016"

_EARLIER = (
    """
    SELECT a.project_id, a.at, a.actor, '', CASE a.name
        WHEN 'champion' THEN 'use version' WHEN 'rolled back' THEN 'go back from version'
        WHEN 'discarded' THEN 'discard version' ELSE 'delete version' END, CAST(m.number AS TEXT)
    FROM alias a JOIN model_version m ON m.id = a.model_version_id
    WHERE a.name IN ('champion', 'rolled back', 'discarded', 'deleted')
    """,
    "SELECT project_id, created_at, actor, '', 'receipt', substr(id, 1, 8) FROM receipt",
    """
    SELECT project_id, created_at, actor, '', 'import conversations', source
    FROM conversation_log
    """,
    """
    SELECT project_id, created_at, '', '', 'train', '' FROM job
    WHERE kind = 'train' AND project_id IS NOT NULL
    """,
)
"""What is known of acts before this table, from other tables."""


def upgrade(operations: Operations) -> None:
    """Create the table of acts, fill it with what is known, and give batches their entrance."""
    operations.create_table(
        "act",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("verb", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_act_project_id"),
        sqlite_strict=True,
    )
    operations.create_index("ix_act_project_id", "act", ["project_id"])
    operations.add_column("batch", sa.Column("via", sa.Text, nullable=False, server_default=""))
    for rows in _EARLIER:
        operations.execute(
            sa.text(f"INSERT INTO act (project_id, at, actor, via, verb, about) {rows}")
        )
