"""Texts that differ by one opposing or negating word, or a number: alike in form, not in meaning.

"Turn it up" and "turn it down" lie close together in every embedding, but their labels do not
contradict each other. Two rules find such pairs. The first works in any language: the one word that
differs also separates the other examples of the two labels. The second is a short list of negations
and opposites, for labels with too few examples to tell.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.review.borderline import idle_words, words_in_order

_FEWEST = 3
"""Other examples that must bear out that a word separates two labels."""

_TIMES = 4
"""How many times as many examples must bear it out as speak against it."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEGATIONS = _listed(
    "not no never without cannot none nobody nothing neither nor "
    "nicht kein keine keinen keiner nie ohne nichts "
    "ne pas sans jamais aucun aucune "
    "sin nunca jamas ningun ninguna nada non senza mai nessun nessuna "
    "nao sem niet geen nooit zonder"
)

_NUMBERS = _listed(
    "zero two three four five six seven eight nine ten eleven twelve hundred thousand million "
    "null zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend "
    "deux trois quatre cinq sept huit neuf dix cent mille "
    "dos tres cuatro cinco seis siete ocho nueve diez cien mil "
    "tre quattro cinque sei sette otto nove dieci"
)
"""Words that count. “One” is left out: in some languages it is an article."""

_HELPERS = _listed("do does did is are was will can could would should")
"""Words that come and go with an English negation."""

_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in _listed(
        "up/down on/off in/out open/close open/closed start/stop enable/disable add/remove "
        "add/delete create/delete increase/decrease raise/lower higher/lower more/less "
        "activate/deactivate lock/unlock block/unblock freeze/unfreeze mute/unmute "
        "subscribe/unsubscribe accept/decline accept/reject approve/reject buy/sell "
        "send/receive sent/received push/pull before/after first/last next/previous "
        "yes/no incoming/outgoing deposit/withdraw arrival/departure arrive/depart "
        "louder/quieter brighter/darker brighter/dimmer warmer/colder warmer/cooler faster/slower "
        "hot/cold left/right from/to domestic/international lost/found pause/resume "
        "show/hide connect/disconnect allow/deny login/logout true/false win/lose "
        "an/aus ein/aus auf/zu hoch/runter lauter/leiser heller/dunkler öffnen/schließen "
        "starten/stoppen mehr/weniger vor/nach sperren/entsperren ja/nein "
        "plus/moins ouvrir/fermer allumer/éteindre monter/baisser oui/non avant/après "
        "encender/apagar subir/bajar abrir/cerrar más/menos sí/no antes/después"
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """The words of labelled texts, counted by label.

    Attributes:
        words: Words of each text, as often as it has them.
        labels: The label of each text.
        users: Number of texts of a label that have a word, by label and word.
        idle: Words that most intents use.
    """

    words: Sequence[Counter[str]] = field(repr=False)
    labels: Sequence[tuple[int, ...]] = field(repr=False)
    users: dict[tuple[int, ...], Counter[str]] = field(repr=False)
    idle: frozenset[str] = field(repr=False)

    def opposed(self, first: int, second: int) -> bool:
        """Whether two texts differ by little more than a negation or a word and its opposite."""
        lost, gained = self._difference(first, second)
        without = (lost - _NEGATIONS - _HELPERS, gained - _NEGATIONS - _HELPERS)
        if bool(lost & _NEGATIONS) != bool(gained & _NEGATIONS) and max(map(len, without)) <= 1:
            return True
        return max(len(lost), len(gained)) <= 2 and _is_opposite(lost, gained)

    def says_otherwise(self, first: int, second: int) -> bool:
        """Whether two texts differ by a negation, a word and its opposite, or a number at all.

        This is stricter than `opposed`: whatever else differs, neither may stand for the other.
        """
        lost, gained = self._difference(first, second)
        if bool(lost & _NEGATIONS) != bool(gained & _NEGATIONS) or _is_opposite(lost, gained):
            return True
        return any(word in _NUMBERS or any(map(str.isdigit, word)) for word in lost | gained)

    def told_apart(self, first: int, second: int) -> bool:
        """Whether the one word in which two texts differ separates the examples of their labels.

        The two texts themselves are not counted.
        """
        lost, gained = (words - self.idle for words in self._difference(first, second))
        if len(lost) > 1 or len(gained) > 1 or not lost | gained:
            return False
        right = [self._others(first, word) for word in lost]
        right += [self._others(second, word) for word in gained]
        wrong = sum(self._others(second, word) for word in lost)
        wrong += sum(self._others(first, word) for word in gained)
        return min(right) > 0 and sum(right) >= max(_FEWEST, _TIMES * wrong)

    def _others(self, row: int, word: str) -> int:
        """Count the other texts with the label of a text that have a word."""
        return self.users[self.labels[row]][word] - (self.words[row][word] > 0)

    def _difference(self, first: int, second: int) -> tuple[set[str], set[str]]:
        one, other = self.words[first], self.words[second]
        return set(one - other), set(other - one)


def _is_opposite(lost: set[str], gained: set[str]) -> bool:
    return any(frozenset((one, other)) in _OPPOSITES for one in lost for other in gained)


def contrasts_of(texts: Sequence[str], labels: Sequence[tuple[int, ...]]) -> Contrasts:
    """Count the words of texts by their labels, which are columns of intents."""
    words = [Counter(_plain(text)) for text in texts]
    users: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
    for counted, label in zip(words, labels, strict=True):
        users[label].update(counted.keys())
    return Contrasts(words, labels, users, idle_words(texts, labels))


def _plain(text: str) -> list[str]:
    """Return the words of a text; "don't" becomes "do" and "not"."""
    plain = text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    plain = plain.replace("can't", "can not").replace("won't", "will not").replace("n't", " not")
    return words_in_order(plain)
