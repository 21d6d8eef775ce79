"""A file that is broken is imported as a whole or not at all."""

import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from app.services.data.importing import ImportRequest, import_file
from core.errors import StudioError
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import opened, soundness, texts_of
from tests.faults.table import Fault

FAULTS = (
    Fault(
        17,
        "A corrupt upload",
        "Invalid UTF-8, a NUL byte, a row too short, half a JSON line, a cut workbook, a field of "
        "10 MB",
        "Refused in words, or imported whole; the data are sound",
    ),
)
BROKEN = {
    "bytes.csv": b"text,intent\nhello,greeting\n\xff\xfe\x00\x81,refund\n",
    "nul.csv": b"text,intent\nhello\x00there,greeting\n",
    "half.jsonl": b'{"text": "new one", "intent": "a"}\n{"text": "new two", "int',
    "cut.xlsx": None,
    "long.csv": b"text,intent\n" + b"x" * 10_000_000 + b",greeting\nnew three,greeting\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_imported_whole_or_not_at_all(
    template: Path, tmp_path: Path, name: str
) -> None:
    home, file = copy_home(template, tmp_path / "home"), tmp_path / name
    content = BROKEN[name]
    if content is None:
        with zipfile.ZipFile(tmp_path / "whole", "w") as archive:
            archive.writestr("xl/workbook.xml", "<workbook/>" * 200)
        content = (tmp_path / "whole").read_bytes()[:300]
    file.write_bytes(content)
    before, studio = texts_of(home), opened(home)
    imported = False
    with suppress(StudioError):
        import_file(studio, ImportRequest("p", file))
        imported = True
    studio.database.close()
    if not imported:
        assert texts_of(home) == before
    assert soundness(home) == []
