"""Response selection: which of many replies fits what was said."""

from collections.abc import Sequence

from core.encoders.base import Encoder
from core.encoders.convert.encoder import ConvertEncoder
from core.formats.dialogues import Pair, context_text, history_text
from core.types import FloatArray, ScoreArray
from core.vectors import cosines, unit_rows


def encode_contexts(encoder: Encoder, asked: Sequence[Pair]) -> FloatArray:
    """Embed what is to be answered, with the turns before it; (n, d) float32, length one.

    A ConveRT reads earlier turns by their own side, if it has one; any other encoder as part of
    the text. Whoever asks leaves `history` empty where the encoder was not trained with it.
    """
    if isinstance(encoder, ConvertEncoder):
        histories = [history_text(pair.history) for pair in asked]
        return encoder.encode_contexts([pair.context for pair in asked], histories)
    return unit_rows(encoder.encode([context_text(pair) for pair in asked]))


def encode_responses(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """Embed candidate replies; (n, d) float32, length one."""
    if isinstance(encoder, ConvertEncoder):
        return encoder.encode_side(texts, "response")
    return unit_rows(encoder.encode(texts))


def rank_responses(
    encoder: Encoder, turns: Sequence[str], candidates: Sequence[str]
) -> list[tuple[str, float]]:
    """Rank candidate replies to a conversation, the best first, each with its cosine.

    Args:
        encoder: Best one trained by `dialogues` or `convert`.
        turns: What was said, the last turn last; those before it count where there are any.
        candidates: The replies.
    """
    if not turns or not candidates:
        return []
    asked = Pair(turns[-1], "", tuple(reversed(turns[:-1])))
    scores: ScoreArray = cosines(
        encode_contexts(encoder, [asked]), encode_responses(encoder, candidates)
    )[0]
    ranked = sorted(zip(candidates, scores.tolist(), strict=True), key=lambda item: -item[1])
    return [(text, float(score)) for text, score in ranked]
