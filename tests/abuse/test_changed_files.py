"""Every reader of files meets files that were changed at random: it reads them, or says why not."""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.slots.book import view_book
from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.dialogues import dialogue_line, read_dialogues
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.text import is_storable
from tests.builders.hostile.changed_inputs import (
    changed_bytes,
    changed_json,
    changed_lines,
    changed_member,
    changed_text,
    fuzz,
)
from tests.core.formats.tools.tool_files import DOCCANO, HUMANFIRST, LABEL_STUDIO, ROUTES_JSON
from tests.core.platforms.exports import LUIS, WATSON

CASES = [
    pytest.param(15, id="quick", marks=pytest.mark.quick),
    pytest.param(1_000, id="fire", marks=pytest.mark.fire),
]
LABELS = ["refund", "parcel", "greeting"]
ROWS = [(f"text {n} of the {label}", label) for label in LABELS for n in range(4)]
RASA = 'version: "3.1"\nnlu:\n' + "".join(
    f'- intent: "{label}"\n  examples: |\n    - go to [Rome](city) now\n'
    '    - from [Bonn]{"entity": "city", "role": "from"}\n- intent: b\n  examples:\n'
    '  - text: |\n      hello\n  - text: "quoted"\n'
    for label in LABELS
)
MARKDOWN = "## intent:greet\n- hello [you](who)\n* hi\n## lookup:x\n- a\n"
TURNS = [
    {"id": n, "turns": ["hi", {"speaker": "system", "text": f"what {n}"}, "thanks"]}
    for n in range(4)
]


def lines(values: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def workbook() -> bytes:
    from openpyxl import Workbook

    book, out = Workbook(), BytesIO()
    for row in [("text", "intent"), *ROWS]:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    out = BytesIO()
    table = pyarrow.table({"text": [t for t, _ in ROWS], "intent": [[i] for _, i in ROWS]})
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def read_rows_of(path: Path) -> None:
    for row in read_rows(path, ReadOptions(slots=True)):
        if isinstance(row, ImportedRow):
            names = [slot.name for slot in row.slots]
            texts = [row.text, *(row.intents or ()), *names, row.id or "", row.synthetic]
            assert all(map(is_storable, texts)), texts


def sent(value: Any) -> None:
    """Write what is told of a file as an answer does."""
    json.dumps(asdict(value), ensure_ascii=False).encode()


def preview(path: Path) -> None:
    shown = preview_file(path, ReadOptions())
    assert all(len(cell) <= 200 for row in shown.rows for cell in row)
    sent(shown)


def read_conversations(path: Path) -> None:
    for dialogue in read_dialogues(path):
        assert all(is_storable(turn.text) for turn in dialogue.turns)
        dialogue_line(dialogue).encode()


@dataclass(frozen=True)
class Kind:
    """A kind of file: a valid one, and how it is read and changed."""

    content: bytes
    reads: tuple[Callable[[Path], None], ...] = (read_rows_of, preview)
    change: Callable[[bytes], st.SearchStrategy[bytes]] = changed_text


def compressed(content: bytes) -> st.SearchStrategy[bytes]:
    """Change a gzipped file, or what is in it."""
    return changed_text(content) | changed_text(gzip.decompress(content)).map(gzip.compress)


CSV = "".join(f"{text},{label}\n" for text, label in [("text", "intent"), *ROWS]).encode()
TURN_ROWS = b"conversation_id,turn,speaker,text\n" + b"".join(
    f"{n},{turn},user,hello {turn}\n".encode() for n in range(3) for turn in range(3)
)
KINDS = {
    "rows.csv": Kind(CSV),
    "accents.csv": Kind(CSV.replace(b" of the ", " à côté du ".encode())),
    "rows.tsv": Kind(CSV.replace(b",", b"\t")),
    "rows.jsonl": Kind(lines([{"text": t, "intents": [i], "split": "test"} for t, i in ROWS])),
    "slots.jsonl": Kind(
        lines([{"text": "to Rome", "slots": [{"slot": "city", "start": 3, "end": 7}], "id": "a"}])
    ),
    "rows.txt": Kind(b"hello there\nwhere is it\n"),
    "nlu.yml": Kind(RASA.encode()),
    "nlu.md": Kind(MARKDOWN.encode()),
    "rows.xlsx": Kind(workbook(), change=changed_member),
    "rows.parquet": Kind(parquet()),
    "turns.jsonl": Kind(lines(TURNS), (read_conversations,)),
    "turns.csv": Kind(TURN_ROWS, (read_conversations,)),
    "turns.jsonl.gz": Kind(gzip.compress(lines(TURNS)), (read_conversations,), compressed),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n_cases", CASES)
def test_a_changed_file_is_read_or_refused_in_words(tmp_path: Path, name: str, n_cases) -> None:
    kind, path = KINDS[name], tmp_path / name

    def check(content: bytes) -> None:
        path.write_bytes(content)
        for read in kind.reads:
            with suppress(InvalidInput):
                read(path)

    path.write_bytes(kind.content)
    for read in kind.reads:
        read(path)  # what is changed is valid
    fuzz(n_cases, kind.change(kind.content), check)


def changed_document(content: bytes) -> st.SearchStrategy[bytes]:
    return changed_json(content) | changed_bytes(content)


EXPORTS: dict[str, tuple[str, Callable[[bytes], st.SearchStrategy[bytes]]]] = {
    "all.jsonl": (DOCCANO, changed_lines),
    "project.json": (LABEL_STUDIO, changed_document),
    "routes.json": (ROUTES_JSON, changed_document),
    "workspace.json": (HUMANFIRST, changed_document),
    "app.json": (LUIS["app.json"], changed_document),
    "skill.json": (WATSON["skill.json"], changed_document),
}


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("n_cases", CASES)
def test_what_a_changed_export_brings_in_can_be_shown(
    tmp_path: Path, studio: Studio, name: str, n_cases: int
) -> None:
    """The import of an entity's value succeeded, and the slot book was broken for good."""
    (content, change), path = EXPORTS[name], tmp_path / name
    create_project(studio, "p")

    def check(changed: bytes) -> None:
        path.write_bytes(changed)
        with suppress(InvalidInput):
            preview(path)
        for dry_run in (True, False):
            with suppress(InvalidInput):
                sent(import_file(studio, ImportRequest("p", path, dry_run=dry_run)))
        sent(view_book(studio, "p"))

    path.write_bytes(content.encode())
    sent(import_file(studio, ImportRequest("p", path)))  # what is changed is valid
    fuzz(n_cases, change(content.encode()), check)
