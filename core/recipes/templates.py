"""The recipe that learns from templates, in which marked values are left out."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from core.recipes.base import MOST, LearningRate, Makes, Source, Tuned


class TemplatesRecipe(Tuned):
    """Tune any encoder by utterances and their templates, without a label (TaDSE)."""

    makes: ClassVar[Makes] = "encoder"
    learns_from: ClassVar[Source] = "templates"
    title: ClassVar[str] = "Templates"
    plain_title: ClassVar[str] = "Marked values"
    summary: ClassVar[str] = (
        "Prepares a start for other trainings that looks past the values you marked, such as "
        "names and dates. Needs no labels, and answers nothing by itself."
    )
    work: ClassVar[str] = "Learns from {what} to look past these values"

    kind: Literal["templates"] = "templates"
    tokens: Literal["one", "distinct"] = Field(
        default="one",
        description="What stands for a value in a template: {SLOT}, or its slot's own name.",
    )
    template_weight: float = Field(
        default=1.0, ge=0, le=100, description="Weight of templates told apart from each other."
    )
    utterance_weight: float = Field(
        default=1.0, ge=0, le=100, description="Weight of utterances told apart from each other."
    )
    pair_weight: float = Field(
        default=1.0, ge=0, le=100, description="Weight of a template finding its own utterance."
    )
    template_temperature: float = Field(
        default=0.05, gt=0, le=1, description="Temperature among templates."
    )
    utterance_temperature: float = Field(
        default=0.05, gt=0, le=1, description="Temperature among utterances."
    )
    pair_temperature: float = Field(
        default=0.05, gt=0, le=1, description="Temperature between templates and utterances."
    )
    template_layer: bool = Field(
        default=False,
        description="Give templates a linear layer of their own in training (the paper's W_A).",
    )
    twins: Literal["spared", "negatives"] = Field(
        default="spared",
        description="Utterances of the same template in a batch: left out, or told apart as in "
        "the paper.",
    )
    augment: bool = Field(
        default=False,
        title="Add texts with other values",
        description="Fills other frequent values into your texts. It changes little: templates "
        "teach the same.",
    )
    top_values: int = Field(
        default=5, ge=1, le=100, description="Values of each slot that are filled in."
    )
    per_template: int = Field(
        default=2, ge=1, le=1_000, description="New utterances of one template, at most."
    )
    augmented: int = Field(
        default=50_000, ge=1, le=1_000_000, description="New utterances in all, at most."
    )
    tuned_on: int | None = Field(
        default=1_200,
        ge=2,
        le=MOST,
        description="Utterances to tune on, drawn at random from those said and added. Empty: all.",
    )
    epochs: int = Field(
        default=1,
        ge=1,
        le=100,
        title="Rounds over your texts",
        description="How often a training goes through them (epochs).",
    )
    batch_size: int = Field(
        default=32, ge=2, le=4_096, description="Utterances of which each is the others' negative."
    )
    learning_rate: LearningRate = 2e-4

    @model_validator(mode="after")
    def _something_to_learn(self) -> Self:
        if not (self.template_weight or self.utterance_weight or self.pair_weight):
            message = "one of template_weight, utterance_weight and pair_weight must be above 0"
            raise ValueError(message)
        return self


def utterances_alone(recipe: TemplatesRecipe) -> TemplatesRecipe:
    """Return the same recipe without templates: L^u only, on the same utterances."""
    weights = {"template_weight": 0.0, "utterance_weight": 1.0, "pair_weight": 0.0}
    return recipe.model_copy(update=weights)
