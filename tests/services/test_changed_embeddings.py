"""What the disk made of a stored embedding is neither learned from nor kept."""

from pathlib import Path

import numpy as np

from app.services.embedding import embed_texts
from core.encoders.loading import load_folder
from core.text import text_hash
from storage.computed import vectors
from tests.builders.trained_home import opened

TEXTS = ["where is my parcel", "cancel my order", "speak to a person"]


def test_a_changed_embedding_is_computed_anew_and_stored(tmp_path: Path, tiny_path: Path) -> None:
    """A zeroed block was taken for an embedding, and a version learned from it."""
    database, encoder = opened(tmp_path / "home").database, load_folder(tiny_path)
    before = embed_texts(database, encoder, TEXTS)
    assert np.allclose(before, encoder.encode(TEXTS), atol=1e-6)
    spoil = "UPDATE vector SET value = zeroblob(length(value)) WHERE text_hash = ?"
    with database.write() as connection:
        connection.exec_driver_sql(spoil, (text_hash(TEXTS[1]),))
    after = embed_texts(database, encoder, TEXTS)
    assert np.allclose(after, before, atol=1e-6)
    with database.write() as connection:
        assert vectors.remove_changed(connection, only_count=True) == 0
    database.close()
