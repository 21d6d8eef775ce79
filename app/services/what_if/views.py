"""What a repair would do, held against labels and pins, and put into words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.services.what_if.watched_texts import Answers, Place, Watching
from core.text import label_words
from storage.records import UtteranceRecord

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer that changes.

    Attributes:
        text: What is asked.
        place: Where it is from.
        before: The answer now, in words.
        after: The answer with the change.
        expected: Its label in words; "" where it has none.
        verdict: `fixed`, `broken`, or `other`: no label says, or it is wrong before and after.
    """

    text: str
    place: Place
    before: str
    after: str
    expected: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Close:
    """An example near the text that is added.

    Attributes:
        id: Of the utterance.
        text: What it says.
        intents: Its label, by id.
        cosine: How near it is.
        conflict: Whether it is very near and has another label.
    """

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    conflict: bool


@dataclass(frozen=True, slots=True)
class Blast:
    """What a repair would do.

    Attributes:
        pool: Texts without a label whose answer changes.
        test: Texts to judge by whose answer changes.
        watched: How many of each are watched.
        left_out: Texts that are not watched: too many, or not embedded yet.
        fixed: Texts to judge by that get right.
        broken: Texts to judge by that get wrong.
        right: Of those texts, how many are right now, and how many with the change.
        pins_fixed: Pins that would be kept.
        pins_broken: Pins that would be broken.
        turns: The first of the answers that change; broken ones first, then fixed ones.
        near: Of a new example: the nearest examples.
        now: Of a new example: what it is answered with now, in words.
    """

    pool: int
    test: int
    watched: tuple[int, int]
    left_out: int
    fixed: int
    broken: int
    right: tuple[int, int]
    pins_fixed: tuple[str, ...]
    pins_broken: tuple[str, ...]
    turns: tuple[Turn, ...]
    near: tuple[Close, ...] = ()
    now: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The project at one moment, seen from what is watched.

    Attributes:
        columns: Intent ids, those of the votes first.
        records: Utterances that are not as at the anchor, by id; None where they are gone.
        names: Of the intents.
        closed: Ids of intents that are archived by then.
    """

    columns: tuple[str, ...]
    records: Mapping[str, UtteranceRecord | None]
    names: Mapping[str, str] = field(repr=False)
    closed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Answers before and after, held against labels and pins."""

    watching: Watching
    now: Moment
    then: Moment
    answers: tuple[Answers, Answers]

    def blast(self, own: set[str], merged: tuple[str, str] | None) -> Blast:
        """Count what changes.

        Args:
            own: Utterances that the repair itself touches.
            merged: The intent that goes and the one that it becomes, where one does.
        """
        before, after = self.answers
        places = self._places(own)
        kinds = np.array([place or "" for place in places])
        watched = kinds != ""
        changed = np.any(before != after, axis=1) & watched
        asked = self._expected(merged)
        wanted = self._wanted(asked)
        was, is_ = (self._right(answers, wanted) for answers in self.answers)
        test, pin = kinds == "test", kinds == "pin"
        fixed, broken = ~was & is_, was & ~is_
        texts = self.watching.texts
        return Blast(
            pool=int((changed & (kinds == "pool")).sum()),
            test=int((changed & test).sum()),
            watched=(int((kinds == "pool").sum()), int(test.sum())),
            left_out=self.watching.left_out,
            fixed=int((fixed & test).sum()),
            broken=int((broken & test).sum()),
            right=(int((was & test).sum()), int((is_ & test).sum())),
            pins_fixed=tuple(texts[row].text for row in np.flatnonzero(fixed & pin)),
            pins_broken=tuple(texts[row].text for row in np.flatnonzero(broken & pin)),
            turns=self._turns(changed, fixed, broken, asked),
        )

    def _places(self, own: set[str]) -> list[Place | None]:
        """Where each text is at both moments; None where it is watched no more."""
        places: list[Place | None] = [one.place for one in self.watching.texts]
        for key, record in self.now.records.items():
            row = self.watching.rows.get(key)
            if row is not None:
                places[row] = _place(record)
        for key in own & self.watching.rows.keys():
            row = self.watching.rows[key]
            if _place(self.then.records.get(key)) != places[row]:
                places[row] = None
        return places

    def _expected(self, merged: tuple[str, str] | None) -> list[tuple[str, ...] | None]:
        found = [one.labels for one in self.watching.texts]
        for key, record in self.then.records.items():
            row = self.watching.rows.get(key)
            if row is not None and record is not None:
                found[row] = record.labels
        if merged is None:
            return found
        swap = {merged[0]: merged[1]}
        return [None if f is None else tuple({swap.get(k, k) for k in f}) for f in found]

    def _wanted(
        self, expected: Sequence[tuple[str, ...] | None]
    ) -> tuple[Answers, NDArray[np.bool_]]:
        """Which answers the labels ask for, and which texts have a label at all."""
        place = {key: column for column, key in enumerate(self.then.columns)}
        wanted = np.zeros_like(self.answers[1])
        for row, labels in enumerate(expected):
            if labels:
                wanted[row, [place[key] for key in labels if key in place]] = True
        return wanted, np.array([labels is not None for labels in expected], dtype=bool)

    def _right(
        self, answers: Answers, asked: tuple[Answers, NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        wanted, labelled = asked
        if self.watching.live.pipeline.task == "multi-label":
            return np.asarray((answers == wanted).all(1) & labelled)
        none = ~wanted.any(1) & ~answers.any(1)
        return np.asarray(((answers & wanted).any(1) | none) & labelled)

    def _turns(
        self,
        changed: NDArray[np.bool_],
        fixed: NDArray[np.bool_],
        broken: NDArray[np.bool_],
        expected: Sequence[tuple[str, ...] | None],
    ) -> tuple[Turn, ...]:
        rows = np.flatnonzero(changed)
        order = np.argsort(-(2 * broken[rows].astype(int) + fixed[rows]), kind="stable")
        before, after = self.answers
        found = list[Turn]()
        for row in rows[order][:_SHOWN].tolist():
            text, label = self.watching.texts[row], expected[row]
            verdict = "broken" if broken[row] else "fixed" if fixed[row] else "other"
            words = "" if label is None else self._words([self._name(key) for key in label])
            said = [self._said(answers[row]) for answers in (before, after)]
            found.append(Turn(text.text, text.place, said[0], said[1], words, verdict))
        return tuple(found)

    def _said(self, answer: NDArray[np.bool_]) -> str:
        return self._words([self._name(self.then.columns[c]) for c in np.flatnonzero(answer)])

    def _name(self, key: str) -> str:
        return self.then.names.get(key, "an intent that is gone")

    def _words(self, names: Sequence[str]) -> str:
        return label_words(sorted(names), self.watching.live.pipeline.task)


def _place(record: UtteranceRecord | None) -> Place | None:
    """Where an utterance is watched as it is now."""
    if record is None:
        return None
    if record.split == "test":
        return "test" if record.labels is not None else None
    return "pool" if record.labels is None and not record.skipped else None
