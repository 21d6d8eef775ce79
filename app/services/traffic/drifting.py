"""Say how what people write differs between periods and sources, and how sure the answers are."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from app.services.live.said.answers import SaidAnswered
from app.services.live.said.drift import SaidDrift
from app.services.studio import Studio
from app.services.traffic.coverage_views import TrafficDrift, TrafficShare, TrafficView
from app.services.traffic.facts import TrafficFacts
from app.services.traffic.shares import share_of
from core.text import percent
from storage.queries import utterances
from storage.said.traffic import SaidText

_EXAMPLES = 3
_LONGEST = 80
"""Characters of an example in a sentence."""

_FEW_CHANCES = 0.001

NO_OTHER_WORDS = "what people write differs by no more than chance may do"


def with_drift(
    studio: Studio,
    project_id: int,
    view: TrafficView,
    facts: TrafficFacts,
    answered: SaidAnswered,
) -> TrafficView:
    """Add to a count how surely texts are answered that the version has not learned, and drifts.

    Where too few such texts are left to compare, all texts of the period are told. Neither then nor
    where a version has learned many texts is the period before told.
    """
    texts = typical_texts(studio, project_id, answered.drifts)
    fresh = facts.fresh
    now, earlier = (_answered(rows, answered) for rows in (fresh.now, fresh.earlier))
    drifts = tuple(_told(one, now, earlier, answered.sure, texts) for one in answered.drifts)
    if not facts.is_comparable:
        now = _answered(facts.now, answered)
    if not (facts.is_comparable and facts.is_fair):
        earlier = []
    return replace(
        view,
        sure=sure_share("all", now, answered.sure),
        sure_before=sure_share("all", earlier, answered.sure),
        drifts=tuple(sorted(drifts, key=lambda one: not one.is_real)),
    )


def _answered(rows: Iterable[SaidText], answered: SaidAnswered) -> list[SaidText]:
    return [row for row in rows if row.utterance_id in answered.intents]


def typical_texts(
    studio: Studio, project_id: int, drifts: Iterable[SaidDrift]
) -> Mapping[str, str]:
    """Return the texts by their ids that real differences quote."""
    wanted = list({key: None for one in drifts if one.is_real for key in one.typical})
    with studio.database.read() as connection:
        records = utterances.by_ids(connection, project_id, wanted)
    return {key: record.text for key, record in records.items()}


def sure_share(name: str, rows: Sequence[SaidText], sure: Collection[str]) -> TrafficShare:
    """Return how many rows are answered surely."""
    return share_of(name, sum(row.utterance_id in sure for row in rows), len(rows))


def quoted(drift: SaidDrift, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts that a sentence quotes."""
    found = (texts[key] for key in drift.typical if key in texts)
    return tuple(cut_text(text) for _, text in zip(range(_EXAMPLES), found, strict=False))


def _told(
    drift: SaidDrift,
    now: Sequence[SaidText],
    earlier: Sequence[SaidText],
    sure: Collection[str],
    texts: Mapping[str, str],
) -> TrafficDrift:
    examples = quoted(drift, texts)
    if drift.what == "meaning":
        words = _meaning_words(drift, examples)
    elif drift.source:
        own = [row for row in now if row.source == drift.source]
        others = [row for row in now if row.source != drift.source]
        words = _sureness_words(
            drift.source, sure_share("", others, sure), sure_share("", own, sure)
        )
    else:
        words = _sureness_words("", sure_share("", earlier, sure), sure_share("", now, sure))
    chance = chance_words(drift.chance)
    sentence = f"{words}; by chance alone, {chance}."
    return TrafficDrift(drift.what, drift.source, drift.chance, drift.is_real, sentence, examples)


def _meaning_words(drift: SaidDrift, examples: Iterable[str]) -> str:
    source = drift.source
    if not drift.is_real:
        sides = f"{source} and elsewhere" if source else "These days and the days before"
        return f"{sides}: {NO_OTHER_WORDS}"
    shown = ", ".join(f"“{one}”" for one in examples)
    such = f", such as {shown}" if shown else ""
    if source:
        return f"{source}: people write other things than elsewhere{such}"
    return f"People write other things than in the days before{such}"


def _sureness_words(source: str, before: TrafficShare, after: TrafficShare) -> str:
    way = "more" if after.share > before.share else "fewer"
    told = [f"{percent(one.share, 1)} ({one.count:,} of {one.n:,})" for one in (after, before)]
    if source:
        return f"{source}: {way} texts are answered surely, {told[0]}; elsewhere {told[1]}"
    return f"{way.capitalize()} texts are answered surely, {told[0]}; in the days before {told[1]}"


def chance_words(p: float) -> str:
    """Say how often chance alone does as much."""
    if p < _FEW_CHANCES:
        return "less than once in 1,000"
    return f"{percent(p, 1)} of the time"


def cut_text(text: str) -> str:
    """Shorten a text that a sentence quotes to 80 characters."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2].rstrip()} …"
