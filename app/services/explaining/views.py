"""Values of an explanation, shown by REST, pages, the terminal and receipts.

Each part says how it `holds`. `exact`: computed for the present encoder, and equal to fitting the
votes again; it does not predict a training, which changes the encoder, too. `forecast`: an
estimate.
"""

from dataclasses import dataclass
from typing import Literal

from core.types import IntentScore, Method, Task

Holds = Literal["exact", "forecast"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of an example's label: who gave it, and when (UTC).

    Attributes:
        how: Action: `label`, `import FILE`, `merge`, ...; `group` for a label that was given to a
            whole group of texts.
        dataset_version: First version that holds the example with this label; None: none yet.
        synthetic: Id of the utterance whose template the example fills; empty for real examples.
    """

    by: str
    at: str
    how: str
    dataset_version: int | None
    synthetic: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """An utterance and the intents of its label, which may be none.

    `outvoted` is the label that its most similar examples have, where none of them has its own.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    outvoted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vote:
    """An example that votes for an intent, or against it; `vote` is the signed part of the score.

    Attributes:
        share: Its part of all votes on the same side, in [0, 1].
        since_training: Whether it joined the votes after the training.
        twins: Texts of other examples with its label that say nearly the same. Cosine and origin
            are those of the example, vote and share those of all of them together.
    """

    example: Example
    cosine: float
    vote: float
    share: float
    origin: Origin | None
    since_training: bool
    twins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of the text, text[start:end], and its part in the difference of two scores.

    Attributes:
        share: Its part by integrated gradients; None where there are no gradients.
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
        difference: Score of the intent minus that of the rival.
        blank: The difference for a text of blank words; None without gradients.
        error: |blank + sum of shares - difference|, as a share of the difference.
        holds: For the effects; the shares have the stated `error`.
        unclear: Why shares and effects tell different things, so that neither is to be believed of
            single words; "" where they agree.
    """

    rival: str | None
    difference: float
    words: tuple[WordShare, ...]
    blank: float | None
    error: float | None
    note: str = ""
    holds: Holds = "exact"
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class LoadBearing:
    """The fewest examples found whose removal changes the answer.

    Attributes:
        examples: The heaviest first; empty if none were found.
        after: The answer that votes would give without them. Without any example of its own, an
            intent is also answered by its name where answers hold one intent.
        smallest: Whether no smaller set exists.
        at_least: No set smaller than this changes the answer.
    """

    examples: tuple[Example, ...]
    after: str
    smallest: bool
    at_least: int
    words: str
    holds: Holds = "exact"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What another intent would need to be the answer.

    Attributes:
        behind: Score that it lacks.
        copies: Number of examples with just this text, so labelled, that would do; None: too many.
            It is 1 where no example says the same, and else counted by votes.
        examples: Unlabelled utterances nearest to the text that would do when so labelled, and that
            the model and their neighbours take for the intent; empty if there are too few.
        adds: Whether it is a near tie that adding this text would decide.
        revision: The project's at which the `examples` waited for a label; 0 where none are loaded.
    """

    intent: str
    behind: float
    copies: int | None
    examples: tuple[Example, ...]
    words: str
    holds: Holds = "exact"
    adds: bool = False
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Scope:
    """Whether the text is in scope; `distance` is score minus limit.

    Attributes:
        score: The score, or the familiarity by a fence's method, that is compared with the limit.
        limit: Least score of a text in scope, or with this intent.
        measure: The quantity that the limit applies to.
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
    """Why an intent has its score: prior, voice, shown votes and other votes sum to it.

    Attributes:
        limit: Least score for which the intent is answered; None where a fence does not use scores.
        prior: Part that no example gives: the intent's share of the labels.
        voice: Part that the intent's name and description give.
        votes: The heaviest votes for and against, by falling size.
        others: Sum of the votes that are not shown.
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
    """Answer of one head, on the same embeddings and labels; `decides` marks the model's own."""

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
        dataset_version: What the model was trained on, by name; None where it is not known.
        since_training: Number of labels given since that vote, too.
        confidence: Probability of the answer, a forecast; without one, of the closest intent, which
            no page shows.
        plain: The same for a reader who does not know the studio.
        reasons: One for each intent in the answer, or for the intent nearest to one.
        why_not: What another intent would need; None where it cannot be computed, or where nobody
            asked for one and no other speaks for the text.
        speaking: Intents that could be meant by the text, by name.
        shown_revision: A revision of the project at which the labels of the examples of
            `load_bearing` were those that vote; 0 for a bundle.
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
    speaking: tuple[str, ...] = ()
    shown_revision: int = 0
