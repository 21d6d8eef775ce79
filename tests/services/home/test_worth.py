"""A round of labels is worth the answers that it puts right."""

import numpy as np

from app.services.home.worth import answered_badly
from app.services.live.pool import Pool
from app.services.live.server_state import open_live_studio
from app.services.studio import Studio


def test_a_text_counts_with_its_chance_of_a_wrong_answer_and_whole_without_one(
    home: Studio,
) -> None:
    live_studio = open_live_studio(home)
    pool = live_studio.pools.wait(1)
    assert isinstance(pool, Pool)
    assert pool.worth is not None
    wrong = 1.0 - pool.probabilities.max(1)
    wrong[pool.outside] = 1.0
    assert answered_badly(pool, len(wrong)) == round(float(wrong.sum()))
    first = int(np.argmax(pool.worth))
    assert answered_badly(pool, 1) == round(float(wrong[first]))
