"""Keep goals and filters of each person in a project."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0012"


def upgrade(operations: Operations) -> None:
    """Create the table of preferences."""
    operations.create_table(
        "preference",
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "actor", "kind", "name", name="pk_preference"),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_preference_project_id"),
        sqlite_strict=True,
    )
