"""ConveRT as a network: subword ids in, `r` or `h` of a side out."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from core.encoders.convert.blocks import Block, FeedForward2, Reduction
from core.encoders.convert.quantisation import HalfLinear, QuantisedEmbedding
from core.encoders.convert.sizes import Sizes

_TOKEN_BUDGET = 4_096


class ConvertNetwork(nn.Module):
    """Embeddings, blocks and reduction shared by all sides, and a feed-forward 2 for each side."""

    def __init__(self, sizes: Sizes, *, quantised: bool) -> None:
        super().__init__()
        self.sizes = sizes
        rows = sizes.pieces + sizes.buckets
        self.words = QuantisedEmbedding(rows, sizes.width, quantised=quantised)
        self.positions = nn.ModuleList(
            QuantisedEmbedding(cycle, sizes.width, quantised=quantised) for cycle in sizes.cycles
        )
        self.dropout = nn.Dropout(sizes.dropout)
        self.blocks = nn.ModuleList(
            Block(sizes, reach, quantised=quantised) for reach in sizes.reach
        )
        self.reduction = Reduction(sizes, quantised=quantised)
        self.sides = nn.ModuleDict(
            {side: FeedForward2(sizes, quantised=quantised) for side in sizes.sides}
        )

    def forward(self, ids: Tensor, present: Tensor, frozen: int = 0) -> Tensor:
        """Return `r`; subword ids (b, n) int64 with (b, n) bool to (b, heads d).

        Each row has at least one subword present; other ids are ignored. `frozen` lower blocks get
        no gradients; more than 0 also freezes the tables.
        """
        with torch.set_grad_enabled(torch.is_grad_enabled() and frozen == 0):
            tokens = self.dropout(self.embed(ids))
            for block in self.blocks[:frozen]:
                tokens = block(tokens, present)
        for block in self.blocks[frozen:]:
            tokens = block(tokens, present)
        reduced: Tensor = self.reduction(tokens, present)
        return reduced

    def embed(self, ids: Tensor) -> Tensor:
        """Look up subwords and add both positions, t mod 47 and t mod 11; (b, n) to (b, n, d)."""
        steps = torch.arange(ids.shape[1], device=ids.device)
        tokens: Tensor = self.words(ids)
        for table, cycle in zip(self.positions, self.sizes.cycles, strict=True):
            tokens = tokens + table(steps % cycle)
        return tokens

    def reduce(self, ids: Sequence[Sequence[int]], frozen: int = 0) -> Tensor:
        """Return `r` of texts of any lengths, with little padding; (texts, heads d)."""
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]), reverse=True)
        parts = []
        for rows in _groups([len(ids[row]) for row in order], _TOKEN_BUDGET):
            padded, present = pad([ids[order[row]] for row in rows], self.words.weight.device)
            parts.append(self(padded, present, frozen))
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[back.to(parts[0].device)]

    def follow_values(self) -> None:
        """Set the ranges of the 8-bit tables from their current values."""
        for table in (self.words, *self.positions):
            if isinstance(table, QuantisedEmbedding):
                table.follow_values()


def pad(ids: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Pad ids to (b, n) int64; also return which positions hold an id, (b, n) bool."""
    longest = max(len(row) for row in ids)
    padded = torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids])
    lengths = torch.tensor([len(row) for row in ids])
    present = torch.arange(longest)[None] < lengths[:, None]
    return padded.to(device), present.to(device)


def new_network(sizes: Sizes, seed: int, *, quantised: bool) -> ConvertNetwork:
    """Make an untrained network; equal seeds give equal networks."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        network = ConvertNetwork(sizes, quantised=quantised)
        nn.init.normal_(network.words.weight, std=sizes.width**-0.5)
        for table in network.positions:
            nn.init.normal_(table.get_parameter("weight"), std=0.5 * sizes.width**-0.5)
        for name, part in network.named_modules():
            if isinstance(part, HalfLinear) and not name.startswith("sides"):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
    finally:
        torch.set_rng_state(state)
    network.follow_values()
    return network


def _groups(lengths: Sequence[int], budget: int) -> list[range]:
    """Cut a falling list of lengths into runs, each within a budget of padded tokens."""
    groups: list[range] = []
    start = 0
    for at, length in enumerate(lengths):
        # At most a quarter of a run is padding.
        if at > start and (
            (at + 1 - start) * lengths[start] > budget or 4 * length < 3 * lengths[start]
        ):
            groups.append(range(start, at))
            start = at
    return [*groups, range(start, len(lengths))]
