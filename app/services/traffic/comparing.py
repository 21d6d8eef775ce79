"""Compare what people say by one source with what they say by another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.answering.stored import no_model_yet
from app.services.live.live_studio import LiveStudio
from app.services.live.said.answers import SaidAnswered
from app.services.live.said.drift import SaidDrift, SaidRows, probabilities_of
from app.services.traffic.coverage import Period, period_days
from app.services.traffic.coverage_views import ComparedSources, SourceSide, TrafficDrift
from app.services.traffic.drifting import (
    NO_OTHER_WORDS,
    chance_words,
    quoted,
    sure_share,
    typical_texts,
)
from app.services.traffic.facts import MOST
from core.errors import InvalidInput
from core.text import counted, percent
from storage import models, projects
from storage.said import traffic
from storage.said.traffic import SaidText


@dataclass(frozen=True, slots=True)
class SourcePair:
    """A source, and the one that it is compared with."""

    source: str
    against: str


def compare_sources(
    live_studio: LiveStudio, project: str, period: Period, pair: SourcePair
) -> ComparedSources:
    """Return how two sources of a period differ; never waits.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
        InvalidInput: The period is empty or too long, or a source has no text in it.
    """
    studio = live_studio.studio
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        version = models.champion(connection, record.id)
        if version is None:
            raise no_model_yet(project)
        after, before = period_days(connection, record, period)
        said = traffic.sample(connection, record.id, str(after), str(before), MOST)
    rows = _rows_of(said, pair)
    answered, trouble = live_studio.said.settled(record, version, rows)
    if answered is None:
        return ComparedSources((), (), counting=not trouble, trouble=trouble)
    return told_sources(rows, pair, answered, typical_texts(studio, record.id, answered.drifts))


def _rows_of(said: Sequence[SaidText], pair: SourcePair) -> SaidRows:
    own, other = (
        [row for row in said if row.source == name] for name in (pair.source, pair.against)
    )
    if pair.source == pair.against:
        raise InvalidInput(f"“{pair.source}” is compared with itself.", "Name two sources.")
    for name, rows in ((pair.source, own), (pair.against, other)):
        if not rows:
            raise InvalidInput(
                f"No text of these days came from “{name}”.",
                "Name two of the sources that have texts in the period.",
            )
    return SaidRows(own, other, is_pair=True)


def told_sources(
    rows: SaidRows, pair: SourcePair, answered: SaidAnswered, texts: Mapping[str, str]
) -> ComparedSources:
    """Put the comparison of two sources into sentences; `texts` are those it may quote, by id."""
    sides = (
        _side(pair.source, rows.now, answered),
        _side(pair.against, rows.earlier, answered),
    )
    drifts = tuple(_told(one, sides, quoted(one, texts)) for one in answered.drifts)
    return ComparedSources(sides, drifts, counting=False, trouble="")


def _side(source: str, rows: Sequence[SaidText], answered: SaidAnswered) -> SourceSide:
    known = [
        row
        for row in rows
        if row.utterance_id in answered.intents and row.utterance_id not in answered.learned
    ]
    chances = probabilities_of(known, answered.probability)
    mean = float(chances.mean()) if len(chances) else None
    return SourceSide(source, sure_share(source, known, answered.sure), len(chances), mean)


def _told(drift: SaidDrift, sides: Sequence[SourceSide], examples: tuple[str, ...]) -> TrafficDrift:
    own, other = sides
    match drift.what:
        case "meaning":
            words = _meaning_words(own.source, other.source, drift, examples)
        case "sureness":
            words = f"Answered surely: {_sure_words(own)}; {_sure_words(other)}"
        case "probability":
            words = f"Mean probability of an answer: {_mean_words(own)}; {_mean_words(other)}"
    sentence = f"{words}; by chance alone, {chance_words(drift.chance)}."
    return TrafficDrift(drift.what, own.source, drift.chance, drift.is_real, sentence, examples)


def _meaning_words(source: str, against: str, drift: SaidDrift, examples: tuple[str, ...]) -> str:
    if not drift.is_real:
        return f"{source} and {against}: {NO_OTHER_WORDS}"
    shown = ", ".join(f"“{one}”" for one in examples)
    such = f", such as {shown}" if shown else ""
    return f"{source}: people write other things than in {against}{such}"


def _sure_words(side: SourceSide) -> str:
    return f"{side.source} {percent(side.sure.share, 1)} ({side.sure.count:,} of {side.sure.n:,})"


def _mean_words(side: SourceSide) -> str:
    mean = 0.0 if side.probability is None else side.probability
    return f"{side.source} {percent(mean, 1)} ({counted(side.answered, 'text')})"
