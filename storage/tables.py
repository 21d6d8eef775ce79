"""The tables; every change to them is a migration in `storage/migrations`."""

import json
from typing import Any

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
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class JsonText(TypeDecorator[Any]):
    """A JSON value in a TEXT column, since STRICT tables have no JSON type; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Write JSON."""
        return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Read JSON."""
        return None if value is None else json.loads(value)


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
    Column("auto_promote", Integer, nullable=False, server_default="0"),
    Column("fence", JsonText, nullable=True),
    Column("deleted_name", Text, nullable=True),
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
    Column("via", Text, nullable=False, server_default=""),
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
    Column("before", JsonText, nullable=True),
    Column("after", JsonText, nullable=True),
    CheckConstraint("subject IN ('utterance', 'intent')", name="subject"),
    Index("ix_event_subject", "project_id", "subject_id"),
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
    Column("labels", JsonText, nullable=True),
    Column("skipped", Integer, nullable=False),
    Column("flagged", Text, nullable=False),
    Column("slots", JsonText, nullable=False, server_default="[]"),
    Column("synthetic", Text, nullable=False, server_default=""),
    Column("beside", Text, nullable=False, server_default=""),
    # Revisions: they give the order "newest first".
    Column("added_revision", Integer, nullable=False, server_default="0"),
    Column("touched_revision", Integer, nullable=False, server_default="0"),
    CheckConstraint("split IN ('train', 'test', 'pool')", name="split"),
    Index("ix_utterance_hash", "project_id", "text_hash"),
    # The orders offered to users, so that a late page needs no sort; then texts without a label.
    Index("ix_utterance_added", "project_id", "added_revision"),
    Index("ix_utterance_touched", "project_id", "touched_revision"),
    Index("ix_utterance_text", "project_id", "text", "id"),
    Index(
        "ix_utterance_waiting",
        *("project_id", "skipped", "text_hash", "id"),
        sqlite_where=text("labels IS NULL"),
    ),
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
    Column("lineage", JsonText, nullable=False),
    Column("metrics", JsonText, nullable=False),
    Column("pins", JsonText, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default="intents"),
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
    Column("intents", JsonText, nullable=False),
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
    Column("payload", JsonText, nullable=False),
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
    Column("curve", JsonText, nullable=True),
    Column("result", JsonText, nullable=True),
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

layout = Table(
    "layout",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False, index=True),
    Column("model_version_id", Integer, ForeignKey("model_version.id"), nullable=True),
    Column("method", Text, nullable=False),
    Column("tree_sha256", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("job_id", Text, nullable=True, unique=True),
    Column("created_at", Text, nullable=False),
    sqlite_strict=True,
)

text_group = Table(
    "text_group",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("facts", JsonText, nullable=False),
    Column("centre", LargeBinary, nullable=False),
    Column("merged_into", Integer, nullable=True),
    Column("set_aside", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    sqlite_strict=True,
)

grouped_text = Table(
    "grouped_text",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("utterance_id", Text, primary_key=True),
    Column("group_id", Integer, nullable=False),
    Column("closeness", REAL, nullable=False),
    Index("ix_grouped_text_group", "project_id", "group_id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

conversation_log = Table(
    "conversation_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("tree_sha256", Text, nullable=False),
    Column("n_dialogues", Integer, nullable=False),
    Column("n_turns", Integer, nullable=False),
    Column("n_user_turns", Integer, nullable=False),
    Column("masked", JsonText, nullable=True),
    Column("actor", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("removed_at", Text, nullable=True),
    sqlite_strict=True,
)

receipt = Table(
    "receipt",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("content", JsonText, nullable=False),
    Column("actor", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    sqlite_strict=True,
)

share = Table(
    "share",
    metadata,
    Column("id", Text, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("kind", Text, nullable=False),
    Column("target", Text, nullable=False),  # a receipt's id, or the number of a model version
    Column("token_sha256", Text, nullable=False, unique=True),  # of what is kept for the token
    Column("actor", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=True),
    Column("opened_at", Text, nullable=True),
    Column("stopped_at", Text, nullable=True),
    Column("stopped_by", Text, nullable=True),
    CheckConstraint("kind IN ('receipt', 'report')", name="kind"),
    sqlite_strict=True,
)

act = Table(
    "act",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False, index=True),
    Column("at", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("about", Text, nullable=False),
    sqlite_strict=True,
)

preference = Table(
    "preference",
    metadata,
    Column("project_id", Integer, _project(), primary_key=True),
    Column("actor", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", JsonText, nullable=False),
    Column("at", Text, nullable=False),
    sqlite_strict=True,
)

erasure = Table(
    "erasure",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, _project(), nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("tombstones", JsonText, nullable=False),
    # [number, SHA-256 before, SHA-256 after] of each data version that held the texts.
    Column("data_versions", JsonText, nullable=False),
    sqlite_strict=True,
)

answered_request = Table(
    "answered_request",
    metadata,
    Column("key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("at", Text, nullable=False),
    sqlite_strict=True,
)

vector = Table(
    "vector",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("text_hash", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    Column("checksum", Integer, nullable=False, server_default="0"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
