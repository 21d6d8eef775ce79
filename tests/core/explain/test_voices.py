"""Names beside the votes: what is said of examples stays exact, with the names' part on top."""

import numpy as np
import pytest

from core.encoders.packed.encoder import TransformerEncoder
from core.explain.attribution import attribute
from core.explain.blast_radius import ExemplarChange, blast_radius, removing, watch
from core.explain.one_text import ask, with_copies, with_more, without_each, without_sets
from core.heads.mixture import MixtureHead, even_mixture, voices_of, without_names
from core.heads.votes.fit import VoteHead, fit_votes
from core.intent_names import ALONE_TAU, ALONE_WEIGHT, answer_by_name, names_head
from core.types import Intent
from tests.builders.toy_votes import again, labels_of, random_votes, refitted_without, rows_of
from tests.conftest import SENTENCES

N_INTENTS = 3


def test_scores_with_other_examples_equal_fitting_again_and_the_voices() -> None:
    random = np.random.default_rng(3)
    for _ in range(10):
        votes = random_votes(random, 9, N_INTENTS)
        head, text = votes.head, rows_of(random, 1)
        voices = random.uniform(0, 1, N_INTENTS)
        question = ask(votes, text[0], voices)
        np.testing.assert_allclose(question.scores, head.scores(text)[0] + voices, atol=1e-9)
        for row, scores in enumerate(without_each(question)):
            alone = refitted_without(head, [row]).scores(text)[0]
            np.testing.assert_allclose(scores, alone + voices, atol=1e-6)
        pair = refitted_without(head, [0, 2]).scores(text)[0]
        [found] = without_sets(question, np.array([[0, 2]]))
        np.testing.assert_allclose(found, pair + voices, atol=1e-6)
        target = np.eye(N_INTENTS)[1]
        more = (
            np.concatenate([head.exemplars, text, text]),
            np.stack([*head.targets, target, target]),
        )
        twice = with_copies(question, target, 2)[1]
        np.testing.assert_allclose(twice, again(head, *more).scores(text)[0] + voices, atol=1e-6)
        others, labels = rows_of(random, 2), labels_of(random, 2, N_INTENTS)
        both = np.concatenate([head.exemplars, others]), np.concatenate([head.targets, labels])
        grown = with_more(question, others, labels)[1]
        np.testing.assert_allclose(grown, again(head, *both).scores(text)[0] + voices, atol=1e-6)


def test_a_radius_holds_what_names_say_before_and_after() -> None:
    random = np.random.default_rng(4)
    votes = random_votes(random, 9, N_INTENTS)
    texts, voices = rows_of(random, 6), random.uniform(0, 0.5, (6, N_INTENTS))
    watched = watch(votes, texts, voices=voices)
    np.testing.assert_allclose(watched.scores, votes.head.scores(texts) + voices, atol=1e-9)
    change, turned = removing(votes, [1]), -voices
    change = ExemplarChange(change.added, change.labels, removed=change.removed, voices=turned)
    found = blast_radius(votes, watched, change)
    expected = refitted_without(votes.head, [1]).scores(texts)
    np.testing.assert_allclose(found.scores, expected, atol=1e-4)


@pytest.fixture(scope="module")
def named(tiny: TransformerEncoder) -> MixtureHead:
    names = list(SENTENCES)
    pairs = [(text, name) for name, texts in SENTENCES.items() for text in texts]
    targets = np.eye(len(names))[[names.index(name) for _, name in pairs]]
    votes = fit_votes(tiny.encode([text for text, _ in pairs]), targets, names, 0.3, 0.1)
    return even_mixture(votes, names_head(tiny, [Intent(name) for name in names]), 0.8)


def test_shares_of_words_sum_to_a_difference_with_names_in_it(
    tiny: TransformerEncoder, named: MixtureHead
) -> None:
    text = "please refund my late parcel"
    for rival in (1, None):
        found = attribute(tiny, named, text, 0, rival)
        scores = named.scores(tiny.encode([text]))[0]
        assert found.difference == pytest.approx(
            scores[0] - (0.0 if rival is None else scores[rival]), abs=1e-9
        )
        total = found.blank + sum(word.share for word in found.words)
        assert abs(total - found.difference) <= 0.02 * abs(found.difference) + 1e-5


def test_only_intents_without_an_example_speak_by_their_names(
    tiny: TransformerEncoder, named: MixtureHead
) -> None:
    votes, asked = without_names(named), tiny.encode(["pay the bill", "refund"])
    assert isinstance(votes, VoteHead)
    every = [Intent(name) for name in votes.intents]
    assert answer_by_name(votes, tiny, every) is votes
    for head in (votes, named):
        found = answer_by_name(head, tiny, [*every, Intent("pay_bill")])
        assert found.intents == (*votes.intents, "pay_bill")
        np.testing.assert_allclose(found.scores(asked)[:, :-1], head.scores(asked), atol=1e-12)
        cosine = names_head(tiny, [Intent("pay_bill")]).scores(asked)[:, 0]
        expected = ALONE_WEIGHT * np.exp((cosine - 1) / ALONE_TAU)
        np.testing.assert_allclose(voices_of(found, asked)[:, -1], expected, atol=1e-9)
