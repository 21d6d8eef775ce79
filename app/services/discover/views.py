"""Groups of a project's unlabelled texts, as commands show them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NearIntent:
    """An intent, with the cosine of a group's centre and the intent's, in [-1, 1]."""

    intent: str
    cosine: float


@dataclass(frozen=True, slots=True)
class DiscoveredGroup:
    """A group of unlabelled texts.

    Attributes:
        name: Unlike those of the other groups.
        description: One line, made from the group's words and its most typical text.
        size: Number of texts.
        cohesion: Mean cosine of texts and the group's centre, in [-1, 1].
        typical: Texts from the centre to the rim of the group's closest part, at most 12.
        border: Texts that fit least, the least fitting first, at most 12.
        nearest: The closest intents that have labelled texts, the closest first.
        in_scope: Share of the texts that the champion answers with an intent; None without one.
    """

    name: str
    description: str
    size: int
    cohesion: float
    typical: tuple[str, ...]
    border: tuple[str, ...]
    nearest: tuple[NearIntent, ...]
    in_scope: float | None


@dataclass(frozen=True, slots=True)
class DiscoveredView:
    """The groups of a project's unlabelled texts outside the test set, the largest first.

    `by` names the encoder; `note` says why there are no groups, or one alone, else it is empty.
    `n_out_of_scope` of the `n_texts` are so, and were grouped on wish.
    """

    groups: tuple[DiscoveredGroup, ...]
    n_texts: int
    by: str
    note: str
    n_out_of_scope: int = 0


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text, its group's name, and its cosine to the group's centre, in [-1, 1]."""

    text: str
    group: str
    closeness: float
