"""Answers to all texts of a map, by the rules by which the page Data answers its rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from app.services.answering.as_project import ProjectNow, read_now
from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.embedding import Embedded, digest_of, encoder_of_maps, read_embedded
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.row_answers import RowAnswering, echoed_ids
from app.services.studio import Studio
from storage import models, projects
from storage.queries import columns

_CHUNK = 4_096
_BYTES_AN_ANSWER = 200


@dataclass(frozen=True, slots=True, eq=False)
class MapAnswers:
    """Answers to the utterances whose embeddings are known.

    Attributes:
        intents: Ids of the intents of each answer, none of them out of scope, by utterance.
        names: Names of the intents that can be answered, by id. One that the project lacks has its
            name for an id.
    """

    intents: Mapping[str, tuple[str, ...]]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Point:
    """An utterance as far as its answer depends on it."""

    id: str
    text: str
    labels: tuple[str, ...] | None


def answer_points(live_studio: LiveStudio, space: Space) -> MapAnswers:
    """Answer every text of a project, once for each state of the model and of the texts.

    The version in use answers with every label given up to now, another one as it was trained;
    both with the project's names and fence. Examples are answered without their own vote.

    Raises:
        InvalidInput: The space is of an encoder alone, which answers nothing.
    """
    studio = live_studio.studio
    opened = open_space(studio, space)
    require_pipeline(opened)
    embedded = read_embedded(studio, space.project, encoder_of_maps(studio, opened.encoder))
    state, open_model = _answering(live_studio, space)
    return studio.cache.get_newest(
        ("answers", space.project.id, *space.key),
        (embedded.digest, state),
        lambda: _answer_all(studio, space.project.id, open_model(), embedded),
        lambda made: _BYTES_AN_ANSWER * len(made.intents),
    )


def _answering(live_studio: LiveStudio, space: Space) -> tuple[str, Callable[[], LiveModel]]:
    """Return a digest of all that a version's answers depend on, and what opens the version.

    Only the version in use stays open: another one is opened where its answers are not kept.
    """
    project_id, number, opener = space.project.id, space.number, live_studio.models
    with live_studio.studio.database.read() as connection:
        champion = models.champion(connection, project_id)
        then = read_now(connection, projects.get(connection, project_id), None)
    if champion is not None and champion.number == number:
        now, live = opener.open_by_id(project_id)
        if live is not None and live.version.number == number:
            return _state(now, live), lambda: live
    if number is None:
        message = "the space is of no version"
        raise ValueError(message)
    return _state(then, None), lambda: opener.as_trained(project_id, number)[1]


def _state(now: ProjectNow, live: LiveModel | None) -> str:
    """Return a digest of names, limit, newer labels, and whether copies vote on their source."""
    votes = (
        []
        if live is None
        else [(key, live.said.get(key), live.votes_as(key)) for key in sorted(live.since)]
    )
    names = [(key, one.name, one.description) for key, one in now.intents.items()]
    echoes = live is not None and bool(echoed_ids(live))
    return digest_of([repr(now.project.fence), repr(names), repr(votes), repr(echoes)])


def _answer_all(studio: Studio, project_id: int, live: LiveModel, embedded: Embedded) -> MapAnswers:
    pairs = zip(live.columns, live.pipeline.head.intents, strict=True)
    named = {key or name: name for key, name in pairs}
    # Else two intents that the project lacks would have one id.
    live = replace(live, base=replace(live.base, columns=tuple(named)))
    answering = RowAnswering(studio, live)
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(embedded.ids), _CHUNK):
        part = slice(start, start + _CHUNK)
        ids, rows = embedded.ids[part], embedded.embeddings[part]
        with studio.database.read() as connection:
            texts = columns.texts(connection, project_id, ids)
        points = [_Point(key, texts.get(key, ""), _labels_since(live, key)) for key in ids]
        answers = answering.answers(points, rows, answering.scores(points, rows))
        found |= {answer.id: answer.intents for answer in answers}
    return MapAnswers(found, named)


def _labels_since(live: LiveModel, key: str) -> tuple[str, ...] | None:
    """Return an example's label where it was given, changed or taken away since the training."""
    said = live.said.get(key)
    return None if said is None else said[1]
