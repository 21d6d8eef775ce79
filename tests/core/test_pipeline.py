import time
from dataclasses import dataclass, replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from core.calibration.calibration import Calibration, fit_calibration
from core.heads.build import fit_head
from core.heads.cross_validation import cross_validated_scores
from core.heads.votes.fit import VoteHead
from core.pipeline import IntentPipeline, LearnedTexts, exact_answers, exact_answers_now
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    MlpConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.text import hidden_key
from core.types import Exemplar, Prediction
from core.vectors import unit_rows
from tests.builders.tiny_encoder import HashingEncoder

LABELLED = {
    "cancel_order": [
        "cancel my order",
        "please cancel the order I placed",
        "I want my order cancelled",
        "stop the order",
    ],
    "track_parcel": [
        "where is my parcel",
        "track my parcel",
        "has the parcel been sent",
        "parcel tracking number",
    ],
    "reset_password": [
        "I forgot my password",
        "reset my password",
        "password does not work",
        "how do I change the password",
    ],
}
EXEMPLARS = tuple(
    Exemplar(f"u{row}", text, (intent,))
    for row, (text, intent) in enumerate(
        (text, intent) for intent, texts in LABELLED.items() for text in texts
    )
)
INTENTS = tuple(LABELLED)
HEADS: list[HeadConfig] = [
    VotesConfig(),
    VotesConfig(max_exemplars=10),
    NeighboursConfig(k=3),
    PrototypesConfig(),
    LinearConfig(),
    MlpConfig(hidden=64, epochs=60),
    NamesConfig(),
]
ASKED = ["cancel this order please", "where has my parcel gone", "my password is lost", "order?"]

every_head = pytest.mark.parametrize("config", HEADS, ids=lambda c: c.kind)


@dataclass(frozen=True, slots=True)
class Silent(HashingEncoder):
    """An encoder that must not be asked."""

    def encode(self, texts: object, progress: object = None) -> np.ndarray:
        message = "the embeddings were given"
        raise AssertionError(message)


def pipeline(
    config: HeadConfig | None = None, exemplars: tuple[Exemplar, ...] = EXEMPLARS
) -> IntentPipeline:
    config = config or VotesConfig()
    encoder = HashingEncoder(128)
    embeddings = unit_rows(encoder.encode([e.text for e in exemplars]))
    targets = np.array([[float(name in e.intents) for name in INTENTS] for e in exemplars])
    names = encoder.encode([name.replace("_", " ") for name in INTENTS])
    head = fit_head(config, embeddings, targets, INTENTS, names)
    calibration = fit_calibration(
        cross_validated_scores(head, config, embeddings, targets), targets, 0.05
    )
    voters = np.arange(len(exemplars))
    if isinstance(head, VoteHead) and head.carriers is not None:
        voters = head.carriers
    return IntentPipeline(
        encoder, head, calibration, tuple(exemplars[row] for row in voters), embeddings[voters],
        n_neighbours=5, exact=exact_answers(exemplars), model_version="shop@3",
        dataset_version="shop:12",
    )  # fmt: skip


def one(text: str, of: IntentPipeline) -> Prediction:
    (prediction,) = of.predict([text])
    return prediction


@every_head
def test_an_exemplars_own_text_gets_its_intent_by_the_exact_rule(config: HeadConfig) -> None:
    asked = [exemplar.text for exemplar in EXEMPLARS]
    for exemplar, answer in zip(EXEMPLARS, pipeline(config).predict(asked), strict=True):
        assert answer.decision.rule == "exact"
        assert answer.decision.intents == exemplar.intents


@pytest.mark.parametrize(
    "text", ["  Cancel MY order?!", "cancel\tmy  order", "\uff43ancel my order."]
)
def test_case_spaces_and_outer_punctuation_do_not_hide_an_exemplar(text: str) -> None:
    answer = one(text, pipeline())
    assert (answer.decision.rule, answer.decision.intents) == ("exact", ("cancel_order",))
    assert answer.text == text


def test_an_exemplar_stays_in_scope_and_right_whatever_the_scores_say() -> None:
    strict = replace(pipeline(), calibration=Calibration(0.1, 99.0, 0.05))
    assert one("track my parcel", strict).decision.intents == ("track_parcel",)
    assert one("track my parcels", strict).decision.out_of_scope
    wrong = Exemplar("u99", "where is my parcel now", ("reset_password",))
    by_means = pipeline(PrototypesConfig(), (*EXEMPLARS, wrong))
    answer = one("Where is my parcel now?", by_means)
    assert answer.intent == "track_parcel"
    assert answer.decision.intents == ("reset_password",)


def test_where_exemplars_of_one_text_contradict_each_other_the_scores_decide() -> None:
    twin = Exemplar("u99", "Cancel my order!", ("track_parcel",))
    conflicted = (*EXEMPLARS, twin)
    answer = one("cancel my order", pipeline(exemplars=conflicted))
    assert answer.decision.rule == "votes"
    assert set(exact_answers(conflicted)) == set(exact_answers(EXEMPLARS)) - {"cancel my order"}


def test_exemplars_of_one_text_that_agree_are_no_contradiction() -> None:
    same = (Exemplar("a", "hello", ("x", "y")), Exemplar("b", "Hello.", ("y", "x")))
    assert exact_answers(same) == {"hello": ("x", "y")}


@pytest.mark.parametrize("hidden", [False, True])
def test_a_model_of_an_earlier_release_knows_its_own_texts(*, hidden: bool) -> None:
    """Its keys have an outer mark of Arabic, which keys are without by now."""
    key = "cancel my order؟"
    exact = {hidden_key(key) if hidden else key: ("cancel_order",)}
    answer = one("Cancel my order؟", replace(pipeline(), exact=exact))
    assert (answer.decision.rule, answer.decision.intents) == ("exact", ("cancel_order",))
    assert "Cancel my order؟" in LearnedTexts(frozenset(exact))
    assert "cancel another order" not in LearnedTexts(frozenset(exact))


def test_stored_keys_become_those_of_now_unless_their_labels_contradict_each_other() -> None:
    stored = {"cancel it؟": ("a",), "stop。": ("a",), "stop": ("b",), "go": ("b",), "run。": ("b",)}
    other = (Exemplar("u1", "Run", ("a",)),)
    assert exact_answers_now(stored, other) == {"cancel it": ("a",), "go": ("b",)}
    same = {"go": ("b",), hidden_key("stop。"): ("a",)}
    assert exact_answers_now(same, other) is same


def test_the_exact_rule_gives_all_intents_of_a_text_with_several() -> None:
    both = Exemplar("u99", "cancel it and track it", ("track_parcel", "cancel_order"))
    answer = one("cancel it and track it", pipeline(exemplars=(*EXEMPLARS, both)))
    assert answer.decision.intents == ("cancel_order", "track_parcel")


@pytest.mark.parametrize("config", HEADS[:3], ids=["votes", "votes of a subset", "neighbours"])
def test_all_votes_and_the_prior_sum_to_the_winning_score(config: HeadConfig) -> None:
    complete = replace(pipeline(config), n_neighbours=50)
    for answer in complete.predict(ASKED):
        assert len(answer.reason.neighbours) == len(complete.exemplars)
        total = answer.reason.prior + sum(neighbour.vote for neighbour in answer.reason.neighbours)
        assert total == pytest.approx(answer.ranked[0].score, abs=1e-10)


def test_the_exemplars_with_the_largest_votes_for_or_against_are_shown_first() -> None:
    whole = replace(pipeline(), n_neighbours=50)
    for few, answer in zip(pipeline().predict(ASKED), whole.predict(ASKED), strict=True):
        sizes = [abs(neighbour.vote) for neighbour in answer.reason.neighbours]
        assert sizes == sorted(sizes, reverse=True)
        assert few.reason.neighbours == answer.reason.neighbours[:5]
        assert min(neighbour.vote for neighbour in answer.reason.neighbours) < 0


@pytest.mark.parametrize("config", HEADS[2:], ids=lambda c: c.kind)
def test_other_heads_show_the_nearest_exemplars(config: HeadConfig) -> None:
    answering = pipeline(config)
    for text, answer in zip(ASKED, answering.predict(ASKED), strict=True):
        query = unit_rows(answering.encoder.encode([text]))[0]
        nearest = np.sort(answering.embeddings @ query)[::-1][:5]
        np.testing.assert_allclose([n.cosine for n in answer.reason.neighbours], nearest, atol=1e-6)
        votes = [n.vote for n in answer.reason.neighbours]
        assert answer.reason.prior == 0.0
        assert any(votes) == (config.kind == "neighbours")


def test_neighbours_carry_their_exemplars_id_text_and_intents() -> None:
    by_id = {exemplar.id: exemplar for exemplar in EXEMPLARS}
    for neighbour in one("cancel this order please", pipeline()).reason.neighbours:
        exemplar = by_id[neighbour.exemplar_id]
        assert (neighbour.text, neighbour.intents) == (exemplar.text, exemplar.intents)


@every_head
def test_intents_are_ranked_by_score_with_probabilities_that_sum_to_one(
    config: HeadConfig,
) -> None:
    answering = pipeline(config)
    scores = answering.scores(ASKED)
    for row, answer in enumerate(answering.predict(ASKED)):
        ranked = [item.score for item in answer.ranked]
        assert ranked == sorted(scores[row].tolist(), reverse=True)
        assert [INTENTS.index(item.intent) for item in answer.ranked] == np.argsort(
            -scores[row], kind="stable"
        ).tolist()
        assert sum(item.probability for item in answer.ranked) == pytest.approx(1.0)
        assert answer.intent == answer.ranked[0].intent


@every_head
def test_texts_near_an_intent_are_answered_with_it(config: HeadConfig) -> None:
    answers = pipeline(config).predict(ASKED[:3])
    assert [a.intent for a in answers] == ["cancel_order", "track_parcel", "reset_password"]


def test_a_score_below_the_threshold_is_out_of_scope_and_one_at_it_is_not() -> None:
    answering = pipeline()
    score = one(ASKED[0], answering).ranked[0].score
    at = one(ASKED[0], replace(answering, calibration=Calibration(0.1, score, 0.05)))
    above = np.nextafter(score, 2)
    under = one(ASKED[0], replace(answering, calibration=Calibration(0.1, above, 0.05)))
    assert (at.decision.rule, at.decision.intents) == ("votes", ("cancel_order",))
    assert (under.decision.rule, under.decision.intents) == ("out-of-scope", ())
    assert (under.decision.score, under.decision.threshold) == (score, above)
    assert under.ranked == at.ranked


@every_head
def test_an_answer_does_not_depend_on_the_texts_asked_with_it(config: HeadConfig) -> None:
    answering = pipeline(config)
    many = answering.predict([*ASKED, *(f"filler {row} order" for row in range(600)), *ASKED])
    for text, first, last in zip(ASKED, many[:4], many[-4:], strict=True):
        alone = one(text, answering)
        for answer in (first, last):
            assert answer.decision.rule == alone.decision.rule
            assert [i.intent for i in answer.ranked] == [i.intent for i in alone.ranked]
            assert [n.exemplar_id for n in answer.reason.neighbours] == [
                n.exemplar_id for n in alone.reason.neighbours
            ]
            assert answer.ranked[0].score == pytest.approx(alone.ranked[0].score, abs=1e-10)


def test_known_embeddings_are_used_instead_of_the_encoder() -> None:
    answering = pipeline()
    known = answering.encoder.encode(ASKED)
    silent = replace(answering, encoder=Silent())
    assert silent.predict(ASKED, known) == answering.predict(ASKED)
    np.testing.assert_array_equal(silent.scores(ASKED, known), answering.scores(ASKED))
    with pytest.raises(ValueError, match="4 texts came with 3 embeddings"):
        silent.predict(ASKED, known[:3])


def test_no_texts_get_no_answers() -> None:
    assert pipeline().predict([]) == []
    assert pipeline().scores([]).shape == (0, 3)


def test_intent_names_answer_without_any_exemplar() -> None:
    encoder = HashingEncoder(128)
    head = fit_head(
        NamesConfig(), np.zeros((0, 128), np.float32), np.zeros((0, 3)), INTENTS,
        encoder.encode([name.replace("_", " ") for name in INTENTS]),
    )  # fmt: skip
    bare = IntentPipeline(
        encoder, head, Calibration(0.1, -1.0, 0.0), (), np.zeros((0, 128), np.float32)
    )
    answer = one("reset the password", bare)
    assert (answer.intent, answer.reason.neighbours, answer.reason.prior) == (
        "reset_password",
        (),
        0.0,
    )


def test_versions_are_written_on_every_answer() -> None:
    for answer in pipeline().predict(ASKED):
        assert (answer.model_version, answer.dataset_version) == ("shop@3", "shop:12")


def test_exemplars_and_votes_that_do_not_belong_together_are_refused() -> None:
    whole = pipeline()
    with pytest.raises(ValueError, match="11 exemplars, 12 embeddings, 12 that vote"):
        replace(whole, exemplars=whole.exemplars[:-1])
    with pytest.raises(ValueError, match="11 exemplars, 11 embeddings, 12 that vote"):
        replace(whole, exemplars=whole.exemplars[:-1], embeddings=whole.embeddings[:-1])


@pytest.mark.benchmark
def test_3080_answers_of_770_exemplars_take_less_than_a_second_of_one_core() -> None:
    generator = np.random.default_rng(0)
    rows = unit_rows(generator.normal(size=(770, 384)).astype(np.float32))
    intents = tuple(f"i{column}" for column in range(77))
    head = fit_head(VotesConfig(tau=0.3, ridge=0.1), rows, np.eye(77)[np.arange(770) % 77], intents)
    exemplars = tuple(Exemplar(str(row), f"text {row}", (f"i{row % 77}",)) for row in range(770))
    answering = IntentPipeline(
        Silent(), head, Calibration(0.1, 0.1, 0.05), exemplars, rows, exact=exact_answers(exemplars)
    )
    texts = [f"question {row}" for row in range(3_080)]
    queries = generator.normal(size=(3_080, 384)).astype(np.float32)
    with threadpool_limits(limits=1, user_api="blas"):
        began = time.process_time()
        assert len(answering.predict(texts, queries)) == 3_080
        assert time.process_time() - began < 1.0
