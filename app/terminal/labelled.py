"""What a benchmark is given: the labelled rows of files, and lists of numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow

if TYPE_CHECKING:
    from core.benchmarks.few_shot import LabelledTexts


def labelled_texts(path: Path) -> "LabelledTexts":
    """Read a file's labelled rows; of several intents the first counts.

    Raises:
        InvalidInput: The file cannot be read, or no row has a label.
    """
    from core.benchmarks.few_shot import LabelledTexts

    rows = [row for row in read_rows(path) if isinstance(row, ImportedRow) and row.intents]
    if not rows:
        raise InvalidInput(f"{path} has no labelled row.", "Name a file with intents.")
    texts = tuple(row.text.strip() for row in rows)
    return LabelledTexts(texts, tuple(row.intents[0] for row in rows if row.intents))


def numbers(listed: str, example: str) -> list[int]:
    """Read numbers between commas.

    Args:
        listed: As typed.
        example: An option written rightly, for whoever has not.

    Raises:
        InvalidInput: A part is no number.
    """
    parts = [part.strip() for part in listed.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InvalidInput(f"'{listed}' is no list of numbers.", f"Write {example}, say.")
    return [int(part) for part in parts]
