"""Tables of the traffic: a text that was said forty times is one utterance, and forty rows."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from storage.tables import metadata

said_text = Table(
    "said_text",
    metadata,
    Column("project_id", Integer, ForeignKey("project.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("utterance_id", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("log_id", Integer, nullable=True),
    Index("ix_said_text_at", "project_id", "at"),
    Index("ix_said_text_utterance", "project_id", "utterance_id"),
    Index("ix_said_text_log", "project_id", "log_id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

said_log = Table(
    "said_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("project.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", Text, nullable=False),
    UniqueConstraint("project_id", "key"),
    sqlite_strict=True,
)
"""Logs that were imported; `said_text.log_id` tells which rows came with one."""

sampled_day = Table(
    "sampled_day",
    metadata,
    Column("project_id", Integer, ForeignKey("project.id"), primary_key=True),
    Column("day", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("below", Integer, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
"""Days of which the sample left out texts: those of the rank `below` and above."""
