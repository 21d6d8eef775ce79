"""Stored layouts of the embedding map."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0002"


def upgrade(operations: Operations) -> None:
    """Create the table that names a layout's files."""
    operations.create_table(
        "layout",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("model_version_id", sa.Integer, nullable=True),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("tree_sha256", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("job_id", sa.Text, nullable=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_layout"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_layout_project_id"),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_version.id"], name="fk_layout_model_version_id"
        ),
        sa.UniqueConstraint("job_id", name="uq_layout_job_id"),
        sqlite_strict=True,
    )
    operations.create_index("ix_layout_project_id", "layout", ["project_id"])
