"""How git merges the files of a folder: by rows; its own way fails on lines next to each other."""

from collections.abc import Mapping
from io import BytesIO

from core.errors import InvalidInput
from core.sync.folder import INTENTS, PINS, UTTERANCES
from core.sync.lines import (
    INTENT,
    INTENT_PARTS,
    PIN,
    PIN_PARTS,
    UTTERANCE,
    UTTERANCE_PARTS,
    LineField,
    read_lines,
    refuse,
    written_line,
)
from core.sync.merge import Row, merge, merged

_KINDS = {
    INTENTS: (INTENT, INTENT_PARTS),
    PINS: (PIN, PIN_PARTS),
    UTTERANCES: (UTTERANCE, UTTERANCE_PARTS),
}


def merge_files(base: bytes, ours: bytes, theirs: bytes, file: str) -> tuple[bytes, int]:
    """Merge two versions of a file with the one that both come from.

    Returns the merged file, and the number of rows that both changed differently. Both of their
    lines stand in it, between the marks by which git tells of a conflict.

    Raises:
        InvalidInput: A line is broken, or no such file is of a project.
    """
    if file not in _KINDS:
        raise InvalidInput(f"{file} is no file of a project.", f"Use it for {', '.join(_KINDS)}.")
    fields, parts = _KINDS[file]
    was, mine, other = (_rows(content, file, fields) for content in (base, ours, theirs))
    found = merge(was, mine, other, parts)
    agreed = merged(mine, found.to_project)
    pieces: list[bytes] = []
    for key in sorted({*agreed, *found.conflicts}):
        if key in found.conflicts:
            sides = [
                b"" if key not in of else written_line(of[key], fields) for of in (mine, other)
            ]
            pieces += [b"<<<<<<< ours\n", sides[0], b"=======\n", sides[1], b">>>>>>> theirs\n"]
        else:
            pieces.append(written_line(agreed[key], fields))
    return b"".join(pieces), len(found.conflicts)


def _rows(content: bytes, file: str, fields: Mapping[str, LineField]) -> dict[str, Row]:
    key, rows = next(iter(fields)), dict[str, Row]()
    for number, row in read_lines(BytesIO(content), file, fields):
        if row[key] in rows:
            refuse(file, number, f"{key} '{row[key][:60]}' stands there twice.", "Keep one.")
        rows[row[key]] = row
    return rows
