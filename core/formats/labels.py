"""What cells say about labels and splits."""

from pathlib import Path

from core.errors import InvalidInput
from core.types import Split

_SPLITS: dict[str, Split] = {
    "train": "train",
    "test": "test",
    "pool": "pool",
}


def split_intents(cell: str, separator: str | None) -> tuple[str, ...] | None:
    """Read a cell of intents; an empty one is unlabelled."""
    parts = [cell] if separator is None else cell.split(separator)
    names = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return names or None


def read_split(path: Path, line: int, cell: str) -> Split | None:
    """Read the name of a split; an empty cell says nothing.

    Raises:
        InvalidInput: The name is not that of a split.
    """
    if not cell.strip():
        return None
    found = _SPLITS.get(cell.strip().lower())
    if found is None:
        raise InvalidInput(
            f"{path}, row {line}: '{cell}' is no split.", "Splits are train, test and pool."
        )
    return found
