"""The word embeddings of one text, and the encoder from there on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import Encoder
from core.encoders.general.encoder import GeneralEncoder, transformer_of
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.layout import lay_out, pool_mean
from core.encoders.projection import project
from core.errors import InvalidInput

_BASELINES = ("[MASK]", "<mask>", "[PAD]", "<pad>")
"""Tokens without content, in order of preference."""


@dataclass(frozen=True, slots=True, eq=False)
class TextInput:
    """A text before the first layer of an encoder.

    Attributes:
        words: Word embedding of each token, (tokens, d), without gradients.
        blank: Word embedding of a token without content, (d,).
        spans: Position of each token in the text; None for special tokens.
        embed: From word embeddings (n, tokens, d) to embeddings (n, dim), not of length one;
            differentiable.
    """

    words: Tensor
    blank: Tensor
    spans: tuple[tuple[int, int] | None, ...]
    embed: Callable[[Tensor], Tensor]


def text_input(encoder: Encoder, text: str) -> TextInput:
    """Tokenise a text, cut as in encoding; InvalidInput if the encoder cannot report words."""
    match encoder:
        case TransformerEncoder():
            return _packed(encoder, text)
        case GeneralEncoder():
            return _general(encoder, text)
        case AdaptedEncoder():
            return text_input(encoder.network, text)
        case _:
            raise InvalidInput(
                "This encoder does not say which words it reads.", "Ask a transformer encoder."
            )


def _packed(encoder: TransformerEncoder, text: str) -> TextInput:
    encoder.token_ids([text], encoder.max_tokens)  # sets how the tokenizer cuts
    encoded = encoder.tokenizer.encode(text)
    bert = encoder.bert
    ids = torch.tensor(encoded.ids, device=bert.words.weight.device)
    steps = torch.arange(len(ids), device=ids.device)
    framed = bert.types.weight[0] + bert.positions(steps)

    def embed(words: Tensor) -> Tensor:
        layout = lay_out(torch.full((len(words),), words.shape[1]))
        tokens = bert.norm(words + framed).flatten(0, 1)
        tokens = bert.run_layers(tokens, layout, 0, len(bert.layers))
        return project(pool_mean(tokens, layout), encoder.projection)

    blank = _blank(encoder.tokenizer.token_to_id)
    spans = _spans(encoded.offsets, encoded.special_tokens_mask)
    return TextInput(bert.words(ids), bert.words.weight[blank], spans, embed)


def _general(encoder: GeneralEncoder, text: str) -> TextInput:
    model = encoder.model
    tokenizer: Any = model.tokenizer
    if not getattr(tokenizer, "is_fast", False):
        raise InvalidInput(
            "This encoder's tokenizer cannot say where a token comes from.",
            "Save the encoder with a fast tokenizer (tokenizer.json).",
        )
    prompt = model.prompts.get(model.default_prompt_name or "") or ""
    encoded = tokenizer(
        prompt + text,
        truncation=True,
        max_length=encoder.max_tokens,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    transformer = transformer_of(model)
    table: Any = transformer.get_input_embeddings()
    ids = torch.tensor(encoded["input_ids"], device=model.device)

    def embed(words: Tensor) -> Tensor:
        mask = torch.ones(words.shape[:2], dtype=torch.int64, device=words.device)
        output = transformer(inputs_embeds=words, attention_mask=mask)
        features: dict[str, Any] = {"token_embeddings": output[0], "attention_mask": mask}
        for module in list(model)[1:]:
            if type(module).__name__ != "Normalize":
                features = module(features)
        embedded: Tensor = features["sentence_embedding"]
        return embedded

    blank = _blank(tokenizer.get_vocab().get)
    offsets = [(start - len(prompt), end - len(prompt)) for start, end in encoded["offset_mapping"]]
    masks = encoded["special_tokens_mask"]
    framing = [bool(mask) or end <= 0 for mask, (_, end) in zip(masks, offsets, strict=True)]
    return TextInput(table(ids), table.weight[blank], _spans(offsets, framing), embed)


def _blank(id_of: Callable[[str], int | None]) -> int:
    found = [place for token in _BASELINES if (place := id_of(token)) is not None]
    return found[0] if found else 0


def _spans(
    offsets: list[tuple[int, int]], framing: list[int] | list[bool]
) -> tuple[tuple[int, int] | None, ...]:
    both = zip(offsets, framing, strict=True)
    return tuple(None if frames else (int(s), int(e)) for (s, e), frames in both)


def unit_length(embeddings: Tensor) -> Tensor:
    """Scale rows to length one, with gradients."""
    return F.normalize(embeddings, dim=-1)
