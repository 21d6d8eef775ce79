"""What an explanation says: frozen values that REST, pages, the terminal and receipts show.

Each part says how it holds. `exact`: computed for the encoder as it is, and equal to fitting the
votes again; a training moves the encoder too, and is not foretold. `forecast`: an estimate.
"""

from dataclasses import dataclass
from typing import Literal

from core.types import IntentScore, Method, Task

Holds = Literal["exact", "forecast"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an example's label comes from.

    Attributes:
        by: Who gave it.
        at: When, in UTC.
        how: What was done: `label`, `import FILE`, `merge`, ...
        dataset_version: The first that holds the example with this label; None: none yet.
        synthetic: Id of the utterance whose template the example fills; empty for real examples.
    """

    by: str
    at: str
    how: str
    dataset_version: int | None
    synthetic: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """An utterance with its label; empty where it has none."""

    id: str
    text: str
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """An example that votes for an intent, or against it.

    Attributes:
        cosine: To the text, in [-1, 1].
        vote: Signed part of the score.
        share: Its part of all votes on the same side, in [0, 1].
        origin: Where its label comes from; None outside of a project.
        since_training: Whether it joined the votes after the training.
    """

    example: Example
    cosine: float
    vote: float
    share: float
    origin: Origin | None
    since_training: bool


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of the text and what it does to the difference of two scores.

    Attributes:
        text: The word.
        start: Where it begins in the text.
        end: Where it ends.
        share: Its part by integrated gradients; None where the encoder has none to give.
        effect: By how much the difference falls when the word is left out; exact.
    """

    text: str
    start: int
    end: int
    share: float | None
    effect: float


@dataclass(frozen=True, slots=True)
class WordsView:
    """Which words carry an intent, or its lead over a rival.

    Attributes:
        rival: The other intent; None: the score alone.
        difference: Score of the intent less that of the rival.
        words: In the order of the text.
        blank: The difference of a text whose words say nothing; None without gradients.
        error: By how much `blank` and the shares miss `difference`, as a share of it.
        note: Why there are no shares; else empty.
        holds: Of the effects; shares miss it by `error`.
    """

    rival: str | None
    difference: float
    words: tuple[WordShare, ...]
    blank: float | None
    error: float | None
    note: str = ""
    holds: Holds = "exact"


@dataclass(frozen=True, slots=True)
class LoadBearing:
    """The fewest examples found whose absence changes the answer.

    Attributes:
        examples: The heaviest first; empty: none were found.
        after: What would be answered without them, in words.
        smallest: Whether no smaller set exists.
        at_least: No set smaller than this changes it.
        words: All this in a sentence.
    """

    examples: tuple[Example, ...]
    after: str
    smallest: bool
    at_least: int
    words: str
    holds: Holds = "exact"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What it would take for another intent.

    Attributes:
        intent: The other one.
        behind: Score that it lacks.
        copies: How many examples that say just this text, so labelled, would do; None: too many.
        examples: Unlabelled utterances nearest to the text that would do when so labelled; empty:
            none are known, or they are not enough.
        words: All this in a sentence.
    """

    intent: str
    behind: float
    copies: int | None
    examples: tuple[Example, ...]
    words: str
    holds: Holds = "exact"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whether the text is one that the model knows.

    Attributes:
        inside: Whether it is let in.
        score: What is held against the limit: the score, or the familiarity by a fence's method.
        limit: From which on a text is in scope, or has this intent.
        distance: Score less limit.
        nearest: Cosine to the nearest example.
        words: All this in a sentence.
        measure: What the limit is one of.
    """

    inside: bool
    score: float
    limit: float
    distance: float
    nearest: float
    words: str
    holds: Holds = "exact"
    measure: Method = "votes"


@dataclass(frozen=True, slots=True)
class IntentReason:
    """Why an intent has its score: prior, voice, votes shown and of the others add up to it.

    Attributes:
        intent: The intent.
        score: Its score.
        limit: From which on it is an answer; None where a fence does not go by scores.
        prior: What no example gave: the intent's share of the labels.
        voice: What the intent's name and description gave.
        by_name: Whether no example of the intent votes, so that its name alone speaks for it.
        votes: The heaviest on both sides, by falling size.
        others: Sum of all votes that are not shown.
        n_others: How many these are.
        total: Sum of all votes.
        words: Which words carry it.
        load_bearing: None where it cannot be computed.
    """

    intent: str
    score: float
    limit: float | None
    prior: float
    voice: float
    by_name: bool
    votes: tuple[Vote, ...]
    others: float
    n_others: int
    total: float
    words: WordsView | None
    load_bearing: LoadBearing | None
    holds: Holds = "exact"


@dataclass(frozen=True, slots=True)
class HeadAnswer:
    """What one way of deciding says, on the same embeddings and labels.

    Attributes:
        kind: As a recipe names it.
        name: As a person reads it.
        intent: Its best.
        agrees: Whether that is the model's own best.
        decides: Whether it is the model's own head.
        detail: What it rests on, in a few words.
    """

    kind: str
    name: str
    intent: str
    agrees: bool
    decides: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a text gets its answer.

    Attributes:
        text: As it was asked.
        model: `PROJECT@N`, or a bundle's file.
        dataset_version: What the model learned from, by name; None where it is not known.
        since_training: Labels given since that vote, too.
        task: Whether an answer holds one intent, or any number.
        answer: Intents; empty: none fits.
        words: The answer as a person reads it.
        rule: Which rule decided, as in `Decision`.
        confidence: Probability of the answer, or of what came nearest to one; a forecast.
        runner_up: The next intent.
        margin: Score of the best less that of the runner-up.
        sentence: The answer and its examples.
        plain: The same for a reader who has never seen the studio.
        scope: Whether the model knows such texts.
        reasons: One for each intent in the answer, or for the one that came nearest.
        why_not: What another intent would take; None where it cannot be computed.
        heads: What other ways of deciding say.
        ranked: Intents by falling score.
        notes: What the reader should know.
    """

    text: str
    model: str
    dataset_version: str | None
    since_training: int
    task: Task
    answer: tuple[str, ...]
    words: str
    rule: str
    confidence: float
    runner_up: IntentScore | None
    margin: float | None
    sentence: str
    plain: str
    scope: Scope
    reasons: tuple[IntentReason, ...]
    why_not: WhyNot | None
    heads: tuple[HeadAnswer, ...]
    ranked: tuple[IntentScore, ...]
    notes: tuple[str, ...]
