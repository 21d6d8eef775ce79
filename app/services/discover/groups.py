"""Group a project's unlabelled texts by meaning; no text and no label changes."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.services.answering.opened import UNTUNED, find_space, open_space
from app.services.discover.describing import Described, describe
from app.services.discover.grouped import (
    GroupChoice,
    Grouped,
    centres_of,
    group_together,
    read_texts,
    said_by_intent,
)
from app.services.discover.views import DiscoveredView, PlacedText
from app.services.embedding import embed_texts, encoder_of_maps
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import judged
from core.encoders.base import Encoder
from core.text import counted
from core.vectors import unit_rows
from storage.queries import utterances
from storage.queries.utterances import Filter
from storage.records import ProjectRecord

_FEWEST = 3
"""Fewer texts are one group."""


def discover(
    live_studio: LiveStudio,
    project: str,
    choice: GroupChoice | None = None,
    told: Callable[[int, int], None] | None = None,
) -> tuple[DiscoveredView, tuple[PlacedText, ...]]:
    """Group the unlabelled texts outside the test set by the champion's or the untuned encoder.

    On wish, those out of scope are grouped, too.
    `told` is called with the numbers of encoded texts and of texts to encode.

    Raises:
        NotFound: There is no such project.
        InvalidInput: So many groups cannot be made.
    """
    choice = choice or GroupChoice()
    choice.check()
    now, live = live_studio.models.open(project)
    texts = read_texts(live_studio.studio.database, now.project, Filter(state="unlabelled"))
    n_waiting = len(texts)
    if choice.out_of_scope:
        texts += read_texts(live_studio.studio.database, now.project, Filter(state="out-of-scope"))
    if not texts:
        return DiscoveredView((), 0, "", _why_none(live_studio, now.project)), ()
    exact, by = _encoder(live_studio, project, live)
    encoder = encoder_of_maps(live_studio.studio, exact)
    rows = embed_texts(live_studio.studio.database, encoder, [one.text for one in texts], told)
    beside = list(said_by_intent(live_studio.studio.database, now.project).values())
    made = group_together(texts, unit_rows(rows), replace(choice, beside=beside))
    centres = centres_of(live_studio.studio.database, now.project, now.names, encoder)
    outside = None if live is None else judged(live, tuple(made.texts), made.rows).outside
    said = [one.text for one in made.texts]
    groups = describe(Described(said, made.grouping, made.names, made.terms), centres, outside)
    note = _why_one(len(texts)) if len(groups) == 1 and choice.n_groups != 1 else ""
    view = DiscoveredView(groups, len(texts), by, note, len(texts) - n_waiting)
    return view, _placed(said, made)


def _encoder(live_studio: LiveStudio, project: str, live: LiveModel | None) -> tuple[Encoder, str]:
    """Return the champion's or the untuned encoder, and its name."""
    if live is not None:
        return live.pipeline.encoder, f"{project}@{live.version.number}"
    with live_studio.studio.database.read() as connection:
        space = find_space(connection, project, UNTUNED)
    return open_space(live_studio.studio, space).encoder, space.name


def _placed(said: Sequence[str], made: Grouped) -> tuple[PlacedText, ...]:
    places = zip(made.grouping.of.tolist(), made.grouping.closeness.tolist(), strict=True)
    return tuple(
        PlacedText(text, made.names[group], closeness)
        for text, (group, closeness) in zip(said, places, strict=True)
    )


def _why_none(live_studio: LiveStudio, project: ProjectRecord) -> str:
    with live_studio.studio.database.read() as connection:
        counts = utterances.counts(connection, project.id)
    if not counts.total:
        return f"'{project.name}' has no texts yet. Import some."
    return (
        f"There is nothing to group: of {counted(counts.total, 'text')} in '{project.name}', none "
        "is without a label, not skipped, and outside the test set."
    )


def _why_one(n_texts: int) -> str:
    if n_texts < _FEWEST:
        return f"{counted(n_texts, 'text')} without a label: too few to divide."
    return f"All {n_texts:,} texts without a label are the same to the encoder: one group."
