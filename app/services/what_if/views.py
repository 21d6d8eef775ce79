"""What a repair would do: the answers that change, judged by labels and pins, and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from app.services.live.answered_tests import Flags
from app.services.live.live_model import exemplar_of
from app.services.what_if.prepared_texts import Answers, PreparedTexts, WatchedPlace
from core.text import label_words, match_key
from storage.records import UtteranceRecord

Told = Literal["counted", "later", "nothing"]
"""How the effect on answers is told: counted; shown after the next training; or there is none, as
no example changes."""

MOST_TOLD = 300
"""Changed answers that are told one by one."""


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """An answer that changes, in words; `expected` is "" for a text without a label.

    `verdict` is `fixed`, `broken`, `right` where both answers are, or `other`: there is no label,
    or both answers are wrong. `scope` is `in` where the text was out of scope and is not any more,
    `out` where it becomes so, else "".
    """

    text: str
    place: WatchedPlace
    before: str
    after: str
    expected: str
    verdict: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class NearExample:
    """An example near the added text; `conflict`: it is very similar and has another label."""

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    conflict: bool


@dataclass(frozen=True, slots=True)
class CountedTests:
    """Of `n` texts of the test split, those that are right now, and with the change."""

    n: int
    now: int
    then: int


@dataclass(frozen=True, slots=True)
class Blast:
    """Effects of a repair; all but the texts, `near` and `now` are numbers.

    Attributes:
        pool: Unlabelled texts whose answer changes.
        test: Texts of the test split whose answer changes.
        watched: Watched texts: unlabelled ones, those of the test split that the model has not
            learned, and pins. Of none, nothing is known.
        left_out: Texts that are not watched: too many, not embedded yet, or of the test split and
            learned by the model, so that they test nothing.
        right: Test texts that are right now, and with the change.
        in_scope: Those of an intent: the accuracy of the live model is theirs. `now` is what it is
            today: before a merge, two intents are two.
        outside: Those labelled out of scope; right is refused. In multi-label projects there are
            none, and `in_scope` has those of no intent, too.
        pins: Pins whose answer changes, kept ones too.
        turns: The first answers that change, the worst first: broken ones, then unlabelled texts
            that would be refused, and those that would be no longer, then fixed ones.
        joined: Of `in_scope`, those that a merge alone makes right: they were answered as the other
            of its two intents. `fixed` does not count them.
        touched: Utterances that the repair changes, and how many of them are of the test set.
        scope: Unlabelled texts that were out of scope and get an intent, and the other way round.
        renamed: Changed answers that are neither `fixed` nor `broken`, and differ only because the
            repair joins or parts two intents.
        stays: Other changed answers of test texts and pins, that stay right and that stay wrong.
        another: Unlabelled texts that get another intent, and are not `renamed`.
        revision: The project's at which all this was so; where a text is added, at which the labels
            of `near` were read.
        told: Where it is not `counted`, all else but `touched`, `near` and `now` is empty.

    Each changed answer is in one of `fixed`, `broken`, `pins_fixed`, `pins_broken`, `scope`,
    `renamed`, `stays` and `another`. A split alone also counts as `broken` test texts whose label
    it changes and whose answer it does not.
    """

    pool: int
    test: int
    watched: tuple[int, int, int]
    left_out: int
    fixed: int
    broken: int
    right: tuple[int, int]
    pins_fixed: tuple[str, ...]
    pins_broken: tuple[str, ...]
    turns: tuple[ChangedAnswer, ...]
    in_scope: CountedTests
    outside: CountedTests
    touched: tuple[int, int] = (0, 0)
    scope: tuple[int, int] = (0, 0)
    pins: int = 0
    joined: int = 0
    renamed: int = 0
    stays: tuple[int, int] = (0, 0)
    another: int = 0
    near: tuple[NearExample, ...] = ()
    now: str = ""
    revision: int = 0
    told: Told = "counted"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The project at one moment; `columns` are intent ids, those of the votes first.

    `records` are the utterances that differ from those of the anchor, by id, or None where deleted.
    """

    columns: tuple[str, ...]
    records: Mapping[str, UtteranceRecord | None]
    names: Mapping[str, str] = field(repr=False)
    closed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class JudgedAnswers:
    """Answers before and after a change, judged by labels and pins."""

    prepared: PreparedTexts
    now: Snapshot
    then: Snapshot
    before: Answers
    after: Answers

    def blast(self, changed_ids: set[str], as_one: Mapping[str, str]) -> Blast:
        """Count what changes; `changed_ids` are the utterances that the repair itself changes.

        An answer changes if it names another intent, even where only two intents are merged or one
        is split. Answers before the repair are judged by the labels after it, so that a label mends
        nothing by itself. `as_one` maps an intent that the repair merges away, or makes, to the
        intent that its texts go to, or come from; for the answers before it, both count as one.
        """
        kinds = np.array([place or "" for place in self._places(changed_ids)], dtype=np.str_)
        learned = (kinds == "test") & self._learned()
        kinds[learned] = ""
        changed = np.any(self.before != self.after, axis=1) & (kinds != "")
        merged = {key: other for key, other in as_one.items() if key in self.now.names}
        expected = _with_labels_as_one(self._labels_at(self.then), merged)
        was = self._right(self._as_one(self.before, as_one), _with_labels_as_one(expected, as_one))
        is_ = self._right(self.after, expected)
        today = self._right(self.before, self._labels_at(self.now)) if as_one else was
        moved_in, moved_out = self._across()
        test, pin, pool = kinds == "test", kinds == "pin", kinds == "pool"
        fixed, broken = ~was & is_, was & ~is_
        is_outside = test & self._is_outside(expected)
        texts = self.prepared.texts
        rest = changed & ~fixed & ~broken & ~(pool & (moved_in | moved_out))
        other = rest & ~self._same_as_one(as_one)
        return Blast(
            pool=int((changed & pool).sum()),
            test=int((changed & test).sum()),
            pins=int((changed & pin).sum()),
            watched=(int(pool.sum()), int(test.sum()), int(pin.sum())),
            left_out=self.prepared.left_out + int(learned.sum()),
            fixed=int((fixed & test).sum()),
            broken=int((broken & test).sum()),
            right=(int((was & test).sum()), int((is_ & test).sum())),
            pins_fixed=tuple(texts[row].text for row in np.flatnonzero(fixed & pin)),
            pins_broken=tuple(texts[row].text for row in np.flatnonzero(broken & pin)),
            turns=self._changed_answers(changed, was, is_, expected),
            in_scope=_counted(test & ~is_outside, today, is_),
            outside=_counted(is_outside, was, is_),
            joined=int((test & ~is_outside & was & ~today).sum()),
            scope=(int((moved_in & pool).sum()), int((moved_out & pool).sum())),
            renamed=int((rest & ~other).sum()),
            stays=(int((other & is_).sum()), int((other & ~is_ & ~pool).sum())),
            another=int((other & pool).sum()),
        )

    def _same_as_one(self, as_one: Mapping[str, str]) -> Flags:
        """Return which answers stay but for the name that a repair gives them; (n,)."""
        both = (self._as_one(answers, as_one) for answers in (self.before, self.after))
        return np.asarray(np.equal(*both).all(1))

    def _across(self) -> tuple[Flags, Flags]:
        """Return which texts get an intent instead of none, and which none instead of one; (n,)."""
        had, has = self.before.any(1), self.after.any(1)
        return np.asarray(~had & has), np.asarray(had & ~has)

    def _learned(self) -> Flags:
        """Return which texts the model has learned, so that they test nothing; (n,)."""
        task, twins = self.prepared.live.pipeline.task, self.prepared.twins
        records = [record for record in self.now.records.values() if record is not None]
        known = {match_key(one.text) for one in records if exemplar_of(one, task)}
        known |= {
            key for key, by in twins.items() if any(id_ not in self.now.records for id_ in by)
        }
        learned = self.prepared.learned.copy()
        for key in known & self.prepared.keys.keys():
            learned[self.prepared.keys[key]] = True
        return learned

    def _is_outside(self, expected: Sequence[tuple[str, ...] | None]) -> Flags:
        single = self.prepared.live.pipeline.task == "single-label"
        return np.array([single and labels == () for labels in expected], dtype=bool)

    def _places(self, changed_ids: set[str]) -> list[WatchedPlace | None]:
        """Return where each text is at both moments; None where it is not watched at both."""
        places: list[WatchedPlace | None] = [text.place for text in self.prepared.texts]
        for key, record in self.now.records.items():
            row = self.prepared.rows.get(key)
            if row is not None:
                places[row] = _place(record)
        for key in changed_ids & self.prepared.rows.keys():
            row = self.prepared.rows[key]
            if _place(self.then.records.get(key)) != places[row]:
                places[row] = None
        return places

    def _as_one(self, answers: Answers, as_one: Mapping[str, str]) -> Answers:
        """Return answers with those of some intents as others', (n, c)."""
        column = {key: at for at, key in enumerate(self.then.columns)}
        answers = answers.copy()
        for key, other in as_one.items():
            if key in column and other in column:
                answers[:, column[other]] |= answers[:, column[key]]
                answers[:, column[key]] = False
        return answers

    def _labels_at(self, moment: Snapshot) -> list[tuple[str, ...] | None]:
        labels = [text.labels for text in self.prepared.texts]
        for key, record in moment.records.items():
            row = self.prepared.rows.get(key)
            if row is not None and record is not None:
                labels[row] = record.labels
        return labels

    def _right(self, answers: Answers, expected: Sequence[tuple[str, ...] | None]) -> Flags:
        """Return which texts have a label that agrees with their answer, (n,)."""
        column = {key: at for at, key in enumerate(self.then.columns)}
        wanted = np.zeros_like(answers)
        labelled = np.array([labels is not None for labels in expected], dtype=bool)
        for row in np.flatnonzero(labelled).tolist():  # few of them: most texts have no label
            wanted[row, [column[key] for key in expected[row] or () if key in column]] = True
        if self.prepared.live.pipeline.task == "multi-label":
            return np.asarray((answers == wanted).all(1) & labelled)
        none = ~wanted.any(1) & ~answers.any(1)
        return np.asarray(((answers & wanted).any(1) | none) & labelled)

    def _changed_answers(
        self,
        changed: Flags,
        was: Flags,
        is_: Flags,
        expected: Sequence[tuple[str, ...] | None],
    ) -> tuple[ChangedAnswer, ...]:
        rows = np.flatnonzero(changed)
        verdicts = np.where(was, np.where(is_, "right", "broken"), np.where(is_, "fixed", "other"))
        moved_in, moved_out = self._across()
        scope = np.where(moved_in, "in", np.where(moved_out, "out", ""))
        ranks = [_rank(str(verdicts[row]), str(scope[row])) for row in rows]
        order = np.argsort(ranks, kind="stable")
        return tuple(
            ChangedAnswer(
                text=self.prepared.texts[row].text,
                place=self.prepared.texts[row].place,
                before=self._answer_words(self.before[row]),
                after=self._answer_words(self.after[row]),
                expected=self._label_words(expected[row]),
                verdict=str(verdicts[row]),
                scope=str(scope[row]),
            )
            for row in rows[order][:MOST_TOLD].tolist()
        )

    def _answer_words(self, answer: Flags) -> str:
        return self._label_words([self.then.columns[column] for column in np.flatnonzero(answer)])

    def _label_words(self, labels: Sequence[str] | None) -> str:
        if labels is None:
            return ""
        names = [self.then.names.get(key, "an intent that is gone") for key in labels]
        return label_words(sorted(names), self.prepared.live.pipeline.task)


def _rank(verdict: str, scope: str) -> int:
    """Order changed answers, the worst first; on the other side of the line, somebody looks."""
    if verdict in ("broken", "fixed", "right"):
        return {"broken": 0, "fixed": 3, "right": 4}[verdict]
    return {"out": 1, "in": 2, "": 5}[scope]


def _with_labels_as_one(
    labels: Sequence[tuple[str, ...] | None], as_one: Mapping[str, str]
) -> list[tuple[str, ...] | None]:
    if not as_one:
        return list(labels)
    return [
        None if of_text is None else tuple({as_one.get(key, key) for key in of_text})
        for of_text in labels
    ]


def _counted(which: Flags, was: Flags, is_: Flags) -> CountedTests:
    return CountedTests(int(which.sum()), int((was & which).sum()), int((is_ & which).sum()))


def _place(record: UtteranceRecord | None) -> WatchedPlace | None:
    """Return where an utterance is watched now; None where it is not."""
    if record is None:
        return None
    if record.split == "test":
        return "test" if record.labels is not None else None
    return "pool" if record.labels is None and not record.skipped else None
