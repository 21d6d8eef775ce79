"""Propose changes: they wait on the Review page until a person accepts or declines them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.services.answering.stored import no_model_yet
from app.services.review.proposals.outlook import (
    OF_TEXTS,
    WHOLE_LABELS,
    Outlook,
    as_json,
    outlook_on,
    repair_of,
)
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, changes_of
from core.errors import Conflict, InvalidInput
from core.text import counted, is_blank, is_storable, normalise, plain_name
from storage import models, projects
from storage.database import Transaction
from storage.log import settled_findings
from storage.people import acts, proposals
from storage.people.acts import Act
from storage.people.proposals import FINDING, ProposalRecord, proposal_of
from storage.queries import dataset
from storage.records import ProjectRecord

MOST_WAITING = 500
"""Proposals of a project that may wait for a person."""
LONGEST_WHY = 500
LONGEST_NAME = 60

ProposalState = Literal["waits", "accepted", "declined", "outdated"]


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change, and why somebody proposes it."""

    repair: Repair
    why: str


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal in words, and what became of it.

    Attributes:
        state: `waits` for a person; a person `accepted` or `declined` it; or `outdated`, because
            what it would change was changed since.
    """

    id: str
    by: str
    why: str
    at: str
    change: str
    state: ProposalState


def propose(
    studio: Studio, project: str, by: str, changes: Sequence[ProposedChange]
) -> tuple[ProposalView, ...]:
    """Store proposals, all or none; no label, text or intent changes.

    What waits already, or was decided while its text was the same, is not asked again: its state
    says so.

    Raises:
        Conflict: Too many proposals wait, a name is taken, or an intent is archived.
        InvalidInput: A change does not fit or would change nothing, or a reason is missing.
        NotFound: The project, its model, a text or an intent does not exist.
    """
    name = _checked_name(by)
    wanted = [replace(one, repair=_checked(one)) for one in changes]
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        if models.champion(connection, record.id) is None:
            raise no_model_yet(project)
        for key in {one.repair.intent for one in changes if one.repair.kind in WHOLE_LABELS} - {""}:
            dataset.intent_by_id(connection, record.id, key)  # also where it is not needed
        outlook = outlook_on(connection, record, [one.repair for one in wanted])
        for one in wanted:
            _refuse_pointless(connection, outlook, one.repair)
        fresh = [
            ProposalRecord(name, normalise(one.why), as_json(one.repair), outlook.seen(one.repair))
            for one in wanted
        ]
        stored, decided = _store(connection, record, fresh)
    return tuple(_view(outlook, stored[one.id], decided) for one in fresh)


def _store(
    connection: Transaction, project: ProjectRecord, wanted: Sequence[ProposalRecord]
) -> tuple[dict[str, ProposalRecord], dict[str, str]]:
    """Store those that are new; return all, and the verbs that decided about some."""
    before = proposals.all_of(connection, project.id)
    new = {one.id: one for one in wanted if one.id not in before}
    decided = _decided(connection, project.id)
    if new and _waiting(connection, project) + len(new) > MOST_WAITING:
        raise Conflict(
            f"More than {MOST_WAITING} proposals would wait for a person.",
            "Let somebody decide about those on the Review page first.",
        )
    if new:
        proposals.keep(connection, project.id, list(new.values()), decided)
        done = Act("propose", wanted[0].by, counted(len(new), "change"))
        acts.note(connection, project.id, done)
    return proposals.all_of(connection, project.id), decided


def _decided(connection: Transaction, project_id: int) -> dict[str, str]:
    """Return the verbs of the acts that decided about proposals and stand, by proposal's id."""
    verbs = settled_findings.verbs_of(connection, project_id, FINDING)
    return {proposal_of(finding): verb for finding, verb in verbs.items()}


def list_proposals(studio: Studio, project: str) -> tuple[ProposalView, ...]:
    """Return the stored proposals with what became of each, the oldest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        stored = proposals.all_of(connection, record.id)
        decided = _decided(connection, record.id)
        outlook = outlook_on(connection, record, map(repair_of, stored.values()))
    return tuple(_view(outlook, one, decided) for one in stored.values())


def count_waiting(studio: Studio, project: ProjectRecord) -> int:
    """Count the proposals that wait for a person."""
    with studio.database.read() as connection:
        return _waiting(connection, project)


def _waiting(connection: Transaction, project: ProjectRecord) -> int:
    stored = proposals.all_of(connection, project.id)
    decided = _decided(connection, project.id) if stored else {}
    undecided = [one for key, one in stored.items() if key not in decided]
    if not undecided:  # asked for each project of the start page
        return 0
    outlook = outlook_on(connection, project, map(repair_of, undecided))
    return sum(map(outlook.stands, undecided))


def _view(outlook: Outlook, proposal: ProposalRecord, decided: dict[str, str]) -> ProposalView:
    repair, verb = repair_of(proposal), decided.get(proposal.id)
    change = outlook.words(repair, outlook.named(repair))
    if verb is not None:
        state: ProposalState = "declined" if verb == settled_findings.KEEP else "accepted"
    else:
        state = "waits" if outlook.stands(proposal) else "outdated"
    return ProposalView(proposal.id, proposal.by, proposal.why, proposal.at, change, state)


def _checked_name(by: str) -> str:
    name = plain_name(by)
    if not name or len(name) > LONGEST_NAME or not is_storable(name):
        raise InvalidInput(
            "A proposal needs the name of who makes it.", f"Use 1 to {LONGEST_NAME} characters."
        )
    return name


def _checked(change: ProposedChange) -> Repair:
    """Return a change as it is stored; it is about one text, or about one intent."""
    if is_blank(change.why) or len(change.why) > LONGEST_WHY or not is_storable(change.why):
        raise InvalidInput(
            "A proposal needs a reason.", f"Say in 1 to {LONGEST_WHY} characters why."
        )
    repair = change.repair
    if repair.kind == "split":
        raise InvalidInput(
            "A split is not proposed: a person chooses its groups.", "Propose labels instead."
        )
    if repair.kind in OF_TEXTS and len(repair.ids) != 1:
        raise InvalidInput("A proposal is about one text.", "Make one proposal for each text.")
    intent = "" if repair.kind in WHOLE_LABELS else repair.intent
    intents, value = _unique(repair.intents), normalise(repair.value)
    return replace(repair, intent=intent, value=value, intents=intents)


def _unique(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(keys)))


def _refuse_pointless(connection: Transaction, outlook: Outlook, repair: Repair) -> None:
    """Raise as the change itself would, and where it would change nothing."""
    if not changes_of(connection, outlook.project, repair):
        raise InvalidInput(
            f"This would change nothing: {outlook.words(repair, outlook.named(repair))}.",
            "Look at what is there now.",
        )
    tested = [one for key in repair.ids if (one := outlook.records.get(key)) is not None]
    if repair.kind == "relabel" and any(one.split == "test" for one in tested):
        raise InvalidInput(
            "This is a test text, whose label a person alone judges.",
            "Propose labels of other texts.",
        )
