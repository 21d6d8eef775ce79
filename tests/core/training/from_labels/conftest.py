"""What an encoder learns from, as a training goes on."""

import pytest

from core.training.from_labels import tuning


@pytest.fixture
def tuned_on(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The texts from which each encoder of a training learns, in order."""
    taught: list[list[str]] = []
    opened = tuning.open_tuning

    def spy(encoder, texts, options):
        taught.append(list(texts))
        return opened(encoder, texts, options)

    monkeypatch.setattr(tuning, "open_tuning", spy)
    return taught
