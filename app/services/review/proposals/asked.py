"""Findings that ask a person about proposals."""

from app.services.review.findings import Finding, FoundText, Remedy
from app.services.review.proposals.outlook import Outlook, outlook_on, repair_of
from app.services.studio import Studio
from app.services.what_if.repairs import Repair
from core.text import unturned
from storage.people import proposals
from storage.people.proposals import ProposalRecord, finding_of
from storage.records import ProjectRecord


def proposed_changes(studio: Studio, project: ProjectRecord) -> list[Finding]:
    """List the proposals that wait, the oldest first.

    One is left out when what it would change was changed since.
    """
    with studio.database.read() as connection:
        stored = proposals.all_of(connection, project.id)
        if not stored:
            return []
        outlook = outlook_on(connection, project, map(repair_of, stored.values()))
    return [_asked(outlook, one) for one in stored.values() if outlook.stands(one)]


def _asked(outlook: Outlook, proposal: ProposalRecord) -> Finding:
    repair = repair_of(proposal)
    remedies = [Remedy(outlook.words(repair), repair), Remedy(_decline(outlook, repair), None)]
    if repair.kind == "relabel":
        remedies.insert(1, Remedy("Another label …", Repair("relabel", repair.ids), "intent"))
    return Finding(
        id=finding_of(proposal),
        kind="proposal",
        title=_title(outlook, repair),
        why=f"{proposal.by} proposes: {_asked_for(outlook, repair)}. "
        f"The reason given: “{unturned(proposal.why)}” Nothing changes until you decide.",
        figure=1.0,
        measure=f"by {proposal.by}",
        texts=_texts(outlook, repair),
        remedies=tuple(remedies),
        intents=tuple(key for key in _named(outlook, repair) if key in outlook.intents),
    )


def _title(outlook: Outlook, repair: Repair) -> str:
    now = _label_now(outlook, repair)
    if now:
        return f"{now}, or {outlook.label(repair.intents)}?"
    return f"{outlook.words(repair)}?"


def _asked_for(outlook: Outlook, repair: Repair) -> str:
    words, now = outlook.words(repair), _label_now(outlook, repair)
    return words[0].lower() + words[1:] + (f" instead of {now}" if now else "")


def _decline(outlook: Outlook, repair: Repair) -> str:
    """Say what stays when a person declines."""
    if repair.kind == "relabel":
        now = _label_now(outlook, repair)
        return f"Decline: keep {now}" if now else "Decline: leave it without a label"
    return "Decline: do not add it" if repair.kind == "add" else "Decline: leave it as it is"


def _label_now(outlook: Outlook, repair: Repair) -> str:
    """Return the label that a proposal would replace, in words; "" where it replaces none."""
    found = outlook.records.get(repair.ids[0]) if repair.ids else None
    if repair.kind != "relabel" or found is None or found.labels is None:
        return ""
    return outlook.label(found.labels)


def _texts(outlook: Outlook, repair: Repair) -> tuple[FoundText, ...]:
    found = [outlook.records[key] for key in repair.ids]
    if repair.kind == "add":
        known = outlook.said[repair.value]
        found += known
        if not known:
            return (FoundText("", repair.value, None, "new", "", repair.intents),)
    suggested = repair.intents if repair.kind in ("add", "relabel") else None
    return tuple(FoundText(r.id, r.text, r.labels, r.split, "", suggested) for r in found)


def _named(outlook: Outlook, repair: Repair) -> list[str]:
    """Return the ids of the intents that a change is about, those that a text has now first."""
    labels = [key for one in repair.ids for key in outlook.records[one].labels or ()]
    target = [repair.value] if repair.kind == "merge" else []
    return list(dict.fromkeys((*labels, repair.intent, *target, *repair.intents)))
