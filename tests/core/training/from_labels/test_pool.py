"""Labels for unlabelled texts: votes, smoothed over a graph of neighbours."""

import numpy as np
import pytest

from core.training.from_labels.pool import (
    as_shares,
    neighbour_graph,
    pool_columns,
    spread,
    usable_texts,
)
from core.types import FloatArray, ScoreArray


def points(n: int, d: int = 6, seed: int = 0) -> FloatArray:
    made: FloatArray = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return made


def dense_graph(embeddings: FloatArray, k: int) -> ScoreArray:
    """The graph as the definition has it, each edge by itself."""
    unit = embeddings.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    n, apart = len(unit), (-(unit @ unit.T)).tolist()
    weights = np.zeros((n, n))
    for row in range(n):
        near = sorted((apart[row][other], other) for other in range(n) if other != row)
        for negative, other in near[:k]:
            weight = np.exp((-negative - 1.0) / 0.05)
            weights[row, other] = max(weights[row, other], weight)
            weights[other, row] = max(weights[other, row], weight)
    degree = weights.sum(1)
    return weights / np.sqrt(np.outer(degree, degree))


@pytest.mark.parametrize(("n", "k"), [(12, 3), (40, 10), (5, 10), (700, 10)])
def test_the_graph_joins_nearest_neighbours_as_its_definition_says(n: int, k: int) -> None:
    """700 texts take two blocks; 5 texts have 4 neighbours each."""
    found = neighbour_graph(points(n), k).toarray()
    np.testing.assert_allclose(found, dense_graph(points(n), k), rtol=0, atol=1e-5)
    np.testing.assert_allclose(found, found.T, rtol=1e-6, atol=0)


def test_shares_spread_as_forty_dense_steps_do() -> None:
    embeddings = points(30)
    given = as_shares(np.random.default_rng(1).normal(size=(30, 4)))
    dense = dense_graph(embeddings, 10)
    expected = given
    for _ in range(40):
        expected = 0.8 * dense @ expected + 0.2 * given
    expected = expected / expected.sum(1, keepdims=True)
    found = spread(neighbour_graph(embeddings), given)
    assert found == pytest.approx(expected, abs=1e-5)
    assert found.sum(1) == pytest.approx(1.0)


def test_two_labels_give_two_clouds_their_intents_against_some_wrong_votes() -> None:
    """Votes are wrong on a fifth of each cloud; its other texts outvote them along the graph."""
    rng = np.random.default_rng(2)
    clouds = np.repeat(np.eye(2, 8), 50, axis=0)
    embeddings = (clouds + rng.normal(scale=0.1, size=clouds.shape)).astype(np.float32)
    truth = np.repeat([0, 1], 50)
    votes = np.where(np.eye(2)[truth] > 0, 0.6, 0.4)
    wrong = rng.permutation(100)[:20]
    votes[wrong] = votes[wrong][:, ::-1]
    known = np.eye(2, 8, dtype=np.float32), np.eye(2)
    assert (votes.argmax(1) == truth).mean() == pytest.approx(0.8)
    assert pool_columns(known, embeddings, votes).tolist() == truth.tolist()


def test_scores_become_shares_and_negative_ones_none() -> None:
    shares = as_shares(np.array([[0.6, 0.2, -0.3], [-1.0, -1.0, -1.0]]))
    assert shares[0] == pytest.approx([0.75, 0.25, 0.0], abs=1e-6)
    assert shares[1] == pytest.approx(1 / 3)


def test_texts_of_known_wording_are_left_out_whatever_their_signs_and_case() -> None:
    pool = ("Where is it?", "where is it", "Stop!", "hello", "  stop ", "new")
    assert usable_texts(pool, ["STOP"], 10, 0) == ("Where is it?", "hello", "new")
    drawn = usable_texts(tuple(f"t{n}" for n in range(50)), [], 20, 7)
    assert len(drawn) == 20
    assert list(drawn) == sorted(drawn, key=lambda text: int(text[1:]))
    assert drawn == usable_texts(tuple(f"t{n}" for n in range(50)), [], 20, 7)
    assert drawn != usable_texts(tuple(f"t{n}" for n in range(50)), [], 20, 8)
