"""Links that show one receipt or one report to somebody without the launch token."""

import sqlalchemy as sa
from alembic.operations import Operations

REVISION = "0015"


def upgrade(operations: Operations) -> None:
    """Create the table of shared links."""
    operations.create_table(
        "share",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("token_sha256", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=True),
        sa.Column("opened_at", sa.Text, nullable=True),
        sa.Column("stopped_at", sa.Text, nullable=True),
        sa.Column("stopped_by", sa.Text, nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_share_project_id"),
        sa.UniqueConstraint("token_sha256", name="uq_share_token_sha256"),
        sa.CheckConstraint("kind IN ('receipt', 'report')", name="ck_share_kind"),
        sqlite_strict=True,
    )
