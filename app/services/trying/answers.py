"""Answer texts with the live model, with all that the Try page shows of an answer."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from app.services.answering.as_project import answer_by_names_alone
from app.services.answering.prediction_view import PredictionView, prediction_view
from app.services.answering.stored import no_model_yet
from app.services.explaining.votes import with_twins
from app.services.explaining.words import sentence_of, votes_of_others
from app.services.live.asked import Which, open_asked
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live
from app.services.trying.compression import compress_model, compress_texts, compressed_view
from app.services.trying.compression_views import Compressed
from app.services.trying.known_texts import KnownText, Occurrences, RightAct, known_texts
from app.services.trying.landing import ExampleMap, Landing, example_map, landing_of
from core.errors import InvalidInput
from core.review.outvoted import outvoted
from core.text import require_answerable
from core.types import FloatArray, Prediction, Reason, Task
from storage import projects

_MOST_TEXTS = 1_000


@dataclass(frozen=True, slots=True)
class Why:
    """Why an intent is in the answer; prior, shown votes and `votes_of_others` sum to its score."""

    reason: Reason
    votes_of_others: float


@dataclass(frozen=True, slots=True)
class OutvotedExample:
    """An example, and the label that its most similar examples have instead of its own."""

    id: str
    label: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, with what the Try page shows of it.

    Attributes:
        reasons: For each intent in the answer; without any, for the intent that the score is of.
            For one text, the votes of examples that say nearly the same are joined.
        votes_of_others: Votes of all exemplars that are not among the prediction's neighbours.
        hot: Ids of shown exemplars that joined after the training.
        compressed: Effect of compression; None without it, or for several texts.
        known: The utterances that have just this text; empty for several texts.
        revision: The project's at which `known` was read; None for several texts.
        examples: Number of examples that vote, shown or not.
        right: What to do with the text where the answer is right.
        outvoted: Shown examples none of whose neighbours has their label; none for several texts.
        shown_revision: A revision of the project at which the labels of the shown examples were
            those that vote; None for several texts, and where names alone answer.
    """

    prediction: PredictionView
    sentence: str
    reasons: tuple[Why, ...]
    votes_of_others: float
    hot: tuple[str, ...]
    landing: Landing | None = None
    compressed: Compressed | None = None
    known: tuple[KnownText, ...] = ()
    examples: int = 0
    right: RightAct = "add"
    outvoted: tuple[OutvotedExample, ...] = ()
    revision: int | None = None
    shown_revision: int | None = None


def answer_texts(
    live_studio: LiveStudio, project: str, texts: Sequence[str], strength: float | None = None
) -> list[Answer]:
    """Answer at most 1,000 texts with the live model, or without one by the intents' names.

    `strength` is how far texts and examples move towards their templates, in [0, 1], or None.

    Raises:
        NotFound: The project has no model, and fewer than two intents.
        InvalidInput: More than 1,000 texts, a blank one, or the model cannot be compressed.
    """
    require_answerable(texts)
    if len(texts) > _MOST_TEXTS:
        raise InvalidInput(
            f"{len(texts):,} texts are too many for the page.",
            f"Paste up to {_MOST_TEXTS:,} at once.",
        )
    models = live_studio.models
    (now, live), compressed = models.open(project), None
    known = known_texts(live_studio.studio, now.project.id, texts)
    if live is None:
        untrained = answer_by_names_alone(live_studio.studio, now, models.name_cache())
        if untrained is None or strength is not None:
            raise no_model_yet(project)
        predictions = untrained.predict(list(texts))
        return [_answer(one, _Context(untrained.task, None, known)) for one in predictions]
    if strength is None:
        embeddings = live.pipeline.encoder.encode(list(texts))
    else:
        compressed = compress_texts(live_studio.studio, live, texts, strength)
        live, embeddings = compressed.live, compressed.embeddings
    predictions = [
        replace(prediction, model_version=_name(project, live))
        for prediction in live.pipeline.predict(list(texts), embeddings)
    ]
    n_examples = len(live.pipeline.exemplars)
    context = _Context(live.pipeline.task, live.joined_at, known, live.hot, n_examples)
    answers = [_answer(one, context) for one in predictions]
    if len(answers) != 1:
        return answers
    view = None if compressed is None else compressed_view(compressed)
    told = with_twins(live.pipeline, predictions[0], embeddings[0])
    return [_told_alone(live, replace(answers[0], compressed=view), told, embeddings[0])]


def _told_alone(live: LiveModel, answer: Answer, told: Prediction, embedding: FloatArray) -> Answer:
    """Add to an answer what the page shows of one text alone, which is embedded (d,)."""
    landing = landing_of(live, told, embedding)
    shown = _shown(told) | (set() if landing.nearest is None else {landing.nearest.id})
    return replace(
        answer,
        sentence=sentence_of(told),
        reasons=_reasons(told),
        hot=tuple(sorted({*answer.hot, *(_shown(told) & live.hot)})),
        landing=landing,
        outvoted=_outvoted(live, shown),
        shown_revision=live.shown_at(shown),
    )


def _outvoted(live: LiveModel, shown: Set[str]) -> tuple[OutvotedExample, ...]:
    exemplars = live.pipeline.exemplars
    rows = [row for row, exemplar in enumerate(exemplars) if exemplar.id in shown]
    found = outvoted(live.pipeline.embeddings, [one.intents for one in exemplars], rows)
    return tuple(OutvotedExample(exemplars[row].id, label) for row, label in found.items())


def answer_as_trained(
    live_studio: LiveStudio, project: str, which: Which, texts: Sequence[str]
) -> list[Answer]:
    """Answer texts with a version as it was trained, without the labels given since.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: A text is blank, or the version is an encoder, which answers nothing.
    """
    require_answerable(texts)
    studio = live_studio.studio
    asked = open_asked(studio, f"{project}@{which}")
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
    context = _Context(
        asked.pipeline.task,
        asked.label_revision,
        known_texts(studio, project_id, texts),
        examples=len(asked.pipeline.exemplars),
    )
    return [_answer(one, context) for one in asked.pipeline.predict(list(texts))]


def load_example_map(
    live_studio: LiveStudio, project: str, strength: float | None = None
) -> ExampleMap:
    """Return the map of examples on which answers are shown; it depends on labels and model.

    Raises:
        NotFound: The project has no model.
        InvalidInput: The model cannot be compressed.
    """
    _, live = open_live(live_studio, project)
    if strength is not None:
        live = compress_model(live_studio.studio, live, strength)
    return example_map(live, _name(project, live))


def _name(project: str, live: LiveModel) -> str:
    return f"{project}@{live.version.number}"


@dataclass(frozen=True, slots=True)
class _Context:
    """What all answers of one request share."""

    task: Task
    label_revision: int | None
    known: Occurrences
    hot: frozenset[str] = frozenset()
    examples: int = 0


def _answer(prediction: Prediction, context: _Context) -> Answer:
    reasons = _reasons(prediction)
    return Answer(
        prediction=prediction_view(prediction, context.task, context.label_revision),
        sentence=sentence_of(prediction),
        reasons=reasons,
        votes_of_others=reasons[0].votes_of_others,
        hot=tuple(sorted(_shown(prediction) & context.hot)),
        known=context.known.texts,
        revision=context.known.revision,
        examples=context.examples,
        right=context.known.act_if_right(prediction.decision.intents),
    )


def _reasons(prediction: Prediction) -> tuple[Why, ...]:
    return tuple(Why(reason, votes_of_others(reason)) for reason in prediction.reasons)


def _shown(prediction: Prediction) -> set[str]:
    return {n.exemplar_id for reason in prediction.reasons for n in reason.neighbours}
