"""How often the live model is right on the test split now, and what changed since its training.

Computed in a thread of the server, once for each champion, revision and fence: no page waits.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.services.answering.as_project import ProjectNow, exemplar_signals, fenced
from app.services.answering.opened import Space
from app.services.answering.pinned import (
    BrokenPin,
    BrokenPins,
    OpenPin,
    broken_when_trained,
    open_pins,
)
from app.services.background import RETRY_SECONDS, in_background, rest_after
from app.services.cache import of_version
from app.services.live.answered_tests import (
    ScoredTests,
    as_test,
    count_unread,
    labelled_tests,
    scored_tests,
    told_apart,
)
from app.services.live.judged_pins import judge_pins
from app.services.live.live_model import AnswersBy, LiveModel
from app.services.live.models import LiveModels
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.errors import StudioError
from core.metrics.coverage import untested_words
from core.metrics.in_words import measured_now
from core.metrics.multi_label import multi_label_report
from core.text import counted
from core.types import Pause
from storage.database import Transaction
from storage.log import versions
from storage.log.label_origins import LabelWays, label_ways, merges_since
from storage.queries import utterances
from storage.records import ModelVersionRecord, ProjectRecord, UtteranceRecord

_QUIET_SECONDS = 5.0
"""Longest wait for a gap between requests before the first computation."""
_LOG = logging.getLogger("app.services")


@dataclass(frozen=True, slots=True)
class AccuracyNow:
    """How often the live model is right on the test split, with labels, names and fence.

    Texts that the model has learned are left out.

    Attributes:
        share: Right answers as a share of `n` texts; for multi-label, exact matches. A text that is
            refused as out of scope is answered wrongly.
        micro_f1: F1 over all intents in multi-label projects, else None.
        causes: What makes it differ from the accuracy at training, in words; empty if nothing does.
        kept_out: Share of the test texts labelled out of scope that are refused; None without any.
        outside_n: Number of these texts.
        tested_intents: Number of intents that have a test text, of all `intents`.
        measured_on: On what it stands, in words.
        untested: How many intents have no test text, in words; "" where all have.
    """

    share: float
    right: int
    n: int
    micro_f1: float | None
    causes: tuple[str, ...]
    kept_out: float | None = None
    outside_n: int = 0
    tested_intents: int = 0
    intents: int = 0
    measured_on: str = ""
    untested: str = ""


@dataclass(frozen=True, slots=True)
class _Since:
    """What happened since a training: `learned` test texts are examples now; `merges` of intents.

    Test texts that are examples are left out, and so are `unread` ones, newer than the most that
    are read; a merge changes the labels of examples and tests. `changed`: by something else, a test
    text that is counted came, went, or got another text or label.
    """

    learned: int
    merges: int
    unread: int
    changed: bool


@dataclass(frozen=True, slots=True)
class _State:
    """What a figure depends on: the revision is that of the labels."""

    by: AnswersBy
    revision: int
    pins: tuple[OpenPin, ...]


@dataclass(slots=True)
class _KeptAccuracy:
    """The newest figure of a project; `value` is None where there is no labelled test text.

    `broken` are the pins of then that are broken, `ways` how the labels were given where no test
    text tells how good they are. Where the last attempt `failed`, all these are of before it.
    """

    state: _State | None = None
    value: AccuracyNow | None = None
    broken: BrokenPins = field(default_factory=dict)
    ways: LabelWays = field(default_factory=LabelWays)
    busy: bool = False
    failed: bool = False
    rest_until: float = 0.0


@dataclass(slots=True)
class Accuracies:
    """The present accuracy of each project's champion; one object a server."""

    studio: Studio
    models: LiveModels
    traffic: Traffic
    kept: defaultdict[int, _KeptAccuracy] = field(
        default_factory=lambda: defaultdict(_KeptAccuracy)
    )
    guard: threading.Lock = field(default_factory=threading.Lock)
    working: threading.Lock = field(default_factory=threading.Lock)

    def get(
        self, project: ProjectRecord, champion: ModelVersionRecord
    ) -> tuple[AccuracyNow | None, bool]:
        """Return the newest figure, and whether a newer one is being computed; never waits.

        A figure of another champion or fence is not returned: it would not be true.
        """
        by, pins = AnswersBy(champion.id, project.fence), self._pins(project)
        state = _State(by, project.head_revision, pins)
        with self.guard:
            kept = self.kept[project.id]
            if kept.state == state:
                return kept.value, False
            is_other = kept.state is None or kept.state.by != by
            is_due = (is_other and not kept.failed) or time.monotonic() > kept.rest_until
            if not kept.busy and is_due:
                in_background("accuracy", lambda: self._refresh(project, state))
                kept.busy = True
            return (None if is_other else kept.value), kept.busy or not kept.failed

    def known(self, project: ProjectRecord, champion: ModelVersionRecord) -> AccuracyNow | None:
        """Return the figure of now if it is there; else nothing is computed or loaded for it."""
        with self.guard:
            kept = self.kept[project.id]
            state, by = kept.state, AnswersBy(champion.id, project.fence)
            if state is None or (state.by, state.revision) != (by, project.head_revision):
                return None
            return kept.value

    def broken_pins(
        self, project: ProjectRecord, champion: ModelVersionRecord
    ) -> tuple[BrokenPin, ...]:
        """Return the pins of today that the live model breaks, as far as is known; never waits.

        Before it was asked, its answers at its training count.
        """
        pins = self._pins(project)
        with self.guard:
            kept = self.kept[project.id]
            by = AnswersBy(champion.id, project.fence)
            is_known = kept.state is not None and kept.state.by == by
            broken = kept.broken if is_known else broken_when_trained(champion, project.task)
        return tuple(broken[pin] for pin in pins if pin in broken)

    def ways(self, project: ProjectRecord, champion: ModelVersionRecord) -> LabelWays:
        """Return how the labels were given that the live model learned, where nothing tests it.

        Nothing is counted before the model was asked, and where there are test texts.
        """
        with self.guard:
            kept = self.kept[project.id]
            is_known = kept.state is not None and kept.state.by.version == champion.id
            return kept.ways if is_known else LabelWays()

    def forget_all(self) -> None:
        """Drop the figures of all projects, whose broken pins hold texts."""
        with self.guard:
            self.kept.clear()

    def _pins(self, project: ProjectRecord) -> tuple[OpenPin, ...]:
        with self.studio.database.read() as connection:
            return open_pins(connection, project.id)

    def _refresh(self, project: ProjectRecord, state: _State) -> None:
        value, took, ways, failed = None, 0.0, LabelWays(), True
        broken: BrokenPins = {}
        try:
            self.traffic.give_way(_QUIET_SECONDS)
            with self.working:  # one project after the other
                now, live = self.models.open_by_id(project.id)
                began = time.monotonic()
                if live is not None:
                    value = accuracy_now(self.studio, now, live, self.traffic.give_way)
                    pins = self._pins(now.project)
                    broken = judge_pins(self.studio, live.pipeline, pins)
                    ways = ways if value else _ways(self.studio, now.project, live.version)
                    by = AnswersBy(live.version.id, now.project.fence)
                    state = _State(by, live.revision, pins)
                took, failed = time.monotonic() - began, False
        except StudioError as error:  # such as a damaged model
            _LOG.warning("The accuracy of %s was not computed: %s", project.name, error)
        except Exception:  # noqa: BLE001 - a thread has no caller
            _LOG.exception("The accuracy of %s was not computed", project.name)
        with self.guard:
            kept = self.kept[project.id]
            if not failed:
                kept.state, kept.value, kept.broken, kept.ways = state, value, broken, ways
            kept.busy, kept.failed = False, failed
            kept.rest_until = time.monotonic() + (RETRY_SECONDS if failed else rest_after(took))


def _ways(studio: Studio, project: ProjectRecord, version: ModelVersionRecord) -> LabelWays:
    """Count once for each version how the labels were given that it learned."""

    def count() -> LabelWays:
        with studio.database.read() as connection:
            revision = versions.learned_at(connection, version)
            return label_ways(connection, project.id, None, revision)

    return studio.cache.get(("label ways", of_version(version)), count, lambda _: 100)


def accuracy_now(
    studio: Studio, now: ProjectNow, live: LiveModel, pause: Pause
) -> AccuracyNow | None:
    """Answer the labelled texts of the test split; None without any."""
    several = live.pipeline.task == "multi-label"
    every = labelled_tests(studio.database, now.project.id, with_none=True)
    inside = [one for one in every if several or one.labels]
    records, _ = told_apart(live, inside)
    if not records:
        return None
    with studio.database.read() as connection:
        since = _since_training(connection, live, inside, records)
    tests = scored_tests(studio.database, live, records, pause)
    if several:
        return _with_coverage(_of_sets(tests, since), now, tests)
    outside, _ = told_apart(live, [record for record in every if not record.labels])
    found = _with_coverage(_of_intents(studio, now, tests, since), now, tests)
    if not outside:
        return found
    refused = ~scored_tests(studio.database, live, outside, pause).let_in()
    return replace(found, kept_out=float(refused.mean()), outside_n=len(refused))


def _since_training(
    connection: Transaction,
    live: LiveModel,
    inside: Sequence[UtteranceRecord],
    fresh: Sequence[UtteranceRecord],
) -> _Since:
    """Look up what happened to the test texts of an intent; `fresh` ones are counted."""
    project_id, several = live.version.project_id, live.pipeline.task == "multi-label"
    trained_at = versions.learned_at(connection, live.version)
    is_from_here = live.version.dataset_version_id is not None
    found = versions.tests_before(connection, project_id, trained_at) if is_from_here else {}
    then = {key: was if was and (several or was[1]) else None for key, was in found.items()}
    now = {one.id: as_test(one) for one in inside}
    left_out = now.keys() - {one.id for one in fresh}
    missing = [key for key, was in then.items() if was is not None and key not in now]
    others = utterances.by_ids(connection, project_id, missing)  # too new to be among `inside`
    same = {key for key, one in others.items() if as_test(one) == then[key]}
    return _Since(
        learned=sum(then.get(key, now[key]) is not None for key in left_out),
        merges=merges_since(connection, project_id, trained_at),
        unread=count_unread(connection, project_id, with_none=several),
        changed=not is_from_here
        or any(was != now.get(key) for key, was in then.items() if key not in left_out | same),
    )


def _with_coverage(found: AccuracyNow, now: ProjectNow, tests: ScoredTests) -> AccuracyNow:
    """Add how many intents are tested; an archived one without an example or a text is none."""
    with_text = {intent for record in tests.records for intent in record.labels or ()}
    pipeline, columns = tests.live.pipeline, tests.live.columns
    voting = {name for exemplar in pipeline.exemplars for name in exemplar.intents}
    known = {
        key
        for key, name in zip(columns, pipeline.head.intents, strict=True)
        if name in voting or key in now.intents or key not in now.names
    }
    n_tested, n = len(with_text), len(with_text | known)
    return replace(
        found,
        tested_intents=n_tested,
        intents=n,
        measured_on=measured_now(found.n),
        untested=untested_words(n_tested, n),
    )


def _of_intents(studio: Studio, now: ProjectNow, tests: ScoredTests, since: _Since) -> AccuracyNow:
    live, best = tests.live, tests.best_is_right()
    n, right = len(best), int((best & tests.let_in()).sum())
    by_own_line = right
    if now.project.fence is not None:
        own = fenced(
            replace(live.pipeline, calibration=live.base.pipeline.calibration),
            live.columns,
            None,
            lambda: exemplar_signals(studio, Space(now.project, live.version)),
        ).calibration
        inside = tests.exact() | own.inside(tests.rows, tests.scores)
        by_own_line = int((best & inside).sum())
    causes = [*_data_causes(live, by_own_line, n, since), *_line_causes(right - by_own_line)]
    if live.version.metrics.get("answered_right") is None and int(best.sum()) != right:
        # A version of an earlier release knows only how often the right intent came first.
        refused = counted(int(best.sum()) - right, "right answer")
        by_data = _data_causes(live, int(best.sum()), n, since)
        causes = [*by_data, f"{refused} refused as out of scope"]
    return AccuracyNow(right / n, right, n, None, tuple(causes))


def _line_causes(gain: int) -> list[str]:
    """Say how many more answers are right by the project's limit than by that of the training."""
    return [f"limit for out of scope moved ({_more_right(gain)})"] if gain else []


def _more_right(gain: int) -> str:
    return f"{abs(gain):,} {'more' if gain > 0 else 'fewer'} right"


def _of_sets(tests: ScoredTests, since: _Since) -> AccuracyNow:
    labels = [set(record.labels or ()) for record in tests.records]
    answers = tests.answered_sets()
    report = multi_label_report(labels, answers)
    right = sum(label == answer for label, answer in zip(labels, answers, strict=True))
    causes = _data_causes(tests.live, right, len(labels), since)
    found = AccuracyNow(right / len(labels), right, len(labels), report.micro_f1, tuple(causes))
    if not report.n_without:
        return found
    return replace(found, kept_out=report.without_recall, outside_n=report.n_without)


def _data_causes(live: LiveModel, right: int, n: int, since: _Since) -> list[str]:
    """Say which data make `right` of `n` differ from the right answers at training.

    All causes count answers as they are given, as the figures do that they stand beside: they add
    up to the difference of the two. Nobody knows what labels did where test texts changed, too.
    """
    version = live.version
    before, tested = version.right_share, version.metrics.get("n")
    if before is None or (abs(before - right / n) < 1e-9 and tested == n):
        return []
    gain = right - round(before * n) if tested == n and not since.changed else 0
    causes = []
    joined = len(live.since - live.waiting)
    merged = [counted(since.merges, "merged intent")] if since.merges else []
    given = [*([counted(joined, "change")] if joined else []), *merged]
    if given:
        effect = f" ({_more_right(gain)})" if gain else ""
        causes.append(f"{' and '.join(given)} since training{effect}")
    if live.pipeline.by_name:
        causes.append(nameless_words(live.pipeline.by_name))
    taught = since.learned - int(version.metrics.get("left_out") or 0)
    if since.unread and tested != n:
        causes.append(f"{counted(since.unread, 'newer test text')} not counted")
    are_told = taught > 0 and tested in (n + taught, n + taught + since.unread)
    if are_told:
        of_them = "is an example" if taught == 1 else "are examples"
        causes.append(f"{counted(taught, 'test text')} {of_them} now")
    if since.changed or not (are_told or tested in (n, n + taught + since.unread)):
        causes.append("test texts changed")
    return causes


def nameless_words(names: Sequence[str]) -> str:
    """Say which intents only their names speak for, and what to do."""
    if len(names) == 1:
        return f"“{names[0]}” has no example, so its name alone decides: label a text so"
    n = counted(len(names), "intent")
    return f"{n} have no example, so their names alone decide: label a text for each"
