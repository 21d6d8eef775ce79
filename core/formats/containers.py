"""Recognise Excel workbooks and Parquet files by their content, whatever their name ends in."""

import zipfile
from pathlib import Path
from typing import Literal

from core.files import has_large_directory

Container = Literal["xlsx", "parquet"]

_ZIP = b"PK\x03\x04"
_PARQUET = b"PAR1"
_WORKBOOK = "xl/workbook.xml"


def find_container(path: Path) -> Container | None:
    """Return the kind of a binary file of tables; None for text and for everything else."""
    if not path.is_file():  # a pipe or a device may never end
        return None
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
        if start == _PARQUET:
            return "parquet"
        if start == _ZIP and not has_large_directory(path):
            with zipfile.ZipFile(path) as archive:
                return "xlsx" if _WORKBOOK in archive.namelist() else None
    except (OSError, zipfile.BadZipFile):
        return None
    return None
