"""Embeddings of texts while another program writes to the studio."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from app.services import embedding
from core.encoders.loading import load_folder
from core.errors import DatabaseBusy
from core.text import text_hash
from core.types import FloatArray
from storage.computed import vectors
from storage.database import Transaction, open_database
from tests.builders.trained_home import opened

TEXTS = ["where is my parcel", "cancel my order", "speak to a person"]


def test_texts_are_embedded_while_another_program_writes(tmp_path: Path, tiny_path: Path) -> None:
    """A training failed where its embeddings could not be cached within 15 seconds."""
    database, encoder = opened(tmp_path / "home").database, load_folder(tiny_path)
    embedding.embed_texts(database, encoder, TEXTS[:1])
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=200")
    other = open_database(database.file)
    with other.write():
        rows = embedding.embed_texts(database, encoder, TEXTS)
    other.close()
    assert np.allclose(rows, encoder.encode(TEXTS), atol=1e-6)
    assert list(embedding.unknown_texts(database, encoder, TEXTS).values()) == TEXTS[1:]
    again = embedding.embed_texts(database, encoder, TEXTS)
    assert np.allclose(again, rows, atol=1e-6)
    assert embedding.unknown_texts(database, encoder, TEXTS) == {}
    database.close()


def test_what_a_map_needs_is_stored_once_the_other_program_has_ended(
    tmp_path: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job failed with its first part, and encoded no text after that."""
    database, encoder = opened(tmp_path / "home").database, load_folder(tiny_path)
    store, asked = vectors.put_many, list[int]()

    def put(connection: Transaction, fingerprint: str, rows: Mapping[str, FloatArray]) -> None:
        asked.append(len(rows))
        if len(asked) < 3:
            raise DatabaseBusy("Another program is writing.")
        store(connection, fingerprint, rows)

    monkeypatch.setattr(embedding, "_CHUNK", 1)
    monkeypatch.setattr(vectors, "put_many", put)
    embedding.fill(database, encoder, {text_hash(text): text for text in TEXTS}, lambda *_: None)
    assert asked == [1, 1, 1, 2]
    assert embedding.unknown_texts(database, encoder, TEXTS) == {}
    database.close()


def test_a_page_and_a_training_wait_once_for_a_busy_database(
    tmp_path: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page waited for 15 seconds and for 15 more, and a training for each 4,096 of its texts."""
    database, encoder = opened(tmp_path / "home").database, load_folder(tiny_path)
    asked = list[int]()

    def put(_: Transaction, __: str, rows: Mapping[str, FloatArray]) -> None:
        asked.append(len(rows))
        raise DatabaseBusy("Another program is writing.")

    monkeypatch.setattr(vectors, "put_many", put)
    with pytest.raises(DatabaseBusy):
        embedding.fill(database, encoder, {text_hash(text): text for text in TEXTS})
    assert asked == [3]
    monkeypatch.setattr(embedding, "_CHUNK", 1)
    rows = embedding.embed_texts(database, encoder, TEXTS)
    assert np.allclose(rows, encoder.encode(TEXTS), atol=1e-6)
    assert asked == [3, 1]
    database.close()
