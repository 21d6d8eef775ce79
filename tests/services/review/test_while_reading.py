"""A review before the unlabelled texts are read: whoever looks at it asks again."""

import pytest

from app.services.live.live_studio import open_live, open_live_studio
from app.services.live.pool import Pools
from app.services.review import review
from app.services.studio import Studio
from app.services.what_if.watched_texts import WatchedTextCache
from tests.waiting import wait_until


def test_a_review_is_incomplete_while_the_unlabelled_texts_are_read(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their remedy came only after the next change, for nobody asked again."""
    live_studio = open_live_studio(home)
    watched_texts = WatchedTextCache(live_studio)
    record, _ = open_live(live_studio, "p")
    watched_texts.prepare(record.id)
    wait_until(lambda: watched_texts.is_ready(record), "the texts that repairs move are prepared")
    live_studio.pools.wait(record.id)
    assert review.review(live_studio, "p", watched_texts=watched_texts).effects
    with monkeypatch.context() as patched:
        patched.setattr(Pools, "settled", lambda *_: (None, True))
        assert not review.review(live_studio, "p", watched_texts=watched_texts).effects


def test_an_erasure_drops_the_texts_that_previews_hold(home: Studio) -> None:
    """They stayed in the server's memory, which the answer to the erasure does not name."""
    live_studio = open_live_studio(home)
    watched_texts = WatchedTextCache(live_studio)
    record, _ = open_live(live_studio, "p")
    live_studio.pools.wait(record.id)
    assert review.review(live_studio, "p", watched_texts=watched_texts).effects
    assert watched_texts.kept is not None
    watched_texts.forget()
    assert (watched_texts.kept, watched_texts.answered) == (None, None)
