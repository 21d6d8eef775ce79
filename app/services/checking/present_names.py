"""Call the intents of a bundle as the model that it is compared with calls them.

An intent may have been renamed since the bundle was made. The log of its project tells, or the
examples that both models have learned.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from app.services.answering.stored import called_now, columns_of
from app.services.checking.subject import Subject
from app.services.studio import Studio
from app.services.versions.comparison import Questions
from core.pipeline import Answerer
from core.text import as_hidden, counted, match_key, some_of
from core.types import Exemplar, Task
from storage import projects
from storage.log import versions
from storage.queries import dataset

_SURE = 0.9
"""Share of the common examples of an intent that must bear its other name."""
_NAMED = 3


def called_alike(studio: Studio, subject: Subject, champion: Subject) -> tuple[Subject, Subject]:
    """Return a model and its champion; bundles call their intents as the other one does."""
    if subject.project is None and champion.project is not None:
        return _called_as(studio, subject, champion), champion
    if champion.project is None:
        return subject, _called_as(studio, champion, subject)
    return subject, champion


def comparable(
    questions: Questions, subject: Subject, champion: Subject
) -> tuple[Questions, list[str]]:
    """Leave out tests of intents that a model has and its champion's bundle has not, and say so.

    The bundle may have such an intent under another name, by which each answer would be wrong.
    """
    known, ours = (set(side.pipeline.intents) for side in (champion, subject))
    is_judged = [
        _has_answer(one, known, questions.task) or not _has_answer(one, ours, questions.task)
        for one in questions.tests
    ]
    if champion.project is not None or all(is_judged):
        return questions, []
    pairs = list(zip(questions.tests, is_judged, strict=True))
    strange = [one for one, judged in pairs if not judged]
    lacking = sorted({name for one in strange for name in one.intents} - known)
    words = f"{counted(len(strange), 'test text')} not compared: {champion.name} has no intent "
    words += f"{some_of(lacking, _NAMED)}."
    if gone := sorted(known - ours):
        words += (
            f" It has {some_of(gone, _NAMED)}, which {subject.name} does not have. Their examples "
            "do not tell whether an intent was renamed."
        )
    return replace(questions, tests=[one for one, judged in pairs if judged]), [words]


def _has_answer(test: Exemplar, known: set[str], task: Task) -> bool:
    """Whether a right answer to a text can be given by the intents that are known."""
    if task == "multi-label":
        return known.issuperset(test.intents)
    return not test.intents or not known.isdisjoint(test.intents)


def _called_as(studio: Studio, bundle: Subject, other: Subject) -> Subject:
    pipeline = bundle.pipeline
    if other.project is not None:
        pipeline = _by_log(studio, bundle, other.project)
    pipeline = _by_examples(pipeline, other.pipeline)
    pairs = zip(bundle.pipeline.intents, pipeline.intents, strict=True)
    to = {old: new for old, new in pairs if old != new}
    pins = tuple(
        replace(pin, names=tuple(sorted(to.get(name, name) for name in pin.names)))
        for pin in bundle.pins
    )
    return replace(bundle, pipeline=pipeline, pins=pins, renamed=to)


def _by_log(studio: Studio, bundle: Subject, project: str) -> Answerer:
    """Give present names to the intents that a project had when a bundle's data were frozen."""
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
        names = dataset.intent_names(connection, key)
        every = versions.list_all(connection, key)
        frozen = [one.revision for one in every if one.sha256 == bundle.data]
        then = versions.intent_ids_at(connection, key, frozen[-1]) if frozen else {}
    # A name of then may be another intent's by now.
    ids = {name: intent for intent, name in names.items()} | then
    return called_now(bundle.pipeline, columns_of(bundle.pipeline, ids), names)


def _by_examples(model: Answerer, other: Answerer) -> Answerer:
    """Give intents the names that their examples bear in another model."""
    theirs = {as_hidden(match_key(key)): names for key, names in other.exact.items()}
    counts = defaultdict[str, Counter[str]](Counter)
    for key, then in model.exact.items():
        now = theirs.get(as_hidden(match_key(key)))
        if now is not None:
            gone, came = set(then) - set(now), set(now) - set(then)
            new = next(iter(came)) if len(gone) == len(came) == 1 else ""
            for name in then:
                counts[name][name if name in now else new] += 1
    to = {
        name: new
        for name, found in counts.items()
        for new, n in found.most_common(1)
        if new not in ("", name) and n >= _SURE * found.total()
    }
    to = _one_to_one(to, model.intents, set(other.intents))
    return model.renamed(tuple(to.get(name, name) for name in model.intents)) if to else model


def _one_to_one(to: Mapping[str, str], old: tuple[str, ...], theirs: set[str]) -> dict[str, str]:
    """Leave out names that two intents would have, and intents that the other model has still.

    The examples of such an intent were given to another one: the intent was not renamed.
    """
    kept = {name: new for name, new in to.items() if name in old}
    while True:
        named = Counter(kept.get(name, name) for name in old)
        taken = set(kept.values())
        wrong = [n for n, new in kept.items() if named[new] > 1 or n in theirs - taken]
        if not wrong:
            return kept
        kept = {name: new for name, new in kept.items() if name not in wrong}
