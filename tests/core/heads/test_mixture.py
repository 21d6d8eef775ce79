"""Names as one more voice beside what learned from labels."""

import numpy as np
import pytest

from core.errors import ArtifactDamaged
from core.heads.build import head_from_arrays, head_to_arrays
from core.heads.mixture import choose_weight, even_mixture
from core.heads.points import PointHead, fit_names, fit_prototypes
from core.heads.votes.fit import fit_votes


def test_scores_are_added_with_the_weight_of_names() -> None:
    intents = ("a", "b")
    first = PointHead("prototypes", intents, np.array([[1, 0], [0, 1]], np.float32))
    names = PointHead("names", intents, np.array([[0, 1], [1, 0]], np.float32))
    head = even_mixture(first, names, weight=0.5, tau=0.2)
    expected = [0.6 + 0.5 * np.exp(-1), 0.8 + 0.5 * np.exp(-2)]  # cosines 0.8 and 0.6 to names
    found = head.scores(np.array([[3, 4]], np.float32))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert head.intents == intents
    assert head.kind == "mixture"


def test_a_voice_that_says_nothing_gets_no_weight_and_a_right_one_does() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, 300)
    truth = np.eye(3)[columns]
    good, noise = truth + rng.normal(0, 0.5, truth.shape), rng.uniform(0.8, 1, truth.shape)
    assert choose_weight(good, noise, columns) < 0.1
    assert choose_weight(good, 1 - truth, columns) == 0.0  # a voice that misleads is not heard
    near = 1 + 0.1 * np.log(np.clip(truth + rng.normal(0, 0.5, truth.shape), 1e-9, None))
    assert choose_weight(good, near, columns) > 0.5


def test_names_of_different_lengths_decide_by_dot_product() -> None:
    names = np.array([[4.0, 0.0], [0.0, 1.0]], np.float32)
    asked = np.array([[3.0, 4.0], [1.0, 8.0]], np.float32)
    head = fit_names(names, ["a", "b"], "dot")
    assert head.scores(asked).argmax(1).tolist() == (asked @ names.T).argmax(1).tolist() == [0, 1]
    assert np.linalg.norm(head.points, axis=1).tolist() == [1.0, 0.25]
    assert fit_names(names, ["a", "b"]).scores(asked).argmax(1).tolist() == [1, 1]
    zeros = fit_names(np.zeros((2, 2), np.float32), ["a", "b"], "dot")
    assert zeros.scores(asked).tolist() == [[-1.0, -1.0], [-1.0, -1.0]]
    assert fit_prototypes(asked, np.eye(2), ["a", "b"]).scores(asked).argmax(1).tolist() == [0, 1]


def test_a_stored_mixture_scores_the_same_and_a_torn_one_is_refused() -> None:
    rng = np.random.default_rng(0)
    seen, names = (rng.normal(size=(n, 4)).astype(np.float32) for n in (6, 3))
    votes = fit_votes(seen, np.eye(3)[[0, 1, 2, 0, 1, 2]], "abc", 0.4, 0.1)
    head = even_mixture(votes, fit_names(names, "abc", "dot"), 0.3, tau=0.2)
    facts, arrays = head_to_arrays(head)
    again = head_from_arrays(facts, arrays)
    assert (again.scores(seen) == head.scores(seen)).all()
    torn = {key: value for key, value in arrays.items() if key != "names.points"}
    with pytest.raises(ArtifactDamaged):
        head_from_arrays(facts, torn)
    with pytest.raises(ArtifactDamaged):
        head_from_arrays({**facts, "intents": ["a", "b"]}, arrays)
