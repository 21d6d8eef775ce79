"""Folders that people, git or a disk left broken are refused, with file and line named."""

import json
import os
from pathlib import Path

import pytest

from core.errors import Conflict, InvalidInput
from core.sync.folder import (
    INTENTS,
    PINS,
    PROJECT,
    UTTERANCES,
    folder_content,
    read_folder,
    write_folder,
)

INTENT = '{"id": "1a", "name": "refund"}'
TEXT = '{"id": "t", "labels": ["1a"], "split": "train", "text": "money back"}'
SETTINGS = '{"format": 1, "task": "single-label", "settings": {}, "bundle": null}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {PROJECT: SETTINGS, INTENTS: INTENT, UTTERANCES: TEXT, PINS: ""}
    for name, content in files.items():
        (tmp_path / name).write_text(content + "\n", encoding="utf-8")
    return tmp_path


def test_what_is_written_is_read_again_and_written_again_byte_for_byte(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = read_folder(folder, known=True)
    assert found is not None
    out = tmp_path_factory.mktemp("out") / "new"
    write_folder(out, None, folder_content(None, found))
    again = read_folder(out, known=True)
    assert again is not None
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    write_folder(out, again, folder_content(again, again))
    assert before == {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert (out / UTTERANCES).read_text(encoding="utf-8") == TEXT + "\n"
    assert again.utterances == found.utterances


def test_the_merge_driver_is_named_behind_attributes_that_are_there(folder: Path) -> None:
    """A folder with a file of attributes got no driver, and git merged it line by line."""
    found = read_folder(folder, known=True)
    assert found is not None
    path = folder / ".gitattributes"
    path.write_bytes(b"*.png binary")
    write_folder(folder, None, folder_content(None, found))
    first, *more = path.read_bytes().splitlines()
    assert first == b"*.png binary"
    assert more[-1] == b"*.jsonl text eol=lf merge=intent-studio"
    for before in (path.read_bytes(), b"*.jsonl merge=union\n"):  # who has chosen another keeps it
        path.write_bytes(before)
        write_folder(folder, None, folder_content(None, found))
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        (UTTERANCES, f"{TEXT}\n<<<<<<< HEAD\n{TEXT}", "line 2: git could not merge"),
        (PROJECT, "{\n<<<<<<< HEAD\n}", "line 2: git could not merge"),
        (UTTERANCES, f"{TEXT}\n{TEXT}", "line 2: id 't' stands in line 1, too"),
        (UTTERANCES, TEXT.replace("1a", "2b"), "line 1: there is no intent '2b'"),
        (UTTERANCES, TEXT[:-1], "line 1: this is no JSON"),
        (UTTERANCES, "[1]", "line 1: this is no JSON object"),
        (UTTERANCES, "[" * 100_000, "line 1: this is no JSON"),
        (UTTERANCES, '{"id": "t", "id": "u"}', "line 1: this is no JSON"),
        (UTTERANCES, '{"x": "' + "y" * 10_000_000 + '"}', "line 1: the line is longer"),
        (UTTERANCES, TEXT.replace('"text"', '"txt"'), "line 1: there is no field 'txt'"),
        (UTTERANCES, TEXT.replace("money back", " \\u200b"), "line 1: 'text' does not fit"),
        (UTTERANCES, TEXT.replace("money", "\\ud800"), "line 1: 'text' does not fit"),
        (UTTERANCES, TEXT.replace('"train"', '"dev"'), "line 1: 'split' does not fit"),
        (UTTERANCES, TEXT.replace('"1a"', '"1a", "1a"'), "line 1: 'labels' does not fit"),
        (UTTERANCES, TEXT[:-1] + ', "slots": [[0, 99, "x"]]}', "line 1: The slot 'x'"),
        (UTTERANCES, TEXT[:-1] + ', "slots": [[true, 2, "x"]]}', "line 1: 'slots' does not"),
        (INTENTS, f"{INTENT}\n{INTENT.replace('1a', '2b')}", "line 2: the name 'refund'"),
        (INTENTS, INTENT.replace('"1a"', "7"), "line 1: 'id' does not fit"),
        (PINS, '{"text": "hi", "intents": ["ff"]}', "line 1: there is no intent 'ff'"),
        (PROJECT, SETTINGS.replace("1,", "2,"), "line 1: this is not format 1"),
        (PROJECT, SETTINGS.replace("{}", '{"fence": {"limit": NaN}}'), "line 1: this is no JSON"),
        (PROJECT, SETTINGS.replace("{}", '{"fence": {"limit": 1e9}}'), "'settings' or 'bundle'"),
        (PROJECT, SETTINGS.replace("{}", '{"fence": {"limit": ""}}'), "'settings' or 'bundle'"),
        (PROJECT, SETTINGS.replace("{}", '{"fence": {"limit": []}}'), "'settings' or 'bundle'"),
        (PROJECT, SETTINGS.replace("{}", '{"fence": {"limit": false}}'), "'settings' or 'bundle'"),
    ],
)
def test_a_broken_line_is_refused_with_file_and_line(
    folder: Path, file: str, content: str, told: str
) -> None:
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        read_folder(folder, known=True)
    assert file in refused.value.message
    assert told in refused.value.message


def test_bytes_that_are_no_utf_8_and_files_that_are_none_are_refused(folder: Path) -> None:
    (folder / UTTERANCES).write_bytes(TEXT.encode().replace(b"money", b"\xff"))
    with pytest.raises(InvalidInput, match=r"utterances\.jsonl, line 1: this is no JSON"):
        read_folder(folder, known=True)
    (folder / UTTERANCES).unlink()
    with pytest.raises(InvalidInput, match=r"utterances\.jsonl is missing"):
        read_folder(folder, known=True)
    (folder / UTTERANCES).symlink_to(folder / PINS)
    with pytest.raises(InvalidInput, match="no plain file"):
        read_folder(folder, known=True)
    (folder / UTTERANCES).unlink()
    os.mkfifo(folder / UTTERANCES)
    with pytest.raises(InvalidInput, match="no plain file"):
        read_folder(folder, known=True)


def test_a_folder_that_changed_since_it_was_read_is_not_written(folder: Path) -> None:
    found = read_folder(folder, known=True)
    assert found is not None
    (folder / PINS).write_text(json.dumps({"text": "hi", "intents": []}), encoding="utf-8")
    with pytest.raises(Conflict, match="changed while"):
        write_folder(folder, found, folder_content(found, found))
