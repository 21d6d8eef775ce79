"""Answer texts with the live model, with everything a page shows of an answer; and pins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from app.services.answering.as_project import answer_by_names_alone
from app.services.answering.stored import no_model_yet
from app.services.answering.words import reasons_of, sentence_of, votes_of_others
from app.services.live.live_model import LiveModel
from app.services.live.server_state import LiveStudio, open_live
from app.services.trying.compression import Compressed, compressed_model, look_compressed, told
from app.services.trying.landing import ExampleMap, Landing, example_map, landing_of
from core.errors import Conflict, InvalidInput
from core.text import is_storable, label_words
from core.types import Prediction, Reason, Task
from core.vectors import unit_rows
from storage import models, projects
from storage.queries import dataset, utterances
from storage.records import IntentRecord, PinRecord, UtteranceRecord

_MOST_TEXTS = 1_000
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Why:
    """Why an intent is in the answer; its shown votes, those of the rest, and the prior sum up."""

    reason: Reason
    votes_of_others: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sentence; the votes, those of the rest, and the prior sum to the score.

    Attributes:
        prediction: The answer itself.
        sentence: The answer in words.
        reasons: Why, for each intent in the answer; where it names none, or one had to be named,
            for the intent that its score is of.
        votes_of_others: Of all exemplars that are not shown, for the first of the reasons.
        hot: Ids of shown exemplars that training has not seen.
        landing: Where the text lies; None where many were asked at once.
        compressed: What compression made of the text; None without it, or where many were asked.
    """

    prediction: Prediction
    sentence: str
    reasons: tuple[Why, ...]
    votes_of_others: float
    hot: tuple[str, ...]
    landing: Landing | None = None
    compressed: Compressed | None = None


@dataclass(frozen=True, slots=True)
class PinView:
    """A pin with what the live model answers.

    Attributes:
        text: What is asked.
        expected: The intents that it must get, in words.
        answer: What the model says, in words; None while no model is there.
        kept: Whether it says just that; None while no model is there, or where `stale`.
        stale: Whether an intent is archived or gone, so that no model is judged by it.
    """

    text: str
    expected: str
    answer: str | None
    kept: bool | None
    stale: bool


@dataclass(frozen=True, slots=True)
class Similar:
    """An utterance with its similarity to what was asked about."""

    record: UtteranceRecord
    cosine: float


def answer(
    live_studio: LiveStudio, project: str, texts: Sequence[str], strength: float | None = None
) -> list[Answer]:
    """Answer texts with the project's live model, or without one by the names of its intents.

    Args:
        live_studio: The open studio and its live models.
        project: Its name.
        texts: What is asked.
        strength: How far texts and examples move towards their templates, for a look; None: they
            do not.

    Raises:
        NotFound: The project has no model, and not two intents.
        InvalidInput: More than 1,000 texts, or the model cannot be compressed.
    """
    if len(texts) > _MOST_TEXTS:
        raise InvalidInput(
            f"{len(texts):,} texts are too many for the page.",
            f"Paste up to {_MOST_TEXTS:,}, or use: intent-studio predict {project} --file FILE",
        )
    models = live_studio.models
    (now, live), look = models.open(project), None
    if live is None:
        untrained = answer_by_names_alone(live_studio.studio, now, models.name_cache())
        if untrained is None or strength is not None:
            raise no_model_yet(project)
        return [_told(one, frozenset()) for one in untrained.predict(list(texts))]
    if strength is None:
        embeddings = live.pipeline.encoder.encode(list(texts))
    else:
        look = look_compressed(live_studio, live, texts, strength)
        live, embeddings = look.live, look.embeddings
    answers = [
        _answer(live, prediction, _name(project, live))
        for prediction in live.pipeline.predict(list(texts), embeddings)
    ]
    if len(answers) != 1:
        return answers
    landing = landing_of(live, answers[0].prediction, embeddings[0])
    compressed = None if look is None else told(look)
    return [replace(answers[0], landing=landing, compressed=compressed)]


def examples(live_studio: LiveStudio, project: str, strength: float | None = None) -> ExampleMap:
    """Return the map of examples on which answers land; it changes when labels or models do.

    Raises:
        NotFound: The project has no model.
        InvalidInput: The model cannot be compressed.
    """
    _, live = open_live(live_studio, project)
    if strength is not None:
        live = compressed_model(live_studio.studio, live, strength)
    return example_map(live, _name(project, live))


def _name(project: str, live: LiveModel) -> str:
    return f"{project}@{live.version.number}"


def _answer(live: LiveModel, prediction: Prediction, version: str) -> Answer:
    return _told(replace(prediction, model_version=version), live.hot)


def _told(prediction: Prediction, hot: frozenset[str]) -> Answer:
    found = reasons_of(prediction)
    reasons = tuple(Why(reason, votes_of_others(reason)) for reason in found)
    shown = {n.exemplar_id for reason in found for n in reason.neighbours}
    return Answer(
        prediction=prediction,
        sentence=sentence_of(prediction),
        reasons=reasons,
        votes_of_others=reasons[0].votes_of_others,
        hot=tuple(sorted(shown & hot)),
    )


def similar(
    live_studio: LiveStudio, project: str, texts: Sequence[str], n: int, *, unlabelled: bool
) -> list[Similar]:
    """Find utterances like a tray of texts: by their cosine to the tray's mean direction.

    Args:
        live_studio: The open studio and its live models.
        project: Its name.
        texts: The tray; one text is a tray of one.
        n: How many.
        unlabelled: Among those without a label, else among the exemplars.
    """
    record, live = open_live(live_studio, project)
    rows = unit_rows(live.pipeline.encoder.encode(list(texts)))
    centre = unit_rows(rows.mean(0, keepdims=True))[0]
    if unlabelled:
        pool = live_studio.pools.wait(record.id)
        if pool is None:
            return []
        ids, closeness = [record.id for record in pool.records], pool.embeddings @ centre
    else:
        ids = [exemplar.id for exemplar in live.pipeline.exemplars]
        closeness = live.pipeline.embeddings @ centre
    tray = set(texts) if unlabelled else set()
    ranked = [(ids[row], float(closeness[row])) for row in np.argsort(-closeness, kind="stable")]
    near = _records(live_studio, project, ranked)
    fitting = (s for s in near if not unlabelled or s.record.labels is None)
    return list(islice((s for s in fitting if s.record.text not in tray), n))


def _records(
    live_studio: LiveStudio, project: str, ranked: Sequence[tuple[str, float]]
) -> Iterator[Similar]:
    """Yield utterances with their cosines in their order; those that are gone are left out."""
    for start in range(0, len(ranked), _AT_ONCE):
        part = ranked[start : start + _AT_ONCE]
        with live_studio.studio.database.read() as connection:
            key = projects.find(connection, project).id
            found = utterances.by_ids(connection, key, [identity for identity, _ in part])
        yield from (Similar(found[k], cosine) for k, cosine in part if k in found)


def pin(live_studio: LiveStudio, project: str, text: str, intents: Sequence[str]) -> None:
    """Expect just these intents, by id, for a text; training is then judged by it.

    Where a text may have several intents, it may be expected to have none.

    Raises:
        Conflict: An intent is archived.
        InvalidInput: There is no text, or not one intent where a text has one.
        NotFound: There is no such intent.
    """
    if not text.strip() or not is_storable(text):
        raise InvalidInput("A pin needs a text.", "Type one first.")
    with live_studio.studio.database.write() as connection:
        found = projects.find(connection, project)
        if found.task == "single-label" and len(set(intents)) != 1:
            raise InvalidInput("A pin expects one intent.", "Choose it.")
        for key in intents:
            expected = dataset.intent_by_id(connection, found.id, key)
            if expected.archived:
                raise Conflict(
                    f"The intent '{expected.name}' is archived.",
                    "Bring it back, or choose another.",
                )
        models.add_pin(connection, found.id, text, set(intents), live_studio.studio.settings.actor)


def unpin(live_studio: LiveStudio, project: str, text: str) -> None:
    """Expect nothing of a text any more."""
    with live_studio.studio.database.write() as connection:
        models.remove_pin(connection, projects.find(connection, project).id, text)


def pins(live_studio: LiveStudio, project: str) -> list[PinView]:
    """All pins, each with what the live model answers."""
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        records = models.pins(connection, found.id)
        intents = {i.id: i for i in dataset.intents(connection, found.id)}
    live = live_studio.models.get(found.id) if records else None
    answers = [] if live is None else live.pipeline.predict([r.text for r in records])
    pairs = zip_longest(records, answers)
    return [_pin_view(record, found.task, intents, said) for record, said in pairs]


def _pin_view(
    record: PinRecord, task: Task, intents: Mapping[str, IntentRecord], said: Prediction | None
) -> PinView:
    expected = [intents.get(key) for key in record.intents]
    names = sorted("?" if intent is None else intent.name for intent in expected)
    stale = any(intent is None or intent.archived for intent in expected)
    words = label_words(names, task)
    if said is None:
        return PinView(record.text, words, None, None, stale)
    kept = set(said.decision.intents) == set(names)
    return PinView(record.text, words, said.decision.words, None if stale else kept, stale)
