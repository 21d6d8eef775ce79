"""What a check is about: the model that is checked, its champion, and the texts to ask them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.services.answering.graph_models import open_graph_model
from app.services.answering.pinned import OpenPin
from app.services.answering.stored import (
    checked_out,
    find_model,
    is_bundle,
    load_model,
    load_unpacked,
)
from app.services.studio import Studio
from app.services.versions.comparison import Contender, Questions, dataset_of, questions_of
from app.services.versions.evaluating import read_labelled
from app.services.versions.registry import lineage
from core.bundle.card import MEASURED
from core.bundle.facts import is_graph, read_facts
from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.metrics.coverage import as_counted_now
from core.pipeline import Answerer
from core.text import counted, some_of
from core.types import Exemplar

_MEGABYTE = 1_000_000
_NAMED = 3
_OF_NO_GRAPH = (
    "What was measured before {} was made one graph does not count: the graph may answer otherwise."
)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A model as it is checked: a version as it was trained, by its project's fence, or a bundle.

    Attributes:
        reference: `PROJECT@N`, or the path of a bundle.
        project: The project's name; None for a bundle.
        n_bytes: Size of the bundle; of a version, an estimate of it.
        figures: Figures that are stored with it: those of its training.
        data: SHA-256 of the dataset version that it learned from; "" is not known.
        exported: Of a bundle, how it answered its project's test texts when it was exported. A
            graph has no other figures: those of the training are of answers in float32.
        pins: Pins that a bundle brings; those of a version are its project's.
        n_textless: How many more a bundle would bring that was made with texts.
        renamed: Names of intents in a bundle's file, and what they are called now.
    """

    name: str
    reference: str
    project: str | None
    pipeline: Answerer = field(repr=False)
    n_bytes: int
    figures: Mapping[str, Any] = field(repr=False)
    data: str = ""
    exported: Mapping[str, Any] = field(default_factory=dict, repr=False)
    pins: tuple[OpenPin, ...] = ()
    n_textless: int = 0
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def megabytes(self) -> float:
        """Size in units of 1,000,000 bytes."""
        return self.n_bytes / _MEGABYTE

    @property
    def is_graph(self) -> bool:
        """Whether it is one graph, which answers as the model server does."""
        return self.pipeline.encoder is None

    @property
    def contender(self) -> Contender:
        """The model for a comparison."""
        return Contender(self.name, self.figures, lambda: self.pipeline, self.data)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The texts and pins by which a model is judged.

    `origin` says where the texts are from: "of support", "of tests.csv"; "" without a text.
    """

    questions: Questions
    origin: str
    notes: tuple[str, ...]


def open_subject(studio: Studio, reference: str) -> Subject:
    """Open `PROJECT` (its champion), `PROJECT@N` or a bundle.

    Raises:
        InvalidInput: It is an encoder version, or a graph without the library that runs it.
        NotFound: It does not exist.
        ArtifactDamaged: Its files are missing or changed.
    """
    if is_bundle(reference):
        with checked_out(studio, reference) as (folder, name):
            facts, size = read_facts(folder), Path(reference).stat().st_size
            model: Answerer
            if is_graph(facts):
                model = open_graph_model(folder, name)
            else:
                model = load_unpacked(studio, folder, name)
            return _with_facts(Subject(name, reference, None, model, size, {}), facts)
    with studio.database.read() as connection:
        project, record = find_model(connection, reference)
    name = f"{project.name}@{record.number}"
    pipeline = load_model(studio, name)
    size = lineage(studio, project.name, record.number).bundle_bytes
    data = dataset_of(record.lineage)
    return Subject(name, name, project.name, pipeline, size, record.metrics, data)


def asked_of(
    studio: Studio, subject: Subject, champion: Subject | None, tests: Path | None
) -> Asked:
    """Return what to ask: texts of the file, or of the project of the model or its champion.

    A bundle without either brings its pins alone. Where there is no pin, the champion's count.

    Raises:
        InvalidInput: One may give several intents and the other one, or the file is not usable.
    """
    task = subject.pipeline.task
    if champion is not None and champion.pipeline.task != task:
        raise InvalidInput(
            f"{subject.name} is {task}, and {champion.name} is {champion.pipeline.task}.",
            "Compare models that may both give one intent, or both several.",
        )
    project = subject.project or (None if champion is None else champion.project)
    if project is not None:
        questions, notes = questions_of(studio, project), list[str]()
    else:
        questions, notes = Questions(task, (), subject.pins), _lacking_words(subject)
    if not questions.pins and champion is not None and champion.pins:
        questions = replace(questions, pins=champion.pins)
        notes.append(f"The pins are those of {champion.name}.")
        notes += _unknown_in_pins(questions, subject)
    if questions.stale_pins:
        stale = counted(questions.stale_pins, "pin")
        notes.append(f"{stale} not judged, for the intent expected is archived or gone.")
    origin = f"of {project}" if questions.tests else ""
    if tests is not None:
        questions = replace(questions, tests=_read_tests(tests, subject, champion))
        origin = f"of {tests.name}"
    notes += _unknown_labels(questions, subject)
    if subject.is_graph and not questions.tests:
        notes.append(_OF_NO_GRAPH.format(subject.name))
    return Asked(questions, origin, tuple(notes))


def _read_tests(path: Path, subject: Subject, champion: Subject | None) -> list[Exemplar]:
    """Read the labelled texts of a file; a label that a model was renamed from is its new name."""
    known = set(subject.pipeline.intents)
    renamed = {**subject.renamed, **(champion.renamed if champion is not None else {})}
    to = {old: new for old, new in renamed.items() if old not in known}
    return [
        replace(one, intents=tuple(to.get(name, name) for name in one.intents))
        for one in read_labelled(path, subject.pipeline)
    ]


def _with_facts(bundle: Subject, facts: Mapping[str, Any]) -> Subject:
    try:
        stored = facts.get("pins", {})
        pins = tuple(
            OpenPin(str(one["text"]), tuple(sorted(map(str, one["intents"]))))
            for one in stored.get("expected", ())
        )
        return replace(
            bundle,
            figures={} if bundle.is_graph else as_counted_now(facts, facts.get("metrics", {})),
            data=dataset_of(facts),
            exported=_exported(bundle, facts),
            pins=pins,
            n_textless=int(stored.get("n_expected", 0)) - len(pins),
        )
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The facts in {bundle.name} cannot be read: {error}.", "Ask for the bundle again."
        ) from error


def _exported(bundle: Subject, facts: Mapping[str, Any]) -> dict[str, Any]:
    if bundle.is_graph:
        return _of_graph(facts)
    figures, measured = dict[str, Any](), facts.get(MEASURED, {})
    if measured.get("n"):
        figures["answered_right"] = measured["right"] / measured["n"]
        figures["answered_n"] = measured["n"]
    if measured.get("outside"):
        figures["kept_out"] = measured["refused"] / measured["outside"]
        figures["outside_n"] = measured["outside"]
    return figures


def _of_graph(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the graph itself answered when it was exported; float32 is not measured then."""
    measured = facts.get("precisions", {}).get(facts.get("precision"))
    if not measured:
        return {}
    n = int(measured["texts"])
    words = f"{counted(n, 'test text')}, which the graph answered when it was exported"
    return {"accuracy": float(measured["accuracy"]), "n": n, "judged_on": words}


def _lacking_words(bundle: Subject) -> list[str]:
    if not bundle.n_textless:
        return []
    return [f"{counted(bundle.n_textless, 'pin')} not judged: the bundle was made without texts."]


def _unknown_in_pins(questions: Questions, subject: Subject) -> list[str]:
    expected = {name for pin in questions.pins for name in pin.names}
    lacking = sorted(expected - set(subject.pipeline.intents))
    if not lacking:
        return []
    named = some_of(lacking, _NAMED)
    return [f"They expect {named}, which {subject.name} does not have: no answer keeps these pins."]


def _unknown_labels(questions: Questions, subject: Subject) -> list[str]:
    known = set(subject.pipeline.intents)
    n = sum(bool(one.intents) and known.isdisjoint(one.intents) for one in questions.tests)
    if not n:
        return []
    bear = "bears" if n == 1 else "bear"
    return [
        f"{counted(n, 'test text')} {bear} no label that the model knows: no answer can be right."
    ]
