"""Store evidence of single answers, so that a link to it always shows the same."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0009"


def upgrade(operations: Operations) -> None:
    """Create the table of receipts."""
    operations.create_table(
        "receipt",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_receipt"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_receipt_project_id"),
        sqlite_strict=True,
    )
