"""A package that is made to cost much time or memory is read soon, or refused in words."""

import json
import time
import zipfile
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats.tools.json_items import json_document
from core.platforms import json_places, packages
from core.platforms.gathering import Losses, fitting_slots
from core.platforms.json_places import MOST_VALUES, n_values
from core.platforms.packages import open_package
from core.platforms.reading import read_agent
from core.templates.slots import Slot

UTTERANCE = {
    "text": "book a flight to Boston, please",
    "intent": "book",
    "entities": [{"entity": "city", "startPos": 17, "endPos": 22, "children": []}],
}


def test_many_marks_of_one_phrase_are_no_work() -> None:
    """Each mark was checked again with each later one: 1 MB took three hours."""
    text = "a " * 3_000
    marks = [Slot(2 * place, 2 * place + 1, "b") for place in range(3_000)]
    wrong = [Slot(0, 3, "over two"), Slot(7, 8, "a blank"), Slot(5_999, 6_001, "out of it")]
    began, losses = time.process_time(), Losses()
    assert fitting_slots(text, [*wrong, *reversed(marks)], losses) == tuple(marks)
    assert [one.count for one in losses.told()] == [3]
    assert time.process_time() - began < 1.0


def test_a_document_of_countless_values_is_refused(tmp_path: Path, monkeypatch) -> None:
    """Of three signs each, 16 million values of a file of 50 MB took over 3 GB."""
    path = tmp_path / "app.json"
    app = {"luis_schema_version": "3.0.0", "intents": [{"name": "book"}], "utterances": [UTTERANCE]}
    path.write_text(json.dumps({**app, "x": [[]] * 100}))
    assert len(read_agent(path).phrases) == 1
    monkeypatch.setattr(json_places, "MOST_VALUES", 200)
    with pytest.raises(InvalidInput, match=r"^app\.json holds over 200 values"):
        read_agent(path)
    with pytest.raises(InvalidInput, match=r"^app\.json holds over 200 values"):
        json_document(open_package(path), "app.json")


def test_the_values_of_all_documents_are_counted_together(tmp_path: Path, monkeypatch) -> None:
    """Each entry of a small zip stayed below any limit, and 500 of them took 60 GB."""
    monkeypatch.setattr(json_places, "MOST_VALUES", 8)
    for name in ("a.json", "b.json", "c.json"):
        (tmp_path / name).write_text("[1, 2, 3]")
    package = open_package(tmp_path)
    for name in ("a.json", "a.json", "b.json"):
        package.document(name)
    with pytest.raises(InvalidInput, match="holds over 8 values"):
        package.document("c.json")


def test_an_app_of_50_mb_is_far_from_too_many_values() -> None:
    one = json.dumps(UTTERANCE, separators=(",", ":"))
    assert n_values(one * (50_000_000 // len(one))) < MOST_VALUES / 2


def test_a_small_zip_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    """1 MB took 1 GB at once, as no entry was a bomb by itself."""
    monkeypatch.setattr(packages, "_FREE_BYTES", 10_000)
    path = tmp_path / "agent.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("intents/a.json", "intents/b.json"):
            archive.writestr(name, " " * 60_000)
    with pytest.raises(InvalidInput, match="unpacks to over 20,000 files or 0"):
        open_package(path)
