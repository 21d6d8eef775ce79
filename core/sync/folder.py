"""A project as a folder of text files, for git: read with every line checked, written atomically.

`project.json` has the task, the settings, and which version was live. `intents.jsonl` and
`utterances.jsonl` have one a line, by id, and `pins.jsonl` one a line, by text.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, get_args

from core.errors import Conflict, InvalidInput
from core.files import sweep_parts, write_atomically
from core.sync.lines import INTENT, PIN, UTTERANCE, LineField, json_object, read_lines, refuse
from core.sync.lines import written as lines_of
from core.sync.merge import Row, Rows, merged
from core.templates.moved_slots import normalised
from core.templates.slots import Slot, slotted
from core.text import normalise, plain_name
from core.types import Method, Task

PROJECT, INTENTS, UTTERANCES, PINS = (
    *("project.json", "intents.jsonl", "utterances.jsonl"),
    "pins.jsonl",
)
DEFAULTS: Mapping[str, Any] = {"auto_promote": False, "fence": None}
"""Settings of a new project."""
_FORMAT = 1
_MOST_SETTINGS = 1 << 20
"""Bytes."""
_ATTRIBUTES = ".gitattributes"
_DRIVER = b"merge=intent-studio"
_OTHER_DRIVER = re.compile(rb"^\*\.jsonl\b.*\bmerge\b", re.MULTILINE)
_DRIVEN = b"*.json text eol=lf\n*.jsonl text eol=lf merge=intent-studio\n"
"""A clone whose settings name no such driver merges line by line."""
_FARTHEST = 1_000.0
"""The largest threshold of a fence."""

Lines = Mapping[str, int]
"""The line of each row, by key, from 1."""
Stamp = tuple[int, int, int] | None
"""What tells that a file was replaced or changed; None for one that is not there."""


@dataclass(frozen=True, slots=True)
class ProjectText:
    """A project's data as rows by key; of a folder, with the line where each row stands.

    Attributes:
        settings: By name, each `{"value": ...}`.
        bundle: Which live version the project had that wrote last; None without one.
        stamps: Of a folder, those of its files before they were read.
    """

    task: Task
    settings: Rows = field(default_factory=dict)
    bundle: Row | None = None
    intents: Rows = field(default_factory=dict)
    utterances: Rows = field(default_factory=dict)
    pins: Rows = field(default_factory=dict)
    lines: Mapping[str, Lines] = field(default_factory=dict)
    stamps: Mapping[str, Stamp] = field(default_factory=dict)


def read_folder(folder: Path, *, known: bool) -> ProjectText | None:
    """Read a folder; None for one that holds no project yet.

    `known` is whether the folder was synced before: then a file that is missing is no new folder.

    Raises:
        InvalidInput: A file or a line cannot be used; it is named.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder.", "Name a folder.")
    there = [name for name in (PROJECT, UTTERANCES) if _is_there(folder / name)]
    if not there and not known:
        return None
    # Of a first sync that was killed, utterances are missing: they are written last.
    needed = (PROJECT, INTENTS, UTTERANCES, PINS) if known else (PROJECT,)
    for name in needed:
        if not _is_there(folder / name):
            hint = f"Take it back: git checkout {name}. A new folder is written whole."
            raise InvalidInput(f"{name} is missing in {folder}.", hint)
    stamps = _stamps(folder)
    task, settings, bundle = _read_project(folder)
    intents, of_intents = _read(folder, INTENTS, INTENT, _intent)
    utterances, of_utterances = _read(folder, UTTERANCES, UTTERANCE, _utterance)
    pins, of_pins = _read(folder, PINS, PIN, _pin)
    lines = {INTENTS: of_intents, UTTERANCES: of_utterances, PINS: of_pins}
    found = ProjectText(task, settings, bundle, intents, utterances, pins, lines, stamps)
    _check(found)
    return found


def folder_content(before: ProjectText | None, after: ProjectText) -> tuple[tuple[str, bytes], ...]:
    """Return the files of a folder in the order in which they are to be written.

    Intents that are gone stay until no other file names them, and utterances are written last: a
    kill leaves a folder that can be read and merged.
    """
    earlier = {} if before is None else before.intents
    return (
        (INTENTS, lines_of(merged(earlier, dict(after.intents)), INTENT)),
        (PINS, lines_of(after.pins, PIN)),
        (PROJECT, _project_lines(after)),
        (UTTERANCES, lines_of(after.utterances, UTTERANCE)),
        (INTENTS, lines_of(after.intents, INTENT)),
    )


def write_folder(
    folder: Path, before: ProjectText | None, content: Iterable[tuple[str, bytes]]
) -> None:
    """Write the files that differ, each atomically.

    Raises:
        Conflict: A file was changed since it was read; nothing is written.
        InvalidInput: The folder cannot be written.
    """
    if before is not None and _stamps(folder) != before.stamps:
        raise Conflict("The folder was changed while it was read.", "Sync again.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "Check the path, and its permissions."
        raise InvalidInput(f"{folder} cannot be made: {error.strerror}.", hint) from error
    sweep_parts(folder)
    _name_driver(folder / _ATTRIBUTES)
    for name, lines in content:
        _replace(folder / name, lines)


def _name_driver(path: Path) -> None:
    """Name the merge driver behind the attributes that are there, unless they name another."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return
    try:
        before = path.read_bytes()
    except FileNotFoundError:
        before = b""
    except OSError:
        return
    if _DRIVER not in before and not _OTHER_DRIVER.search(before):
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        write_atomically(path, [before, gap, _DRIVEN])


def _project_lines(after: ProjectText) -> bytes:
    told = {
        "bundle": after.bundle,
        "format": _FORMAT,
        "settings": {name: row["value"] for name, row in after.settings.items()},
        "task": after.task,
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"


def _replace(path: Path, content: bytes) -> None:
    with suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    write_atomically(path, [content])


def _stamps(folder: Path) -> dict[str, Stamp]:
    return {name: _stamp(folder / name) for name in (PROJECT, INTENTS, UTTERANCES, PINS)}


def _stamp(path: Path) -> Stamp:
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _is_there(path: Path) -> bool:
    """Whether there is a file; a link or a folder is refused, since git can bring one."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{path} is no plain file.", "Put the file itself there, not a link.")
    return True


def _open(path: Path) -> IO[bytes]:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Look at it.") from error


def _read(
    folder: Path,
    file: str,
    fields: Mapping[str, LineField],
    finish: Callable[[dict[str, Any], int], dict[str, Any]],
) -> tuple[dict[str, Row], Lines]:
    rows: dict[str, Row] = {}
    lines: dict[str, int] = {}
    if not _is_there(folder / file):
        return rows, lines
    key = next(iter(fields))
    with _open(folder / file) as stream:
        for number, raw in read_lines(stream, file, fields):
            row = finish(raw, number)
            if row[key] in rows:
                what = f"{key} '{row[key][:60]}' stands in line {lines[row[key]]}, too."
                refuse(file, number, what, "Keep one of the two lines.")
            rows[row[key]], lines[row[key]] = row, number
    return rows, lines


def _utterance(row: dict[str, Any], line: int) -> dict[str, Any]:
    try:
        said = slotted(row["text"], (Slot(*slot) for slot in row["slots"]))
    except InvalidInput as error:
        refuse(UTTERANCES, line, error.message, error.hint)
    if row["synthetic"] and row["split"] == "test":
        refuse(UTTERANCES, line, "a synthetic text cannot be a test.", "Leave it in train or pool.")
    said = normalised(said)
    return row | {
        "text": said.text,
        "slots": [[slot.start, slot.end, slot.name] for slot in said.slots],
        "labels": None if row["labels"] is None else sorted(row["labels"]),
    }


def _intent(row: dict[str, Any], _: int) -> dict[str, Any]:
    return row | {"name": plain_name(row["name"])}


def _pin(row: dict[str, Any], _: int) -> dict[str, Any]:
    return row | {"text": normalise(row["text"]), "intents": sorted(row["intents"])}


def _read_project(folder: Path) -> tuple[Task, dict[str, Row], Row | None]:
    with _open(folder / PROJECT) as stream:
        content = stream.read(_MOST_SETTINGS + 1)
    if len(content) > _MOST_SETTINGS:
        refuse(PROJECT, 1, "the file is larger than a megabyte.", "Take it back with git.")
    number = next((n for n, line in enumerate(content.splitlines(), 1) if _is_mark(line)), 0)
    if number:
        refuse(PROJECT, number, "git could not merge two changes here.", "Choose one of the two.")
    value = json_object(content, PROJECT, 1)
    if value.get("format") != _FORMAT:
        refuse(PROJECT, 1, "this is not format 1 of a project.", "Update Intent Studio.")
    settings: Any = value.get("settings")
    task: Any = value.get("task")
    bundle: Any = value.get("bundle")
    if task not in get_args(Task):
        refuse(PROJECT, 1, "'task' does not fit.", f"Write {' or '.join(get_args(Task))}.")
    if not _are_settings(settings) or not (bundle is None or isinstance(bundle, dict)):
        refuse(PROJECT, 1, "'settings' or 'bundle' does not fit.", "Take the file back with git.")
    told: dict[str, Row] = {name: {"value": one} for name, one in {**DEFAULTS, **settings}.items()}
    return task, told, bundle


def _are_settings(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= {"auto_promote", "fence"}:
        return False
    fence = value.get("fence")
    return isinstance(value.get("auto_promote", False), bool) and (
        fence is None or (isinstance(fence, dict) and _is_fence(**fence))
    )


def _is_fence(limit: Any = None, limits: Any = None, method: Any = "votes", **other: Any) -> bool:
    numbers = [] if limit is None else [limit]
    numbers += limits.values() if isinstance(limits, dict) else ()
    known = not other and method in get_args(Method)
    whole = limits is None or isinstance(limits, dict)
    return known and whole and all(type(n) in (int, float) and abs(n) <= _FARTHEST for n in numbers)


def _is_mark(line: bytes) -> bool:
    return line.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))


def _check(found: ProjectText) -> None:
    """Refuse what one line alone does not show: unknown intents, names given twice."""
    named: dict[str, int] = {}
    for key, row in found.intents.items():
        line = found.lines[INTENTS][key]
        if (other := named.setdefault(row["name"], line)) != line:
            what = f"the name '{row['name']}' stands in line {other}, too."
            hint = "Give one of the two another name here; the two can be merged on the Data page."
            refuse(INTENTS, line, what, hint)
    for file, line, intents in _uses(found):
        unknown = next((key for key in intents if key not in found.intents), None)
        if unknown is not None:
            what = f"there is no intent '{unknown}' in {INTENTS}."
            refuse(file, line, what, "Use the id of one that stands there.")
        if found.task == "single-label" and len(intents) > 1:
            refuse(file, line, "there are several intents.", "This project takes one for a text.")


def _uses(found: ProjectText) -> Iterator[tuple[str, int, list[str]]]:
    for key, row in found.utterances.items():
        yield UTTERANCES, found.lines[UTTERANCES][key], row["labels"] or []
    fence = found.settings.get("fence", {"value": None})["value"] or {}
    yield from ((PROJECT, 1, [key]) for key in fence.get("limits") or {})
    for key, row in found.pins.items():
        yield PINS, found.lines[PINS][key], row["intents"]
