"""A bundle that is one graph as a model to judge; the engine of the model server answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from app.services.answering.file_models import engine_of
from core.errors import MALFORMED, ArtifactDamaged
from core.runtime.files import read_learned
from core.types import Exemplar, FloatArray, Prediction, Task

if TYPE_CHECKING:
    from core.runtime.engine import Engine


@dataclass(frozen=True, slots=True, eq=False)
class GraphModel:
    """A graph with what it has learned.

    Attributes:
        learned: Hashes of the texts that its encoder learned beside the exemplars.
    """

    engine: "Engine" = field(repr=False)
    learned: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def task(self) -> Task:
        """Whether an answer is one intent, or any number of them."""
        return self.engine.decider.task

    @property
    def encoder(self) -> None:
        """Nothing: the graph embeds texts itself."""

    @property
    def intents(self) -> tuple[str, ...]:
        """Names of the intents, in the order of the scores."""
        return self.engine.decider.intents

    @property
    def exemplars(self) -> tuple[Exemplar, ...]:
        """The labelled utterances that vote."""
        return self.engine.decider.exemplars

    @property
    def exact(self) -> Mapping[str, tuple[str, ...]]:
        """Match key to intents."""
        return self.engine.decider.exact

    def predict(
        self, texts: Sequence[str], embeddings: FloatArray | None = None
    ) -> list[Prediction]:
        """Answer texts by the graph; embeddings of others are not taken.

        Raises:
            ValueError: Embeddings are given.
        """
        if embeddings is not None:
            message = "a graph takes texts alone"
            raise ValueError(message)
        return self.engine.predict(texts) if texts else []

    def renamed(self, intents: tuple[str, ...]) -> Self:
        """Return the same with other names of its intents."""
        decider = self.engine.decider.renamed(intents)
        return replace(self, engine=replace(self.engine, decider=decider))


def open_graph_model(folder: Path, name: str) -> GraphModel:
    """Open the graph of an unpacked bundle, under the bundle's name.

    Raises:
        ArtifactDamaged: A file is missing or not readable.
        InvalidInput: The library that runs graphs is not installed.
    """
    engine = engine_of(folder, name)
    try:
        return GraphModel(engine, read_learned(folder))
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"What {name} has learned cannot be read: {error}.", "Export it again."
        ) from error
