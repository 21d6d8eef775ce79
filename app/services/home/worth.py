"""What a round of labelling is worth: the answers that it would put right."""

import numpy as np

from app.services.live.pool import Pool
from core.review.labelling_order import spread


def answered_badly(pool: Pool, count: int) -> int | None:
    """Return how many of the first `count` texts to label are likely answered wrongly, or not.

    These are the texts of the labelling order `helps`. Each counts with the probability that its
    answer is wrong, or whole if it is answered with no intent. None until the order is known, and
    where a text may have several intents.
    """
    if pool.worth is None or pool.task == "multi-label" or not len(pool.records):
        return None
    ranking = np.argsort(-pool.worth, kind="stable")
    rows = spread(ranking, pool.embeddings, count, pool.alike_from)
    wrong = np.where(pool.outside[rows], 1.0, 1.0 - pool.probabilities[rows].max(1))
    return round(float(wrong.sum()))
