"""Keep a checksum of each row in an index, so that a changed cell is named.

`docs/decisions/0014-row-checksums.md` tells why an index.
"""

from alembic.operations import Operations

REVISION = "0024"

_COLUMNS = {
    "act": "id project_id at actor via verb about",
    "alias": "id project_id name model_version_id actor at",
    "answered_request": "key digest status answer at",
    "batch": "id project_id key verb actor origin at last_revision undoes undone_by via",
    "blob": "sha256 size",
    "conversation_log": (
        "id project_id source tree_sha256 n_dialogues n_turns n_user_turns masked actor "
        "created_at removed_at"
    ),
    "dataset_version": (
        "id project_id number revision scheme sha256 n_rows message parent_id created_at"
    ),
    "erasure": "id project_id actor at tombstones data_versions",
    "event": "project_id revision batch_id subject subject_id field before after",
    "grouped_text": "project_id utterance_id group_id closeness",
    "intent": "project_id id name description color position archived",
    "job": (
        "id sequence kind project_id payload device state attempt max_attempts "
        "cancel_requested beat progress stage eta_seconds message hint log_tail curve "
        "result created_at started_at finished_at"
    ),
    "layout": "id project_id model_version_id method tree_sha256 n job_id created_at",
    "model_version": (
        "id project_id number tree_sha256 dataset_version_id job_id lineage metrics "
        "pins created_at kind"
    ),
    "pin": "project_id text_hash text intents actor at",
    "preference": "project_id actor kind name value at",
    "project": "id name task head_revision created_at auto_promote fence deleted_name",
    "receipt": "id project_id content actor created_at",
    "said_log": "id project_id key name at",
    "said_text": "project_id key utterance_id at source rank log_id",
    "sampled_day": "project_id day source below",
    "share": (
        "id project_id kind target token_sha256 actor created_at expires_at opened_at "
        "stopped_at stopped_by"
    ),
    "text_group": "project_id id name facts centre merged_into set_aside created_at",
    "tree": "sha256 path blob_sha256",
    "utterance": (
        "project_id id text text_hash split source labels skipped flagged slots "
        "synthetic beside added_revision touched_revision"
    ),
    "alembic_version": "version_num",
}
_RISING = {
    "act": "id",
    "alias": "id",
    "batch": "id",
    "conversation_log": "id",
    "dataset_version": "id",
    "erasure": "id",
    "event": "revision",
    "layout": "id",
    "model_version": "id",
    "project": "id",
    "said_log": "id",
    "utterance": "added_revision",
}
"""Columns that grow from row to row: the entries of rows written together lie together."""
_REAL = {"grouped_text": ("closeness",), "job": ("progress", "eta_seconds")}
"""Compared as they are: releases of SQLite write fractions as text in different ways."""
_BYTES = {"text_group": ("centre",)}


def upgrade(operations: Operations) -> None:
    """Create the index of each table; SQLite computes the sums of the rows that are there."""
    connection = operations.get_bind()
    for table, words in _COLUMNS.items():
        key = _sum(table, words.split())
        if table in _RISING:
            key = f'(("{_RISING[table]}" << 32) | {key})'
        parts = ", ".join([key, *(f'"{name}"' for name in _REAL.get(table, ()))])
        connection.exec_driver_sql(f'CREATE INDEX "ix_{table}_sum" ON "{table}" ({parts})')


def _sum(table: str, columns: list[str]) -> str:
    """Return the expression of a row's CRC-32, of its values as a JSON list."""
    values = [
        f'hex("{name}")' if name in _BYTES.get(table, ()) else f'"{name}"'
        for name in columns
        if name not in _REAL.get(table, ())
    ]
    return f"crc32(CAST(json_array({', '.join(values)}) AS BLOB))"
