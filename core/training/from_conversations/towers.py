"""Encoders opened to learn ranking: one encoder for both sides, or a ConveRT with its sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.base import Tuning
from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.subwords import Subwords
from core.formats.dialogues import Pair
from core.losses.ranking import annealed_scale, ranking_loss, scaled_cosines
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.training.from_conversations.gradient_cache import Texts
from core.training.from_conversations.turns import Turns, turns_of

_RANGE_STEPS = 100


class Towers(Protocol):
    """An encoder of contexts and responses, opened for training."""

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        ...

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        ...

    def train(self) -> object:
        """Switch dropout on."""
        ...

    def eval(self) -> object:
        """Switch dropout off."""
        ...

    def read(self, batch: Sequence[Pair], step: int) -> Turns:
        """Number the texts of a batch that are read in a step, counted from 0."""
        ...

    def open(self, texts: Sequence[str]) -> Texts:
        """Prepare texts for embedding."""
        ...

    def loss(self, embedded: Tensor, turns: Turns, step: int) -> Tensor:
        """Return the loss of embedded texts after `step` steps, a scalar."""
        ...

    def before_step(self, step: int, progress: float) -> None:
        """Prepare a step, counted from 0; `progress` is the finished share of the run."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return what a resumed run needs besides weights."""
        ...

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""
        ...


class EncoderTowers:
    """Any encoder opened for tuning; both sides share its weights (ConvFiT 2.1).

    By default the responses have a linear layer of their own after it, which starts as the
    identity. If both sides were one function, a turn could not tell the turn after it from the
    turn before it.
    """

    def __init__(self, tuning: Tuning, recipe: DialoguesRecipe, width: int) -> None:
        self.tuning = tuning
        self.recipe = recipe
        self.reply = nn.Parameter(torch.eye(width, device=tuning.device))

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.tuning.device

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        own = [("reply", self.reply)] if self.recipe.reply_layer else []
        return [*self.tuning.trainable(), *own]

    def train(self) -> object:
        """Switch dropout on."""
        return self.tuning.train()

    def eval(self) -> object:
        """Switch dropout off."""
        return self.tuning.eval()

    def read(self, batch: Sequence[Pair], step: int) -> Turns:  # noqa: ARG002
        """Number the texts of a batch; earlier turns are part of the context's text."""
        return turns_of(batch, joined=True)

    def open(self, texts: Sequence[str]) -> Texts:
        """Prepare texts for embedding."""
        opened = self.tuning.alongside(texts)
        return Texts(lambda rows: opened(rows.to(self.device)), len(texts))

    def loss(self, embedded: Tensor, turns: Turns, step: int) -> Tensor:  # noqa: ARG002
        """Return the MNEG loss of embedded texts, a scalar."""
        contexts, responses = embedded[turns.contexts], embedded[turns.responses]
        if self.recipe.reply_layer:
            responses = F.normalize(responses, dim=1) @ self.reply.T
        scores = scaled_cosines(contexts, responses, self.recipe.scale)
        excluded = turns.alike.to(scores.device)
        return ranking_loss(scores, self.recipe.denominator, excluded=excluded)

    def before_step(self, step: int, progress: float) -> None:
        """Do nothing."""

    def state(self) -> dict[str, Tensor]:
        """Return nothing; weights are the whole state."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Do nothing."""


class ConvertTowers:
    """A ConveRT with its sides; earlier turns have their own side (ConveRT 2.2).

    Earlier turns are read only after a share of the run, since a step without them takes half the
    time. Their side then starts as a copy of the contexts' side.
    """

    def __init__(self, network: ConvertNetwork, subwords: Subwords, recipe: ConvertRecipe) -> None:
        self.network = network
        self.subwords = subwords
        self.recipe = recipe
        self.reads_history = False

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.network.words.weight.device

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return list(self.network.named_parameters())

    def train(self) -> object:
        """Switch dropout and quantisation on."""
        return self.network.train()

    def eval(self) -> object:
        """Switch dropout and quantisation off; a run that ended early gets its history side."""
        self._begin_history()
        return self.network.eval()

    def read(self, batch: Sequence[Pair], step: int) -> Turns:
        """Number the texts of a batch; each step reads the earlier turns of other pairs."""
        every = self.recipe.history_every
        some = slice(step % every, None, every) if self.reads_history else slice(0)
        return turns_of(batch, joined=False, histories=some)

    def open(self, texts: Sequence[str]) -> Texts:
        """Prepare texts for `r`, which all sides share."""
        ids = self.subwords.tokenise(texts, self.network.sizes.max_tokens)

        def embed(rows: Tensor) -> Tensor:
            return self.network.reduce([ids[row] for row in rows.tolist()])

        return Texts(embed, len(texts))

    def loss(self, embedded: Tensor, turns: Turns, step: int) -> Tensor:
        """Average the losses of context, history, and the sum of both, against responses."""
        sides = self.network.sides
        contexts = sides["context"](embedded[turns.contexts])
        responses = sides["response"](embedded[turns.responses])
        alike = turns.alike.to(self.device)
        losses = [self._rank(contexts, responses, alike, step)]
        if "history" in sides and len(turns.owners):
            owners = turns.owners.to(self.device)
            history = sides["history"](embedded[turns.histories])
            among = alike[owners][:, owners]
            losses.append(self._rank(history, responses[owners], among, step))
            both = contexts.index_add(0, owners, history)
            losses.append(self._rank(both, responses, alike, step))
        return torch.stack(losses).mean()

    def _rank(self, asked: Tensor, responses: Tensor, alike: Tensor, step: int) -> Tensor:
        scale = annealed_scale(step, self.recipe.annealing, self.network.sizes.output)
        scores = scaled_cosines(asked, responses, scale)
        return ranking_loss(scores, smoothing=self.recipe.smoothing, excluded=alike)

    def before_step(self, step: int, progress: float) -> None:
        """Update the ranges of the 8-bit tables every 100 steps; start with earlier turns once."""
        if self.recipe.quantised and step % _RANGE_STEPS == 0:
            self.network.follow_values()
        if progress >= self.recipe.history_from:
            self._begin_history()

    def _begin_history(self) -> None:
        sides = self.network.sides
        if "history" in sides and not self.reads_history:
            sides["history"].load_state_dict(sides["context"].state_dict())
        self.reads_history = True

    def state(self) -> dict[str, Tensor]:
        """Return ranges, vocabulary (to avoid learning it again), and whether history is read."""
        spans = {f"buffer.{name}": value.clone() for name, value in self.network.named_buffers()}
        read = torch.tensor([self.reads_history])
        return {**spans, "vocabulary": pieces_tensor(self.subwords.pieces), "history": read}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for name, value in self.network.named_buffers():
            value.copy_(tensors[f"buffer.{name}"])
        self.reads_history = bool(tensors["history"].all())


def pieces_tensor(pieces: Sequence[str]) -> Tensor:
    """Write subwords, which contain no line ends, as a uint8 tensor for a checkpoint."""
    return torch.tensor(list("\n".join(pieces).encode()), dtype=torch.uint8)


def read_pieces(tensor: Tensor) -> tuple[str, ...]:
    """Read subwords from a tensor; the inverse of `pieces_tensor`."""
    return tuple(bytes(tensor.tolist()).decode().split("\n"))


def texts_of(pairs: Iterator[Pair]) -> Iterator[str]:
    """Stream each turn once: all responses, and the first context of each conversation."""
    last = None
    for pair in pairs:
        if pair.context is not last:
            yield pair.context
        yield pair.response
        last = pair.response
