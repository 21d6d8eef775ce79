"""The shape of the embedding spaces of a project's versions, measured on the same texts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from app.services.answering.opened import UNTUNED, Space, find_space, open_space
from app.services.embedding import digest_of, embed_texts
from app.services.studio import Studio
from core.text import counted
from core.types import FloatArray
from storage import models, projects
from storage.queries import dataset
from storage.records import ProjectRecord, UtteranceRecord

_MOST = 400
_FEWEST = 40
_SETS = {"test": "labelled test text", "train": "example"}
"""A test split with fewer texts is not used if the train split has more."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a version's embeddings fill their space (Wang and Isola 2020; TaDSE, Figure 6).

    Attributes:
        uniformity: How unevenly the texts fill the space; lower is better. None: not measured.
        alignment: How far apart texts of the same intent are; lower is better. None: not measured.
        basis: What these texts are, or why nothing was measured.
    """

    model: str
    number: int
    recipe: str
    uniformity: float | None
    alignment: float | None
    n: int
    basis: str


@dataclass(frozen=True, slots=True)
class _Sample:
    """Texts, each with its label as one name, and a description of them."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    basis: str

    @property
    def has_pairs(self) -> bool:
        """Whether two texts have the same label."""
        return len(set(self.labels)) < len(self.labels)


def shape_of(studio: Studio, project: str, number: int) -> Shape:
    """Measure a version's space; number 0 is the untuned encoder.

    Raises:
        NotFound: There is no such project or version.
        ArtifactDamaged: The files of the version are missing or damaged.
    """
    with studio.database.read() as connection:
        space = find_space(connection, project, number)
    return _measured(studio, space, _sample_of(studio, space.project))


def shapes_of(studio: Studio, project: str) -> list[Shape]:
    """Measure the untuned encoder and every version of a project, oldest first.

    Raises:
        NotFound: There is no such project.
        ArtifactDamaged: The files of a version are missing or damaged.
    """
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
        numbers = [record.number for record in models.list_all(connection, key)]
    return [shape_of(studio, project, number) for number in (UNTUNED, *numbers)]


def _measured(studio: Studio, space: Space, sample: _Sample) -> Shape:
    from core.metrics.geometry import alignment, uniformity

    facts = {} if space.version is None else space.version.lineage
    kind = str(facts.get("recipe", {}).get("kind", ""))
    if not sample.has_pairs:
        return Shape(space.name, space.number, kind, None, None, len(sample.texts), sample.basis)

    def measure() -> tuple[float, float]:
        rows = _embedded(studio, space, sample.texts)
        return uniformity(rows), alignment(rows, sample.labels)

    tree = None if space.version is None else space.version.tree_sha256
    moment = digest_of(sample.texts + sample.labels)
    series = ("shape", space.project.id, tree)
    figures = studio.cache.get_newest(series, moment, measure, lambda _: 200)
    return Shape(space.name, space.number, kind, *figures, len(sample.texts), sample.basis)


def _embedded(studio: Studio, space: Space, texts: tuple[str, ...]) -> FloatArray:
    """Embed with an encoder that is not kept in memory: a project may have many."""
    opened = open_space(studio, space, keep=False)
    return embed_texts(studio.database, opened.encoder, texts)


def _sample_of(studio: Studio, project: ProjectRecord) -> _Sample:
    return studio.cache.get_newest(
        ("shape sample", project.id),
        project.head_revision,
        lambda: _drawn(studio, project),
        lambda made: 300 * len(made.texts),
    )


def _drawn(studio: Studio, project: ProjectRecord) -> _Sample:
    """Use the test split, which no version was trained on, or else the train split.

    The first texts by id are used: ids are random, and a further label removes none from a full
    sample.
    """
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, project.id)
        test, train = (
            _sample(dataset.utterances(connection, project.id, split), names, split)
            for split in ("test", "train")
        )
    if test.has_pairs and len(test.texts) >= min(_FEWEST, len(train.texts)):
        return test
    if train.has_pairs:
        return train
    return replace(train, basis="It takes two examples of one intent.")


def _sample(rows: Iterable[UtteranceRecord], names: Mapping[str, str], split: str) -> _Sample:
    said = (row for row in rows if row.labels and not row.synthetic)
    taken = list(islice(said, _MOST))
    return _Sample(
        texts=tuple(row.text for row in taken),
        labels=tuple(" and ".join(sorted(names[key] for key in row.labels or ())) for row in taken),
        basis=counted(len(taken), _SETS[split]),
    )
