"""Times for people to read; no decision of the studio ever rests on them."""

from datetime import UTC, datetime


def now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
