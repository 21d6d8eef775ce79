"""The sizes of a ConveRT (Henderson et al. 2020), and the two named ones."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Sizes:
    """All sizes of a network; the defaults are the paper's.

    Attributes:
        pieces: Subwords in the vocabulary.
        buckets: Rows shared by hashed characters that are not in the vocabulary.
        width: Width of subword embeddings and blocks.
        projection: Width of queries, keys and values.
        reach: Attention reach of each block, in tokens.
        inner: Width of feed-forward 1.
        heads: Heads of the reduction; `r` has heads x width numbers.
        layers: Hidden layers of feed-forward 2.
        output: Width of `h`.
        cycles: Rows of the two positional matrices.
        dropout: After the embeddings and inside blocks, during training.
        sides: Sides with a feed-forward 2: `context`, `response`; `history` for multi-context.
    """

    pieces: int = 31_476
    buckets: int = 1_000
    width: int = 512
    projection: int = 64
    reach: tuple[int, ...] = (3, 5, 48, 48, 48, 48)
    inner: int = 2_048
    heads: int = 2
    layers: int = 3
    output: int = 512
    cycles: tuple[int, int] = (47, 11)
    max_tokens: int = 60
    dropout: float = 0.0
    sides: tuple[str, ...] = ("context", "response")

    @property
    def reduced(self) -> int:
        """Width of `r`."""
        return self.heads * self.width


PAPER = Sizes()
SMALL = Sizes(
    pieces=8_000, width=256, reach=(3, 5, 48), inner=512, layers=2, output=256, max_tokens=32
)
_NAMED = {"paper": PAPER, "small": SMALL}


def named_sizes(name: str, pieces: int, *, history: bool) -> Sizes:
    """Return `paper` or `small`, for a vocabulary of `pieces` subwords."""
    sides = ("context", "response", *(("history",) if history else ()))
    return replace(_NAMED[name], pieces=pieces, sides=sides)
