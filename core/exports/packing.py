"""Write a handover as one file, a zip or a folder; the same files give the same bytes."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from core.errors import InvalidInput
from core.exports.targets import TargetFormat
from core.files import write_atomically

_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every entry: the earliest that a zip can hold."""
_RIGHTS = 0o644 << 16
_ZIP = ".zip"
_SAME = {".yaml": ".yml", ".ndjson": ".jsonl"}
"""Endings that mean what another one does."""


def check_out(target: TargetFormat, out: Path) -> None:
    """Refuse a name that does not fit what is written there.

    Raises:
        InvalidInput: It has another ending, is that of one file where there are several, or a
            folder with files.
    """
    ending = out.suffix.lower()
    if ending == _ZIP or (target.single and _SAME.get(ending, ending) == target.ending):
        return
    if target.single:
        raise InvalidInput(
            f"{target.title} is told by its ending, and '{out.name}' has another.",
            f"End it with {target.ending}, or with .zip.",
        )
    if out.suffix and not out.is_dir():
        raise InvalidInput(
            f"{target.title} is several files, and '{out.name}' names one.",
            "End it with .zip, or name a folder without an ending.",
        )
    if out.is_dir() and any(out.iterdir()):
        raise InvalidInput(
            f"The folder {out} holds files already.",
            "Name a new folder, or a zip.",
        )


def write_handover(files: Mapping[str, bytes], target: TargetFormat, out: Path) -> None:
    """Write files to a place that `check_out` allows."""
    if out.suffix.lower() == _ZIP:
        write_atomically(out, [zipped(files)])
    elif target.single:
        (content,) = files.values()
        write_atomically(out, [content])
    else:
        for name, content in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, [content])


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _THEN)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _RIGHTS
            archive.writestr(entry, content)
    return out.getvalue()
