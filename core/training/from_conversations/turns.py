"""The turns of a batch, each text once: a response is often also the next context."""

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
        contexts: Row of each pair's context, (B,) int64.
        responses: Row of each pair's response, (B,) int64.
        histories: Row of the earlier turns of each pair that has some, (H,) int64.
        owners: Pair to which those earlier turns belong, (H,) int64.
        alike: Whether two pairs' responses have the same wording, (B, B) bool.
    """

    texts: tuple[str, ...]
    contexts: Tensor
    responses: Tensor
    histories: Tensor
    owners: Tensor
    alike: Tensor


def turns_of(batch: Sequence[Pair], *, joined: bool, histories: slice = _ALL) -> Turns:
    """Number the distinct texts of a batch.

    If `joined`, earlier turns are part of the context's text; otherwise they are texts of their
    own, and `histories` selects among the pairs that have earlier turns.
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
