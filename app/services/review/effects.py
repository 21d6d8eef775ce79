"""What remedies do to answers, and the order in which they are offered."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.services.cache import Cache
from app.services.review.findings import SAME_TEXT, Effect, Finding, Remedy
from app.services.what_if.preview import Previews, open_previews
from app.services.what_if.repairs import Repair
from app.services.what_if.views import Blast
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import StudioError
from storage import models, pinned_texts
from storage.queries import dataset
from storage.records import ProjectRecord

_SECONDS = 3.0
"""After computing for so long, further findings of a page are shown without effects."""

_BYTES_OF_EFFECTS = 1 << 20
"""Of all findings at one moment, some thousand."""

_FEWEST_MENDED = 2
"""Answers that the removal of a greedy example must mend, less those that it breaks."""


def weighed(
    watched_texts: WatchedTextCache, project: ProjectRecord, findings: Sequence[Finding]
) -> list[Finding]:
    """Return findings with effects where these are known in time, and their remedies in order."""
    effects = _Effects(watched_texts, project) if watched_texts.is_ready(project) else None
    fresh = list[Finding]()
    for finding in findings:
        if effects is not None and finding.kind != "tested":
            finding = effects.beside(finding)
        fresh.append(in_order(finding))
    return fresh


def truly_greedy(
    watched_texts: WatchedTextCache, project: ProjectRecord, findings: Iterable[Finding]
) -> list[Finding]:
    """Return the greedy examples of which the removal mends at least two answers net.

    Once the first is repaired, others with the same texts may do no harm; they are left out. Those
    that were not examined within some seconds are left out, too, and follow with the next request.
    """
    found, told = list[Finding](), set[str]()
    if not watched_texts.is_ready(project):
        return found
    effects = _Effects(watched_texts, project)
    for finding in findings:
        texts = {text.id for text in finding.texts[1:]}
        if told.issuperset(texts):
            continue
        finding = effects.beside(finding)
        removal = next(r for r in finding.remedies if r.repair and r.repair.kind == "delete")
        if removal.effect is not None and removal.effect.net >= _FEWEST_MENDED:
            found.append(finding)
            told |= texts
    return found


def in_order(finding: Finding) -> Finding:
    """Order the remedies by what they do to answers: those that harm last, none that deletes first.

    The first is what a person may do in passing. Of two texts that conflict, the other choices have
    the same order in every finding, behind keeping both where nothing is better than that.
    """
    harmed = any(_net(r) < 0 and r.repair and r.repair.kind == "relabel" for r in finding.remedies)
    proposed = finding.remedies[0] if finding.kind == "proposal" else None

    def place(remedy: Remedy) -> tuple[int, int]:
        group = _group(finding, remedy)
        if remedy is proposed and group != _HARMING:
            group = _LABELLING  # it is what the finding asks, whatever it does
        if group == _ASKING and harmed:
            group = _AFTER_KEEPING
        # Which label an unlabelled text gets is not chosen by what suits the test set.
        return group, 0 if finding.kind == "next" else -_net(remedy)

    ranked = sorted(finding.remedies, key=place)
    first = next((one for one in ranked if not _deletes(one)), ranked[0])
    others = finding.remedies if finding.kind == "conflict" else ranked
    return replace(finding, remedies=(first, *(one for one in others if one is not first)))


_LABELLING, _MENDING, _HARMLESS, _ASKING, _KEEPING, _AFTER_KEEPING, _HARMING = range(7)
"""Groups of remedies in the order in which they are offered."""


def _group(finding: Finding, remedy: Remedy) -> int:
    repair = remedy.repair
    if repair is None:
        return _KEEPING if remedy.keeps else _LABELLING
    if _net(remedy) < 0:
        return _HARMING
    # The first two mend their own errors by definition, and a text is not deleted for its label.
    if repair.kind in ("merge", "split") or (
        repair.kind == "delete" and finding.kind in ("label", "doubt")
    ):
        return _AFTER_KEEPING
    if not _is_whole(remedy):
        return _ASKING
    if finding.kind == "next":
        return _HARMLESS
    if _net(remedy) > 0:
        return _MENDING
    if finding.kind in ("duplicate", "tested") or (
        repair.kind == "relabel" and (_is_doubted(finding) or finding.kind == "proposal")
    ):
        return _HARMLESS
    return _AFTER_KEEPING


def _deletes(remedy: Remedy) -> bool:
    return remedy.repair is not None and remedy.repair.kind == "delete"


def _is_doubted(finding: Finding) -> bool:
    """Whether something is wrong even where no watched answer shows it."""
    return finding.kind in ("label", "doubt", "greedy") or finding.measure == SAME_TEXT


def _net(remedy: Remedy) -> int:
    return remedy.effect.net if remedy.effect else 0


def _is_whole(remedy: Remedy) -> bool:
    """Whether a remedy has a repair that lacks nothing."""
    return remedy.repair is not None and (not remedy.asks or remedy.repair.kind == "split")


class _Effects:
    """The effects of remedies at one moment of a project; each is computed once."""

    def __init__(self, watched_texts: WatchedTextCache, project: ProjectRecord) -> None:
        self._watched_texts, self._project = watched_texts, project.name
        self._previews: Previews | None = None  # opened when the first effect is not known yet
        with watched_texts.live_studio.studio.database.read() as connection:
            champion = models.champion(connection, project.id)
            pins = tuple(
                (pin.text, pin.intents) for pin in pinned_texts.list_all(connection, project.id)
            )
            intents = tuple(sorted(dataset.open_intents(connection, project.id)))
        version = 0 if champion is None else champion.id
        revision = watched_texts.resting.at(project, version)
        self._seconds = watched_texts.resting.seconds(_SECONDS)
        moment = (version, revision, repr(project.fence), pins, intents)
        self._known = watched_texts.live_studio.studio.cache.get_newest(
            ("effects", project.id), moment, Cache, lambda _: _BYTES_OF_EFFECTS
        )

    def beside(self, finding: Finding) -> Finding:
        """Return a finding with the effects of its remedies, if known or computed in time."""
        asked = tuple(r.repair for r in finding.remedies if r.repair and _is_whole(r))
        key = (finding.id, asked)
        effects = self._known.peek(key)
        if effects is None and self._seconds > 0.0:
            effects = self._known.get(
                key, lambda: self._computed(asked), lambda made: 100 * (1 + len(made))
            )
        if effects is None:
            return finding
        by_repair = dict(zip(asked, effects, strict=False))
        remedies = (
            replace(r, effect=by_repair.get(r.repair)) if r.repair and _is_whole(r) else r
            for r in finding.remedies
        )
        return replace(finding, remedies=tuple(remedies))

    def _computed(self, asked: Sequence[Repair]) -> tuple[Effect | None, ...]:
        began = opened = time.monotonic()
        try:
            if self._previews is None:  # this may prepare the texts, so it is not counted here
                self._previews = open_previews(self._watched_texts, self._project)
                opened = time.monotonic()
            blasts = self._previews.of(asked)
        except StudioError:  # not decided by votes, or changed meanwhile
            return ()
        finally:
            over = time.monotonic()
            self._watched_texts.resting.spent += over - began
            self._seconds -= over - opened
        return tuple(_effect_of(blast) for blast in blasts)


def _effect_of(blast: Blast) -> Effect | None:
    """Return what a repair mends and breaks; None where that shows after the next training."""
    if blast.told == "later":
        return None
    mends = blast.fixed + len(blast.pins_fixed)
    return Effect(mends, blast.broken + len(blast.pins_broken))
