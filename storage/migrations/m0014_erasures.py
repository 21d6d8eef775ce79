"""Keep what was erased when and by whom, without what it said."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0014"


def upgrade(operations: Operations) -> None:
    """Create the table of erasures."""
    operations.create_table(
        "erasure",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("tombstones", sa.Text, nullable=False),
        sa.Column("data_versions", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_erasure_project_id"),
        sqlite_strict=True,
    )
