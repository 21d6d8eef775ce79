"""The turns of a batch, each text once: what answers one context is often the next context."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.formats.dialogues import Pair, context_text, history_text
from core.losses.ranking import same_responses

_ALL = slice(None)


@dataclass(frozen=True, slots=True)
class Turns:
    """A batch of pairs as rows of its distinct texts.

    Attributes:
        texts: Each once.
        contexts: Row of each pair's context, (B,) int64.
        responses: Row of each pair's response, (B,) int64.
        histories: Row of the earlier turns of each pair that has some, (H,) int64.
        owners: Which pair those belong to, (H,) int64.
        alike: Pairs of pairs whose responses have the same wording, (B, B) bool.
    """

    texts: tuple[str, ...]
    contexts: Tensor
    responses: Tensor
    histories: Tensor
    owners: Tensor
    alike: Tensor


def turns_of(batch: Sequence[Pair], *, joined: bool, histories: slice = _ALL) -> Turns:
    """Number the distinct texts of a batch.

    Args:
        batch: Pairs of turns.
        joined: Whether earlier turns are a part of the context's text; else they are texts.
        histories: Which of the pairs that have earlier turns are read with them.
    """
    rows: dict[str, int] = {}

    def number(texts: Sequence[str]) -> Tensor:
        return torch.tensor([rows.setdefault(text, len(rows)) for text in texts], dtype=torch.long)

    asked = [context_text(pair) if joined else pair.context for pair in batch]
    owners = [] if joined else [at for at, pair in enumerate(batch) if pair.history][histories]
    replies = [pair.response for pair in batch]
    contexts, responses = number(asked), number(replies)
    earlier = number([history_text(batch[at].history) for at in owners])
    return Turns(
        tuple(rows),
        contexts,
        responses,
        earlier,
        torch.tensor(owners, dtype=torch.long),
        same_responses(replies),
    )
