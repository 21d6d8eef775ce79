"""What the live version makes of the traffic, as pages, reports and programs read it."""

from dataclasses import dataclass
from typing import Literal

from app.services.live.said.drift import What

Subject = Literal["intent", "no intent", "group", "source"]


@dataclass(frozen=True, slots=True)
class TrafficShare:
    """`count` of `n` texts, with the 95 % interval of their share, from `low` to `high`.

    Attributes:
        name: Of the intent, the source, the week's first day or the group.
        share: In [0, 1], as are the ends of the interval.
        id: Of the intent, or the number of the group; `others` of all sources but the 20 largest;
            empty for all else.
        typical: At most 3 texts without an answer, those said most often, of a group or of none.
        mixed: Whether it is a group whose texts have little in common.
    """

    name: str
    count: int
    n: int
    share: float
    low: float
    high: float
    id: str = ""
    typical: tuple[str, ...] = ()
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class IntentShare(TrafficShare):
    """Texts that an intent answers, and its share in parts of the traffic.

    Attributes:
        weeks: Of the texts of each of the last 12 weeks with traffic, by the week's first day.
        sources: Of the texts of each of the 8 largest sources in the period.
    """

    weeks: tuple[TrafficShare, ...] = ()
    sources: tuple[TrafficShare, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Covered texts of one source in each week with traffic, by the week's first day."""

    source: str
    weeks: tuple[TrafficShare, ...]


@dataclass(frozen=True, slots=True)
class TrafficChange:
    """How the share of an intent, of no intent, of an uncovered group or of a source changed.

    Attributes:
        before, after: Shares in the period before, and in this one; of no intent and of a group
            without the texts that the version has learned, where these make the difference.
        chance: How often chance alone would make any such change, in [0, 1]; corrected for the
            number of intents, of groups, or of sources. No intent is tested by itself.
        is_real: Whether the change is more than chance.
        sentence: The change with its evidence.
        verdict: Whether it is more than chance, in words, and how often chance does as much.
    """

    about: Subject
    id: str
    name: str
    before: TrafficShare
    after: TrafficShare
    chance: float
    is_real: bool
    sentence: str
    verdict: str


@dataclass(frozen=True, slots=True)
class TrafficDrift:
    """How what people say differs from before, or a source from all others, in one sentence.

    Attributes:
        what: `meaning`: what people write; `sureness`: how many texts are answered surely;
            `probability`: how probable the answers are on average, of two sources alone.
        source: The source that is compared with all others; empty: the period with the one before.
        chance: How often chance alone would do it, corrected for the number of comparisons.
        examples: At most 3 texts that are most unlike the other side.
    """

    what: What
    source: str
    chance: float
    is_real: bool
    sentence: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceSide:
    """One of two sources that are compared.

    Attributes:
        sure: Texts that are answered with an intent whose probability is 0.8 or more, of those
            that the version has not learned.
        answered: Number of these texts that are answered with an intent.
        probability: Mean probability of these answers; None without any.
    """

    source: str
    sure: TrafficShare
    answered: int
    probability: float | None


@dataclass(frozen=True, slots=True)
class ComparedSources:
    """How what people say by one source differs from what they say by another.

    Attributes:
        sides: The source and the one that it is compared with; none while answers are computed.
        drifts: At most three comparisons; none where a source has fewer than 50 texts that the
            version has not learned, or the version has learned more than 5 % of its texts.
        counting: Whether answers are being computed.
        trouble: Why there are no answers, or "".
    """

    sides: tuple[SourceSide, ...]
    drifts: tuple[TrafficDrift, ...]
    counting: bool
    trouble: str


@dataclass(frozen=True, slots=True)
class TrafficView:
    """What the live version makes of a period's traffic.

    Attributes:
        after, before: First day of the period, and the day behind its last; UTC.
        covered: Texts that are answered with an intent; `earlier`: in the period before.
        intents: Texts by the intent that answers them, the most frequent first.
        sources: Covered texts of each source.
        apart: Which source is answered otherwise than the others, in words; of those with 30 texts
            or more that the version has not learned.
        weeks: Covered texts of each week, counted back from the end of its period, by its first
            day. The first week of a period may be shorter.
        lines: Covered texts of each source week by week, the source with most texts first.
        uncovered: Texts without an answer by their group, of all without one. Those that a person
            has settled stand apart.
        blind_spots: Names of intents with 10 labels or more, test texts left out, that answer no
            text and are the label of none.
        changes: Of every intent, of no intent, of the uncovered groups and of the sources since
            the period before, those beyond chance first; none without traffic in both, and of the
            sources alone if too few texts are left that the version has not learned.
        counting: Whether answers are being computed; what is counted is then empty.
        trouble: Why there are no answers, or "".
        sure: Texts that are answered with an intent whose probability is 0.8 or more, of those
            that the version has not learned, or of all if too few others are left to compare;
            `sure_before`: in the period before; of no text where these are not compared. None
            while answers are being computed.
        drifts: Comparisons of both periods, and of sources, of which nothing is told by chance
            alone in 99 of 100 reports.
        sent: About how many texts came of which a fair sample is counted, `sent_before`: in the
            period before; 0 where all are counted.
        left_out: Which texts are not compared, for the version has learned them, in words, or "".
    """

    after: str
    before: str
    covered: TrafficShare
    earlier: TrafficShare
    intents: tuple[IntentShare, ...]
    sources: tuple[TrafficShare, ...]
    weeks: tuple[TrafficShare, ...]
    lines: tuple[SourceLine, ...]
    uncovered: tuple[TrafficShare, ...]
    blind_spots: tuple[str, ...]
    changes: tuple[TrafficChange, ...]
    counting: bool
    trouble: str
    sure: TrafficShare | None = None
    sure_before: TrafficShare | None = None
    drifts: tuple[TrafficDrift, ...] = ()
    sent: int = 0
    sent_before: int = 0
    left_out: str = ""
    apart: str = ""


@dataclass(frozen=True, slots=True)
class SaidOften:
    """A text and how often it was said in a period, in all and by source."""

    text: str
    count: int
    sources: dict[str, int]


@dataclass(frozen=True, slots=True)
class SaidTexts:
    """The texts of a period that got one answer, the most frequent first.

    Attributes:
        texts: At most 30 of them.
        n: Number of different texts.
        counting: Whether answers are being computed; there are then no texts.
    """

    texts: tuple[SaidOften, ...]
    n: int
    counting: bool
