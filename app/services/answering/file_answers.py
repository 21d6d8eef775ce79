"""Answer the texts of a file of any size into another file; a killed run goes on where it was.

Answers go into `TARGET.part`. `TARGET.part.json` says after each chunk how many lines of the source
are answered, how many bytes of the part are theirs, and by what they were answered. Of a link, both
stand beside the file that it points to.
"""

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO

from app.jobs.lock import take_lock
from app.services.answering.file_models import Decide, FileModel
from core.deciding import Decided
from core.errors import InvalidInput
from core.files import file_sha256, make_folder, sync_file, sync_folder, write_atomically
from core.formats.reading import read_rows
from core.formats.rows import SEPARATOR, AnswerFormat, ImportedRow
from core.formats.writing import defused
from core.types import EncodingPrecision

COLUMNS = ("line", "id", "text", "intents", "probabilities", "rule")

_CHUNK = 8_192
_COMPARED = 1_000
"""Texts of the beginning that both precisions answer, to tell what rounding changes."""

Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FileRequest:
    """What to answer, and where.

    Attributes:
        source: A file of any format that is read; labels in it are ignored.
        format: `spreadsheet` is a CSV in which no cell is computed. None goes by the target's name:
            `.jsonl` gets an object a line, every other CSV.
    """

    source: Path
    target: Path
    format: AnswerFormat | None = None

    @property
    def written_as(self) -> AnswerFormat:
        """The format in which the answers are written."""
        return self.format or ("jsonl" if self.target.suffix == ".jsonl" else "csv")


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was answered.

    Attributes:
        texts: Lines of the target.
        left_out: Rows of the source without a text, or with one that is too long.
        went_on_at: Texts that an earlier, interrupted run had answered.
        precision: In which the texts were encoded.
        same_answers: Share of the first texts to which float32 gives the same intents; None
            where all were answered in float32, or by a graph.
        seconds: Of this run, without the opening of the model.
    """

    texts: int
    left_out: int
    went_on_at: int
    precision: EncodingPrecision
    same_answers: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class _Progress:
    """What `TARGET.part.json` holds; `rows` counts all rows of the source that are done."""

    answered_by: str
    rows: int = 0
    texts: int = 0
    bytes: int = 0
    same_answers: float | None = None


def answer_file(model: FileModel, request: FileRequest, told: Told) -> FileReport:
    """Answer the texts of a file; `told` gets the numbers of rows that are done and of all.

    Raises:
        InvalidInput: The source cannot be read, or the target cannot be written.
    """
    began = time.monotonic()
    _check_places(request)
    total = sum(1 for _ in read_rows(request.source))
    identity = _answered_by(model, request)
    target = request.target.resolve()  # a link goes on pointing to its file
    make_folder(target.parent)
    with _opened_part(target) as part:
        done = first = _resume(part, target, identity)
        rows = islice(read_rows(request.source), done.rows, None)
        while chunk := list(islice(rows, _CHUNK)):
            found = [row for row in chunk if isinstance(row, ImportedRow)]
            answers = model.decide([row.text for row in found])
            if model.exact is not None and done.same_answers is None:
                done = replace(done, same_answers=_same(model.exact, found, answers))
            part.write(_written(found, answers, request.written_as, has_head=done.bytes > 0))
            done = _kept(part, target, _further(done, len(chunk), len(found)))
            told(done.rows, total)
        if not done.texts:
            raise InvalidInput(f"There is no text in {request.source}.", "Check its columns.")
        _finish(target)
    return FileReport(
        texts=done.texts,
        left_out=done.rows - done.texts,
        went_on_at=first.texts,
        precision=model.precision,
        same_answers=done.same_answers,
        seconds=time.monotonic() - began,
    )


def _check_places(request: FileRequest) -> None:
    if request.target.is_dir():
        raise InvalidInput(f"{request.target} is a folder.", "Name a file in it.")
    if request.target.exists() and not request.target.is_file():
        raise InvalidInput(f"{request.target} is no file.", "Name one.")
    with suppress(OSError):
        if request.source.samefile(request.target):
            raise InvalidInput("The answers would overwrite the texts.", "Name another file.")


def _answered_by(model: FileModel, request: FileRequest) -> str:
    """Identify all that answers depend on, so that a file never holds those of two models."""
    words = (file_sha256(request.source), *model.identity)
    if request.format is not None:
        words += (request.format,)
    return sha256("\n".join(words).encode()).hexdigest()


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


@contextmanager
def _opened_part(target: Path) -> Iterator[IO[bytes]]:
    """Open the part to append to it, for one run at a time, until it is in the target's place."""
    busy = InvalidInput(f"Another run is writing {target}.", "Wait for it, or name another.")
    lock = take_lock(_part(target))
    if lock is None:
        raise busy
    try:
        if not _is_at(lock, _part(target)):
            raise busy
        with _part(target).open("ab") as part:
            yield part
    finally:
        os.close(lock)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an opened file is still at a path; the run that had it may have finished."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _state(target: Path) -> Path:
    return target.with_name(f"{target.name}.part.json")


def _resume(part: IO[bytes], target: Path, identity: str) -> _Progress:
    """Cut the part after its last whole chunk, or empty it where something else answered."""
    done = fresh = _Progress(identity)
    with suppress(OSError, ValueError, TypeError):
        found = _Progress(**json.loads(_state(target).read_text(encoding="utf-8")))
        if found.answered_by == identity and found.bytes <= part.seek(0, io.SEEK_END):
            done = found
    if done is fresh:  # whoever noted how far it was would go on after what comes now
        _state(target).unlink(missing_ok=True)
        sync_folder(target.parent)
    part.truncate(done.bytes)
    part.seek(done.bytes)
    return done


def _further(done: _Progress, rows: int, texts: int) -> _Progress:
    return replace(done, rows=done.rows + rows, texts=done.texts + texts)


def _kept(part: IO[bytes], target: Path, done: _Progress) -> _Progress:
    """Wait until a chunk is on disk, and note it."""
    sync_file(part)
    done = replace(done, bytes=part.tell())
    write_atomically(_state(target), [json.dumps(asdict(done)).encode()])
    return done


def _finish(target: Path) -> None:
    """Put the part in the target's place, with its permissions, or those of any new file."""
    usual = target if target.exists() else _state(target)
    _part(target).chmod(usual.stat().st_mode & 0o777)  # until now it was its owner's alone
    _part(target).replace(target)
    _state(target).unlink()
    sync_folder(target.parent)


def _same(decide: Decide, found: list[ImportedRow], answers: list[Decided]) -> float:
    exact = decide([row.text for row in found[:_COMPARED]])
    pairs = zip(exact, answers, strict=False)
    return sum(a.decision.intents == b.decision.intents for a, b in pairs) / max(1, len(exact))


def _written(
    rows: list[ImportedRow], answers: list[Decided], format: AnswerFormat, *, has_head: bool
) -> bytes:
    pairs = zip(rows, answers, strict=True)
    if format == "jsonl":
        lines = (json.dumps(_as_json(*pair), ensure_ascii=False) + "\n" for pair in pairs)
        return "".join(lines).encode()
    text = io.StringIO()
    writer = csv.writer(text)
    if not has_head:
        writer.writerow(COLUMNS)
    change = defused if format == "spreadsheet" else str
    writer.writerows(map(change, _cells(*pair)) for pair in pairs)
    return text.getvalue().encode()


def _as_json(row: ImportedRow, answer: Decided) -> dict[str, object]:
    return {
        "line": row.line,
        **({} if row.id is None else {"id": row.id}),
        "text": row.text,
        "intents": list(answer.decision.intents),
        "probabilities": [round(share, 6) for share in answer.probabilities],
        "rule": answer.decision.rule,
    }


def _cells(row: ImportedRow, answer: Decided) -> Iterator[str]:
    yield str(row.line)
    yield row.id or ""
    yield row.text
    yield SEPARATOR.join(answer.decision.intents)
    yield SEPARATOR.join(f"{share:.4f}" for share in answer.probabilities)
    yield answer.decision.rule
