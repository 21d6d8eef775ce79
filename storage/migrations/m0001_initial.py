"""The first schema, frozen: `storage/tables.py` has changed since."""

from alembic.operations import Operations
from sqlalchemy import (
    REAL,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

REVISION = "0001"

metadata = MetaData(
    naming_convention={
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _project() -> ForeignKey:
    return ForeignKey("project.id")


project = Table(
    "project",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("task", Text, nullable=False),
    Column("head_revision", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    CheckConstraint("task IN ('single-label', 'multi-label')", name="task"),
    sqlite_strict=True,
)

batch = Table(
    "batch",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("key", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("last_revision", Integer, nullable=False),
    Column("undoes", Integer, ForeignKey("batch.id"), nullable=True),
    Column("undone_by", Integer, ForeignKey("batch.id"), nullable=True),
    UniqueConstraint("project_id", "key", name="uq_batch_key"),
    sqlite_strict=True,
)

event = Table(
    "event",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("batch_id", Integer, ForeignKey("batch.id"), nullable=False, index=True),
    Column("subject", Text, nullable=False),
    Column("subject_id", Text, nullable=False),
    Column("field", Text, nullable=False),
    Column("before", Text, nullable=True),
    Column("after", Text, nullable=True),
    CheckConstraint("subject IN ('utterance', 'intent')", name="subject"),
    sqlite_strict=True,
)

intent = Table(
    "intent",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("color", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("archived", Integer, nullable=False),
    UniqueConstraint("project_id", "name", name="uq_intent_name"),
    sqlite_strict=True,
)

utterance = Table(
    "utterance",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("split", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("labels", Text, nullable=True),
    Column("skipped", Integer, nullable=False),
    Column("flagged", Text, nullable=False),
    CheckConstraint("split IN ('train', 'test', 'pool')", name="split"),
    Index("ix_utterance_hash", "project_id", "text_hash"),
    sqlite_strict=True,
)

dataset_version = Table(
    "dataset_version",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("number", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("scheme", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("n_rows", Integer, nullable=False),
    Column("message", Text, nullable=False),
    Column("parent_id", Integer, ForeignKey("dataset_version.id"), nullable=True),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("project_id", "number", name="uq_dataset_version_number"),
    sqlite_strict=True,
)

model_version = Table(
    "model_version",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("number", Integer, nullable=False),
    Column("tree_sha256", Text, nullable=False),
    Column("dataset_version_id", Integer, ForeignKey("dataset_version.id"), nullable=True),
    Column("job_id", Text, nullable=True, unique=True),
    Column("lineage", Text, nullable=False),
    Column("metrics", Text, nullable=False),
    Column("pins", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("project_id", "number", name="uq_model_version_number"),
    sqlite_strict=True,
)

alias = Table(
    "alias",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("name", Text, nullable=False),
    Column("model_version_id", Integer, ForeignKey("model_version.id"), nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Text, nullable=False),
    sqlite_strict=True,
)

pin = Table(
    "pin",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("text_hash", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("intent_id", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Text, nullable=False),
    sqlite_strict=True,
)

job = Table(
    "job",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sequence", Integer, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("project_id", Integer, _project(), nullable=True),
    Column("payload", Text, nullable=False),
    Column("device", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    Column("cancel_requested", Integer, nullable=False),
    Column("beat", Integer, nullable=False),
    Column("progress", REAL, nullable=False),
    Column("stage", Text, nullable=False),
    Column("eta_seconds", REAL, nullable=True),
    Column("message", Text, nullable=False),
    Column("hint", Text, nullable=False),
    Column("log_tail", Text, nullable=False),
    Column("result", Text, nullable=True),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text, nullable=True),
    Column("finished_at", Text, nullable=True),
    CheckConstraint(
        "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="state"
    ),
    sqlite_strict=True,
)

blob = Table(
    "blob",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("size", Integer, nullable=False),
    sqlite_strict=True,
)

tree = Table(
    "tree",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("blob_sha256", Text, ForeignKey("blob.sha256"), nullable=False),
    sqlite_strict=True,
)

vector = Table(
    "vector",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("text_hash", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

APPEND_ONLY = tuple(
    f"CREATE TRIGGER event_no_{verb.lower()} BEFORE {verb} ON event "
    "BEGIN SELECT RAISE(ABORT, 'the event log is append-only'); END"
    for verb in ("UPDATE", "DELETE")
)


def upgrade(operations: Operations) -> None:
    """Create the tables of the first release, and the triggers that keep the log immutable."""
    connection = operations.get_bind()
    metadata.create_all(connection)
    if connection.dialect.name == "sqlite":
        for trigger in APPEND_ONLY:
            connection.exec_driver_sql(trigger)
