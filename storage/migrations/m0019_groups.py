"""Keep the groups of unlabelled texts that the Discover page shows."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0019"


def upgrade(operations: Operations) -> None:
    """Create the tables of groups and of the texts in them."""
    operations.create_table(
        "text_group",
        sa.Column(
            "project_id",
            sa.Integer,
            sa.ForeignKey("project.id", name="fk_text_group_project_id"),
            primary_key=True,
        ),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("centre", sa.LargeBinary, nullable=False),
        sa.Column("merged_into", sa.Integer, nullable=True),
        sa.Column("set_aside", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    operations.create_table(
        "grouped_text",
        sa.Column(
            "project_id",
            sa.Integer,
            sa.ForeignKey("project.id", name="fk_grouped_text_project_id"),
            primary_key=True,
        ),
        sa.Column("utterance_id", sa.Text, primary_key=True),
        sa.Column("group_id", sa.Integer, nullable=False),
        sa.Column("closeness", sa.REAL, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    operations.create_index("ix_grouped_text_group", "grouped_text", ["project_id", "group_id"])
