"""Learn from templates (TaDSE): slotted utterances in, events and an encoder out."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.encoders.base import Encoder
from core.encoders.opening import open_tuning
from core.errors import InvalidInput
from core.losses.template import TemplateWeights, Views, template_loss
from core.recipes.templates import TemplatesRecipe
from core.splits import drawn_rows
from core.templates.augmenting import Augmentation, augment
from core.templates.slot_book import slot_book
from core.templates.slots import SlottedText, template_of
from core.training.batches import even_batches
from core.training.checkpoints import Checkpoint, digest_of
from core.training.devices import ComputeOptions, tuning_options, with_precision
from core.training.events import Event, StageStarted
from core.training.loop import Course, FitOptions, Plan, follow

STAGE = "templates"


@dataclass(frozen=True, slots=True)
class TemplateInputs(ComputeOptions):
    """A base and utterances with their slots; an utterance without slots is its own template."""

    utterances: Sequence[SlottedText]
    encoder: Encoder


@dataclass(frozen=True, slots=True)
class Pairing:
    """The texts of a run, and the template of each utterance.

    Attributes:
        texts: Utterances, then templates, each once.
        template_rows: Row of each utterance's template in `texts`, (utterances,) int64.
        said: Number of utterances that are not synthetic; these are first.
    """

    texts: tuple[str, ...]
    template_rows: NDArray[np.int64]
    said: int


def run_templates(
    recipe: TemplatesRecipe, inputs: TemplateInputs, resume: Checkpoint | None = None
) -> Generator[Event, None, Encoder]:
    """Tune a copy of the encoder; yields events and returns the encoder.

    Raises:
        InvalidInput: There are fewer than two utterances or no slots, or the base cannot be tuned.
    """
    yield StageStarted("reading")
    pairing = pair_up(inputs.utterances, recipe)
    recipe = with_precision(recipe, inputs.device, resume)
    tuning = open_tuning(inputs.encoder, pairing.texts, tuning_options(recipe, inputs.device))
    yield StageStarted("contrasting")
    course = plan_course(pairing, recipe, inputs.encoder.dim, tuning.device)
    rows = digest_of(pairing.texts, pairing.template_rows)
    options = FitOptions(STAGE, resume, inputs.checkpoint_every, rows=rows)
    yield from follow(tuning, course, recipe, options)
    return tuning.finish(recipe.interpolation)


def pair_up(utterances: Sequence[SlottedText], recipe: TemplatesRecipe) -> Pairing:
    """Pair utterances, and synthetic ones, with templates; errors are those of `run_templates`."""
    said = list({one.text.strip().casefold(): one for one in utterances}.values())
    if len(said) < 2 or not any(one.slots for one in said):
        raise InvalidInput(
            "Templates need two different texts or more, and slots marked in some of them.",
            "Mark values in texts, or import a file that has them marked.",
        )
    chosen, n_said = _drawn([*said, *_synthetic(said, recipe)], len(said), recipe)
    rows: dict[str, int] = {}
    numbers = [
        rows.setdefault(template_of(one, recipe.tokens), len(chosen) + len(rows)) for one in chosen
    ]
    texts = (*(one.text for one in chosen), *rows)
    return Pairing(texts, np.array(numbers, dtype=np.int64), n_said)


def _synthetic(said: Sequence[SlottedText], recipe: TemplatesRecipe) -> list[SlottedText]:
    if not recipe.augment:
        return []
    how = Augmentation(recipe.top_values, recipe.per_template, recipe.augmented, recipe.seed)
    return [made.utterance for made in augment(said, slot_book(said), how)]


def _drawn(
    utterances: list[SlottedText], n_said: int, recipe: TemplatesRecipe
) -> tuple[list[SlottedText], int]:
    """Draw as many as the recipe says, in their order; also count those that are not synthetic."""
    rows = drawn_rows(len(utterances), recipe.tuned_on, recipe.seed)
    return [utterances[row] for row in rows], int((rows < n_said).sum())


def plan_course(
    pairing: Pairing, recipe: TemplatesRecipe, dim: int, device: torch.device
) -> Course:
    """Plan the batches: each utterance shares a batch with its template."""
    objective = TemplateObjective(recipe, dim, device)
    n_utterances, targets = len(pairing.template_rows), np.arange(len(pairing.texts))
    targets[:n_utterances] = pairing.template_rows
    plan: Plan = []
    for epoch in range(1, recipe.epochs + 1):
        generator = np.random.default_rng([recipe.seed, epoch])
        for rows in even_batches(n_utterances, recipe.batch_size, generator):
            plan.append((epoch, objective.rows(rows, pairing.template_rows[rows])))
    return Course(plan, torch.from_numpy(targets).to(device), objective)


class TemplateObjective:
    """A recipe's loss; each view that a weight above 0 needs is one block of the batch."""

    weights: nn.ParameterDict

    def __init__(self, recipe: TemplatesRecipe, dim: int, device: torch.device) -> None:
        self.spared = recipe.twins == "spared"
        self.parts = TemplateWeights(
            recipe.template_weight,
            recipe.utterance_weight,
            recipe.pair_weight,
            recipe.template_temperature,
            recipe.utterance_temperature,
            recipe.pair_temperature,
        )
        paired = bool(self.parts.pair)
        self.blocks = (
            max(2 * bool(self.parts.template), paired),
            max(2 * bool(self.parts.utterance), paired),
        )
        self.weights = nn.ParameterDict()
        if recipe.template_layer:
            # Starting at the identity saves a short run from having to learn it.
            self.weights["layer"] = nn.Parameter(torch.eye(dim, device=device))

    def rows(
        self, utterances: NDArray[np.int64], templates: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Arrange the rows of a batch in blocks, as the loss reads them."""
        of_templates, of_utterances = self.blocks
        return np.concatenate([templates] * of_templates + [utterances] * of_utterances)

    def __call__(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of the blocks; labels are the rows of the utterances' templates."""
        of_templates, of_utterances = self.blocks
        parts = list(embeddings.chunk(of_templates + of_utterances))
        templates = [self._templates(part) for part in parts[:of_templates]]
        utterances = parts[of_templates:]
        nothing = embeddings[:0]
        views = Views(*_twice(templates, nothing), *_twice(utterances, nothing))
        own = labels[: len(parts[0])]
        twins = own[:, None] == own[None, :] if self.spared else None
        return template_loss(views, self.parts, twins)

    def _templates(self, embeddings: Tensor) -> Tensor:
        if "layer" not in self.weights:
            return embeddings
        layer: Tensor = self.weights["layer"]
        return embeddings @ layer.T


def _twice(parts: list[Tensor], nothing: Tensor) -> tuple[Tensor, Tensor]:
    """Return both views; views of weight 0 are empty and never read."""
    views = [*parts, nothing, nothing]
    return views[0], views[1]
