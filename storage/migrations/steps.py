"""The migrations in order; one transaction migrates a database to the newest schema."""

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.engine import Connection

from storage.migrations import (
    m0001_initial,
    m0002_layouts,
    m0003_order,
    m0004_gate,
    m0005_pages,
    m0006_pins,
    m0007_fence,
    m0008_dialogues,
    m0009_receipts,
    m0010_slots,
    m0011_deleted_projects,
    m0012_preferences,
    m0013_waiting_texts,
    m0014_erasures,
    m0015_shares,
    m0016_acts,
    m0017_request_keys,
    m0018_removed_logs,
    m0019_groups,
    m0020_traffic,
    m0021_said_logs,
    m0022_beside,
    m0023_checksums,
    m0024_row_sums,
    m0025_lost_intents,
)
from storage.soundness.checksums import note_schema

STEPS = (
    (m0001_initial.REVISION, m0001_initial.upgrade),
    (m0002_layouts.REVISION, m0002_layouts.upgrade),
    (m0003_order.REVISION, m0003_order.upgrade),
    (m0004_gate.REVISION, m0004_gate.upgrade),
    (m0005_pages.REVISION, m0005_pages.upgrade),
    (m0006_pins.REVISION, m0006_pins.upgrade),
    (m0007_fence.REVISION, m0007_fence.upgrade),
    (m0008_dialogues.REVISION, m0008_dialogues.upgrade),
    (m0009_receipts.REVISION, m0009_receipts.upgrade),
    (m0010_slots.REVISION, m0010_slots.upgrade),
    (m0011_deleted_projects.REVISION, m0011_deleted_projects.upgrade),
    (m0012_preferences.REVISION, m0012_preferences.upgrade),
    (m0013_waiting_texts.REVISION, m0013_waiting_texts.upgrade),
    (m0014_erasures.REVISION, m0014_erasures.upgrade),
    (m0015_shares.REVISION, m0015_shares.upgrade),
    (m0016_acts.REVISION, m0016_acts.upgrade),
    (m0017_request_keys.REVISION, m0017_request_keys.upgrade),
    (m0018_removed_logs.REVISION, m0018_removed_logs.upgrade),
    (m0019_groups.REVISION, m0019_groups.upgrade),
    (m0020_traffic.REVISION, m0020_traffic.upgrade),
    (m0021_said_logs.REVISION, m0021_said_logs.upgrade),
    (m0022_beside.REVISION, m0022_beside.upgrade),
    (m0023_checksums.REVISION, m0023_checksums.upgrade),
    (m0024_row_sums.REVISION, m0024_row_sums.upgrade),
    (m0025_lost_intents.REVISION, m0025_lost_intents.upgrade),
)


def migrate(connection: Connection) -> None:
    """Run every step that is newer than the database, within the caller's transaction.

    If interrupted, the transaction rolls back to the old schema.
    """
    context = MigrationContext.configure(connection, opts={"transactional_ddl": True})
    context._ensure_version_table()
    operations = Operations(context)
    found = context.get_current_revision()
    for revision, upgrade in STEPS:
        if found is None or revision > found:
            upgrade(operations)
            _stamp(connection, revision)
    note_schema(connection.connection.driver_connection)


def _stamp(connection: Connection, revision: str) -> None:
    connection.exec_driver_sql("DELETE FROM alembic_version")
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{revision}')")
