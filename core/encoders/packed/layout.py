"""Where the tokens of a batch lie, packed without padding, and which texts attend together.

Linear layers, norms and feed-forward blocks need no text borders. Attention does: texts of similar
length attend in one group, so that its squares of longest x longest hold little padding.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

_SPARE = 1.2
"""How many times as long as its shortest text the longest of a group may be, on a processor."""


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that follow each other in a batch, and attend together.

    Attributes:
        first: Place of their first token among the packed tokens.
        last: Place after their last token.
        longest: Tokens of the longest text.
        cells: Cell of each token in the padded (texts * longest) grid, (tokens,) int64; None when
            all texts are equally long.
        mask: True where a cell holds a token, (texts, 1, 1, longest); None as above.
    """

    first: int
    last: int
    n_texts: int
    longest: int
    cells: Tensor | None
    mask: Tensor | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The texts of a batch: tokens of each, (texts,) int64, and their groups in order.

    `spare` rows without a text follow the last token. `random` draws the masks of dropout; None
    leaves them to torch's random state.
    """

    lengths: Tensor
    groups: tuple[Group, ...]
    spare: int = 0
    random: np.random.Generator | None = None

    def steps(self) -> Tensor:
        """Return each packed token's place in its text, from 0; (tokens,) int64."""
        ends = self.lengths.cumsum(0)
        places = torch.arange(int(ends[-1]), device=ends.device)
        return places - torch.repeat_interleave(ends - self.lengths, self.lengths)


def lay_out(lengths: Tensor, step: int = 1) -> Layout:
    """Describe a batch of texts by their lengths in tokens, (texts,) int64.

    Tokens and spare rows together are a multiple of `step`.

    Neighbours of similar length share a group: sort texts by length first. A GPU takes all texts
    in one group, since there many small products cost more than padding.
    """
    counts: list[int] = lengths.tolist()
    spare = _SPARE if lengths.device.type == "cpu" else math.inf
    ends = list(accumulate(counts, initial=0))
    groups = []
    for start, stop in _runs(counts, spare):
        cells, mask = _padding(lengths[start:stop], max(counts[start:stop]))
        group = Group(ends[start], ends[stop], stop - start, max(counts[start:stop]), cells, mask)
        groups.append(group)
    return Layout(lengths, tuple(groups), -ends[-1] % step)


def _runs(counts: Sequence[int], spare: float) -> Iterator[tuple[int, int]]:
    """Cut a sequence into runs whose largest number is at most `spare` times the smallest."""
    start = 0
    least = most = counts[0]
    for place, count in enumerate(counts):
        least, most = min(least, count), max(most, count)
        if most > spare * least:
            yield start, place
            start, least, most = place, count, count
    yield start, len(counts)


def _padding(lengths: Tensor, longest: int) -> tuple[Tensor | None, Tensor | None]:
    """Return the cells and mask of a group; None twice where nothing is padded."""
    if bool((lengths == longest).all()):
        return None, None
    filled = torch.arange(longest, device=lengths.device)[None] < lengths[:, None]
    return filled.flatten().nonzero()[:, 0], filled[:, None, None, :]


def pool_mean(tokens: Tensor, layout: Layout) -> Tensor:
    """Average the tokens of each text; (tokens, d) to (texts, d)."""
    lengths = layout.lengths
    tokens = tokens[: len(tokens) - layout.spare]
    if len(layout.groups) == 1 and layout.groups[0].cells is None:
        return tokens.view(len(lengths), -1, tokens.shape[1]).mean(1)
    owner = torch.repeat_interleave(lengths)
    sums = tokens.new_zeros(len(lengths), tokens.shape[1]).index_add(0, owner, tokens)
    return sums / lengths[:, None].to(sums.dtype)


def equal_length_batches(lengths: Sequence[int], token_budget: int) -> list[list[int]]:
    """Group row numbers by text length, longest first, at most `token_budget` tokens in a batch."""
    by_length: dict[int, list[int]] = {}
    for row, length in enumerate(lengths):
        by_length.setdefault(length, []).append(row)
    batches: list[list[int]] = []
    for length in sorted(by_length, reverse=True):
        rows, size = by_length[length], max(1, token_budget // length)
        n_batches = math.ceil(len(rows) / size)
        even = math.ceil(len(rows) / n_batches)
        batches += [rows[start : start + even] for start in range(0, len(rows), even)]
    return batches
