import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity

from core.heads.linear import fit_linear
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.points import fit_names, fit_prototypes
from core.vectors import cosines, unit_rows
from tests.builders.toy_embeddings import clusters

TOY = clusters(4, 10, spread=1.0, seed=0)
TEXTS = clusters(4, 30, spread=1.2, seed=1)


def test_one_neighbour_answers_as_the_nearest_exemplar() -> None:
    head = NeighbourHead(TOY.intents, 1, TOY.rows, TOY.targets)
    similarity = cosine_similarity(TEXTS.rows, TOY.rows)
    np.testing.assert_array_equal(
        head.scores(TEXTS.rows).argmax(1), TOY.columns[similarity.argmax(1)]
    )
    np.testing.assert_allclose(head.scores(TEXTS.rows).max(1), similarity.max(1), atol=1e-6)


def test_neighbours_add_their_cosines_over_k() -> None:
    rows = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]], np.float32)
    head = NeighbourHead(("a", "b"), 3, rows, np.eye(2)[[0, 1, 1, 0]])
    scores = head.scores(np.array([[2.0, 0.0]], np.float32))
    np.testing.assert_allclose(scores, [[1 / 3, (0.8 + 0.6) / 3]], atol=1e-6)


def test_more_neighbours_than_exemplars_means_all_of_them() -> None:
    rows = np.eye(2, dtype=np.float32)
    head = NeighbourHead(("a", "b"), 50, rows, np.eye(2))
    np.testing.assert_allclose(head.scores(rows[:1])[0, 0], 0.5)


def test_a_neighbour_on_the_far_side_still_beats_intents_without_any() -> None:
    rows = np.array([[1, 0], [-0.6, -0.8]], np.float32)
    head = NeighbourHead(("a", "b", "none"), 1, rows, np.eye(3)[:2])
    assert head.scores(np.array([[-0.6, 0.8]], np.float32)).argmax() == 1


def test_votes_of_neighbours_sum_to_the_score() -> None:
    head = NeighbourHead(TOY.intents, 5, TOY.rows, TOY.targets)
    columns = np.arange(len(TEXTS.rows)) % 4
    votes = neighbour_votes(head, cosines(unit_rows(TEXTS.rows), TOY.rows), columns)
    scores = head.scores(TEXTS.rows)
    np.testing.assert_allclose(votes.sum(1), scores[np.arange(len(scores)), columns], atol=1e-12)
    assert ((votes != 0).sum(1) <= 5).all()


def test_prototypes_are_the_mean_directions_of_intents() -> None:
    head = fit_prototypes(TOY.rows, TOY.targets, TOY.intents)
    means = np.stack([TOY.rows[TOY.columns == column].mean(0) for column in range(4)])
    np.testing.assert_allclose(
        head.scores(TEXTS.rows), cosine_similarity(TEXTS.rows, means), atol=1e-6
    )
    assert head.kind == "prototypes"


def test_an_intent_without_a_label_is_never_the_nearest_prototype() -> None:
    targets = np.pad(TOY.targets, ((0, 0), (0, 1)))
    head = fit_prototypes(TOY.rows, targets, (*TOY.intents, "empty"))
    assert (head.scores(-TOY.rows.sum(0, keepdims=True)).argmax(1) != 4).all()


def test_names_answer_with_the_nearest_name() -> None:
    names = np.array([[3, 0], [0, 4]], np.float32)
    head = fit_names(names, ("card", "loan"))
    np.testing.assert_allclose(
        head.scores(np.array([[0.6, 0.8]], np.float32)), [[0.6, 0.8]], atol=1e-6
    )
    assert head.kind == "names"


def test_linear_scores_give_the_probabilities_of_scikit_learn() -> None:
    head = fit_linear(TOY.rows, TOY.targets, TOY.intents, 10.0)
    model = LogisticRegression(C=10.0, max_iter=1_000).fit(TOY.rows.astype(float), TOY.columns)
    logits = head.scores(TEXTS.rows)
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    np.testing.assert_allclose(shares, model.predict_proba(TEXTS.rows.astype(float)), atol=1e-6)


def test_linear_on_two_intents_gives_the_probabilities_of_scikit_learn() -> None:
    toy = clusters(2, 10, spread=1.0, seed=0)
    head = fit_linear(toy.rows, toy.targets, toy.intents, 10.0)
    model = LogisticRegression(C=10.0, max_iter=1_000).fit(toy.rows.astype(float), toy.columns)
    logits = head.scores(toy.rows)
    np.testing.assert_allclose(
        1 / (1 + np.exp(logits[:, 0] - logits[:, 1])),
        model.predict_proba(toy.rows.astype(float))[:, 1],
        atol=1e-6,
    )


def test_linear_with_several_intents_a_text_fits_each_against_the_rest() -> None:
    several = np.clip(TOY.targets + np.roll(TOY.targets, 1, axis=1), 0, 1)
    several[0] = 0  # a text without any intent takes part as well
    head = fit_linear(TOY.rows, several, TOY.intents, 10.0)
    for column in range(4):
        model = LogisticRegression(C=10.0, max_iter=1_000)
        model.fit(TOY.rows.astype(float), several[:, column])
        np.testing.assert_allclose(
            head.scores(TEXTS.rows)[:, column],
            model.decision_function(TEXTS.rows.astype(float)),
            atol=1e-6,
        )


def test_linear_never_answers_an_intent_without_labels() -> None:
    targets = np.pad(TOY.targets, ((0, 0), (1, 0)))
    head = fit_linear(TOY.rows, targets, ("empty", *TOY.intents), 10.0)
    assert (head.scores(TEXTS.rows).argmax(1) > 0).all()


@pytest.mark.parametrize("n", [1, 5])
def test_linear_on_one_intent_always_answers_it(n: int) -> None:
    targets = np.zeros((n, 3))
    targets[:, 1] = 1
    head = fit_linear(TOY.rows[:n], targets, ("a", "b", "c"), 10.0)
    assert (head.scores(TEXTS.rows).argmax(1) == 1).all()


def test_linear_where_every_text_has_an_intent_always_answers_it() -> None:
    targets = np.zeros((40, 2))
    targets[:, 0] = 1
    targets[::2, 1] = 1
    head = fit_linear(TOY.rows, targets, ("always", "sometimes"), 10.0)
    assert (head.scores(TEXTS.rows)[:, 0] > 100).all()
