"""Memory is asked for while enough is left to say that it is short."""

import pytest

from core import memory
from core.errors import OutOfMemory
from core.memory import while_memory_lasts


def test_all_items_are_read_where_memory_is_left() -> None:
    assert list(while_memory_lasts(range(2_500))) == list(range(2_500))


def test_reading_stops_in_words_before_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read to the last byte, one upload in twenty waited for ever, and one ended the server."""
    monkeypatch.setattr(memory, "_KEPT_BYTES", 1 << 60)  # more than any machine has
    read = []
    with pytest.raises(OutOfMemory, match="not enough memory"):
        read.extend(while_memory_lasts(range(2_500)))
    assert read == list(range(999))
