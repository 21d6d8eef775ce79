"""Let a pin expect any number of intents."""

from alembic.operations import Operations

REVISION = "0006"


def upgrade(operations: Operations) -> None:
    """Turn the one expected intent into a list of one."""
    operations.execute("ALTER TABLE pin RENAME COLUMN intent_id TO intents")
    operations.execute("UPDATE pin SET intents = '[\"' || intents || '\"]'")
