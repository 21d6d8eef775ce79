"""The words' shares add up, for every kind of encoder, and leaving a word out is exact."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import norm

from core.encoders.loading import load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.word_embeddings import TextInput, text_input, unit_length
from core.errors import InvalidInput
from core.explain import attribution
from core.explain.attribution import Word, _points, agreement, attribute, leave_words_out
from core.heads.votes.fit import VoteHead, fit_votes
from tests.builders.tiny_encoder import HashingEncoder, tiny_transformer
from tests.conftest import SENTENCES

TEXT = "please refund my late parcel"


def voting(encoder: TransformerEncoder) -> VoteHead:
    pairs = [(text, name) for name, texts in SENTENCES.items() for text in texts]
    names = list(SENTENCES)
    targets = np.eye(len(names))[[names.index(name) for _, name in pairs]]
    return fit_votes(encoder.encode([text for text, _ in pairs]), targets, names, 0.3, 0.1)


def test_both_measures_of_the_words_agree_or_not() -> None:
    words = [Word("a", 0, 1, 0.4, 0.8), Word("b", 2, 3, -0.1, -0.2)]
    assert agreement(words) == pytest.approx(1.0)
    assert agreement([replace(word, effect=-word.effect) for word in words]) == pytest.approx(-1.0)
    assert agreement([words[0], replace(words[1], share=0.8, effect=-1.0)]) == pytest.approx(
        -0.42, abs=0.01
    )
    assert agreement([]) == 0.0


def test_shares_and_what_blank_words_score_sum_to_the_difference(tiny: TransformerEncoder) -> None:
    head = voting(tiny)
    found = attribute(tiny, head, TEXT, 0, 1)
    assert [word.text for word in found.words] == TEXT.split()
    scores = head.scores(tiny.encode([TEXT]))[0]
    assert abs(found.difference - (scores[0] - scores[1])) < 1e-9
    total = found.blank + sum(word.share for word in found.words)
    assert abs(total - found.difference) <= 0.02 * abs(found.difference) + 1e-6
    assert found.error == pytest.approx(abs(total - found.difference) / abs(found.difference))


def test_gradients_of_a_long_text_are_computed_in_parts(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All points of a text of 120 words at once took 330 MB, of 250 words more than 1 GB."""
    head, text = voting(tiny), " ".join([TEXT] * 6)
    at_once: list[int] = []

    def watched(encoder: TransformerEncoder, asked: str) -> TextInput:
        found = text_input(encoder, asked)

        def embed(words: torch.Tensor) -> torch.Tensor:
            at_once.append(len(words) * words.shape[1])
            return found.embed(words)

        return replace(found, embed=embed)

    monkeypatch.setattr(attribution, "text_input", watched)
    in_parts = attribute(tiny, head, text, 0, 1)
    assert len(text_input(tiny, text).words) < max(at_once) <= 256
    monkeypatch.setattr(attribution, "_TOKENS_AT_ONCE", 1_000_000)
    whole = attribute(tiny, head, text, 0, 1)
    assert max(at_once) > 500
    shares = [[word.share for word in found.words] for found in (in_parts, whole)]
    assert np.allclose(*shares, rtol=1e-4, atol=1e-7)


def test_the_effect_of_a_word_is_that_of_asking_without_it(tiny: TransformerEncoder) -> None:
    head = voting(tiny)
    found = attribute(tiny, head, TEXT, 0, None)
    scores = head.scores(tiny.encode([TEXT, "please my late parcel"]))[:, 0]
    assert found.words[1].effect == pytest.approx(scores[0] - scores[1])
    assert found.difference == pytest.approx(scores[0])


def test_words_keep_their_place_and_signs_without_spaces_stand_alone(
    tiny: TransformerEncoder,
) -> None:
    text = "what's  up? 退款 ok"
    found = attribute(tiny, voting(tiny), text, 0, 1)
    assert [word.text for word in found.words] == ["what's", "up?", "退", "款", "ok"]
    assert all(text[word.start : word.end] == word.text for word in found.words)


def test_each_sign_of_thai_is_explained_with_its_marks(tiny: TransformerEncoder) -> None:
    """A whole text was one word, of which nothing could be told."""
    text = "ok \u0e19\u0e49\u0e33\u0e23\u0e38"
    words = [
        text[start:end] for start, end in leave_words_out(tiny, voting(tiny), text, 0, 1).words
    ]
    assert words == ["ok", "\u0e19\u0e49\u0e33", "\u0e23\u0e38"]


def test_nothing_said_has_no_words(tiny: TransformerEncoder) -> None:
    found = attribute(tiny, voting(tiny), "  ", 0, 1)
    assert found.words == ()
    assert found.error < 0.01


@pytest.mark.parametrize("kind", ["bert", "mpnet", "roberta", "distilbert", "electra"])
def test_an_encoder_goes_on_from_word_embeddings_as_from_the_text(
    tmp_path: Path, kind: str
) -> None:
    encoder = load_folder(tiny_transformer(tmp_path / kind, kind, "mean_tokens"))
    found = text_input(encoder, TEXT)
    with torch.no_grad():
        embedded = unit_length(found.embed(found.words[None]))[0].numpy()
    whole = encoder.encode([TEXT])[0]
    np.testing.assert_allclose(embedded, whole / np.linalg.norm(whole), atol=1e-5)
    spans = [span for span in found.spans if span is not None]
    assert found.spans[0] is None is found.spans[-1]
    assert "".join(TEXT[start:end].strip() for start, end in spans) == TEXT.replace(" ", "")


def test_the_packed_encoder_does_so_too_and_keeps_its_weights(tiny: TransformerEncoder) -> None:
    before = tiny.encode([TEXT])
    found = text_input(tiny, TEXT)
    with torch.no_grad():
        embedded = unit_length(found.embed(found.words[None])).numpy()
    np.testing.assert_allclose(embedded, before, atol=1e-5)
    attribute(tiny, voting(tiny), TEXT, 0, 1)
    np.testing.assert_array_equal(tiny.encode([TEXT]), before)
    assert all(parameter.grad is None for parameter in tiny.bert.parameters())


def test_an_encoder_without_words_says_so() -> None:
    with pytest.raises(InvalidInput, match="does not say which words"):
        text_input(HashingEncoder(), TEXT)


def test_points_lie_close_where_an_answer_turns_and_each_is_kept() -> None:
    coarse, weights = _points(16)
    np.testing.assert_allclose(coarse[[0, -1]], [0.0, 1.0], atol=1e-12)
    assert np.diff(coarse).min() < 0.04 < 0.14 < np.diff(coarse).max()
    np.testing.assert_allclose(_points(32)[0][::2], coarse)

    def rise(at: np.ndarray) -> np.ndarray:
        return norm.pdf(at, 0.35, 0.04)

    area = norm.cdf(1.0, 0.35, 0.04)
    assert abs(weights @ rise(coarse) - area) < 1e-4
    places, even = np.polynomial.legendre.leggauss(17)
    assert abs(even / 2 @ rise((places + 1) / 2) - area) > 1e-3


def test_a_line_that_is_refined_gives_what_all_its_points_at_once_give(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, module = voting(tiny), "core.explain.attribution"
    monkeypatch.setattr(f"{module}._TOLERANCE", -1.0)
    refined = attribute(tiny, head, TEXT, 0, 1)
    monkeypatch.setattr(f"{module}._FEWEST", 128)
    at_once = attribute(tiny, head, TEXT, 0, 1)
    shares = [[word.share for word in found.words] for found in (refined, at_once)]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-4, atol=1e-7)
