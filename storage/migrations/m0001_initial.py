"""The first schema."""

from alembic.operations import Operations

from storage.tables import APPEND_ONLY, metadata

REVISION = "0001"


def upgrade(operations: Operations) -> None:
    """Create every table. Once a second migration exists, this one gets its own copy of them."""
    connection = operations.get_bind()
    metadata.create_all(connection)
    if connection.dialect.name == "sqlite":
        for trigger in APPEND_ONLY:
            connection.exec_driver_sql(trigger)
