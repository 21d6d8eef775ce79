"""What ranks responses: an encoder that reads both sides alike, or a ConveRT with its own sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.base import Tuning
from core.encoders.convert.network import ConvertNetwork
from core.encoders.convert.subwords import Subwords
from core.formats.dialogues import Pair, context_text, history_text
from core.losses.ranking import annealed_scale, ranking_loss, same_responses, scaled_cosines
from core.ranking_recipes import ConvertRecipe, DialoguesRecipe
from core.training.gradient_cache import Embed, Texts

_RANGE_STEPS = 100


class Towers(Protocol):
    """An encoder of contexts and responses, opened for training."""

    @property
    def device(self) -> torch.device:
        """Where it computes."""
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

    def open(self, batch: Sequence[Pair]) -> dict[str, Texts]:
        """Make the texts of each side ready to be embedded."""
        ...

    def loss(self, embedded: Mapping[str, Tensor], batch: Sequence[Pair], step: int) -> Tensor:
        """Return the loss of a batch after so many steps, a scalar."""
        ...

    def before_step(self, step: int) -> None:
        """Do what is due before a step, counted from 0."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return what a resumed run needs beside weights."""
        ...

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `state` returned."""
        ...


class EncoderTowers:
    """Any encoder opened for tuning; contexts and responses are read alike (ConvFiT 2.1)."""

    def __init__(self, tuning: Tuning, recipe: DialoguesRecipe) -> None:
        self.tuning = tuning
        self.recipe = recipe

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.tuning.device

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return self.tuning.trainable()

    def train(self) -> object:
        """Switch dropout on."""
        return self.tuning.train()

    def eval(self) -> object:
        """Switch dropout off."""
        return self.tuning.eval()

    def open(self, batch: Sequence[Pair]) -> dict[str, Texts]:
        """Make the texts of each side ready to be embedded."""
        sides = {
            "context": [context_text(pair) for pair in batch],
            "response": [pair.response for pair in batch],
        }
        return {
            side: Texts(_on(self.tuning.alongside(texts), self.device), len(texts))
            for side, texts in sides.items()
        }

    def loss(self, embedded: Mapping[str, Tensor], batch: Sequence[Pair], step: int) -> Tensor:  # noqa: ARG002
        """Return the MNEG loss of a batch, a scalar."""
        scores = scaled_cosines(embedded["context"], embedded["response"], self.recipe.scale)
        excluded = same_responses([pair.response for pair in batch], scores.device)
        return ranking_loss(scores, self.recipe.denominator, excluded=excluded)

    def before_step(self, step: int) -> None:
        """Nothing is due."""

    def state(self) -> dict[str, Tensor]:
        """Return what a resumed run needs beside weights."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `state` returned."""


class ConvertTowers:
    """A ConveRT with its sides; earlier turns have one of their own (ConveRT 2.2)."""

    def __init__(self, network: ConvertNetwork, subwords: Subwords, recipe: ConvertRecipe) -> None:
        self.network = network
        self.subwords = subwords
        self.recipe = recipe

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.network.words.weight.device

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return list(self.network.named_parameters())

    def train(self) -> object:
        """Switch dropout and quantisation on."""
        return self.network.train()

    def eval(self) -> object:
        """Switch them off."""
        return self.network.eval()

    def open(self, batch: Sequence[Pair]) -> dict[str, Texts]:
        """Make the texts of each side ready to be embedded; only pairs with history have one."""
        sides = {
            "context": [pair.context for pair in batch],
            "response": [pair.response for pair in batch],
            "history": [history_text(pair.history) for pair in batch if pair.history],
        }
        wanted = {side: texts for side, texts in sides.items() if side in self.network.sides}
        return {
            side: Texts(self._embed(side, texts), len(texts))
            for side, texts in wanted.items()
            if texts
        }

    def _embed(self, side: str, texts: list[str]) -> Embed:
        ids = self.subwords.tokenise(texts, self.network.sizes.max_tokens)

        def embed(rows: Tensor) -> Tensor:
            reduced = self.network.reduce([ids[row] for row in rows.tolist()])
            encoded: Tensor = self.network.sides[side](reduced)
            return encoded

        return embed

    def loss(self, embedded: Mapping[str, Tensor], batch: Sequence[Pair], step: int) -> Tensor:
        """Average the objectives: context, history, and the mean of both against responses."""
        contexts, responses = embedded["context"], embedded["response"]
        texts = [pair.response for pair in batch]
        found = [self._rank(contexts, responses, texts, step)]
        if "history" in embedded:
            earlier = [row for row, pair in enumerate(batch) if pair.history]
            rows = torch.tensor(earlier, device=contexts.device)
            history = embedded["history"]
            some = [texts[row] for row in earlier]
            found.append(self._rank(history, responses[rows], some, step))
            both = F.normalize(contexts, dim=1).index_add(0, rows, F.normalize(history, dim=1))
            found.append(self._rank(both, responses, texts, step))
        return torch.stack(found).mean()

    def _rank(self, asked: Tensor, responses: Tensor, texts: list[str], step: int) -> Tensor:
        scale = annealed_scale(step, self.recipe.annealing, self.network.sizes.output)
        excluded = same_responses(texts, asked.device)
        scores = scaled_cosines(asked, responses, scale)
        return ranking_loss(scores, smoothing=self.recipe.smoothing, excluded=excluded)

    def before_step(self, step: int) -> None:
        """Move the ranges of the 8-bit tables now and then."""
        if self.recipe.quantised and step % _RANGE_STEPS == 0:
            self.network.follow_values()

    def state(self) -> dict[str, Tensor]:
        """Return the ranges and the vocabulary, so that it need not be learned again."""
        spans = {f"buffer.{name}": value.clone() for name, value in self.network.named_buffers()}
        return {**spans, "vocabulary": pieces_tensor(self.subwords.pieces)}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `state` returned."""
        for name, value in self.network.named_buffers():
            value.copy_(tensors[f"buffer.{name}"])


def pieces_tensor(pieces: Sequence[str]) -> Tensor:
    """Write subwords, in which there are no line ends, as a tensor for a checkpoint; uint8."""
    return torch.tensor(list("\n".join(pieces).encode()), dtype=torch.uint8)


def read_pieces(tensor: Tensor) -> tuple[str, ...]:
    """The inverse of `pieces_tensor`."""
    return tuple(bytes(tensor.tolist()).decode().split("\n"))


def _on(tuning: Tuning, device: torch.device) -> Embed:
    return lambda rows: tuning(rows.to(device))


def texts_of(pairs: Iterator[Pair]) -> Iterator[str]:
    """Stream each turn once: all responses, and the contexts that begin a conversation."""
    last = None
    for pair in pairs:
        if pair.context is not last:
            yield pair.context
        yield pair.response
        last = pair.response
