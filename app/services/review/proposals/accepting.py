"""Accept what was proposed, while what it would change is as it was."""

from app.services.review.proposals.outlook import outlook_on, repair_of
from app.services.studio import Studio
from app.services.what_if.repairs import Repair, apply_repair
from core.errors import Conflict
from storage import projects
from storage.log import events
from storage.people import proposals
from storage.people.proposals import FINDING, proposal_of


def act_on_finding(
    studio: Studio, project: str, repair: Repair, key: str, finding: str, *, seen: int | None = None
) -> None:
    """Apply a repair as `apply_repair` does; of a proposal, only one that is not outdated.

    Raises:
        Conflict: What was proposed, or a text or an intent of the repair, was changed since; a name
            is taken, or an intent is archived.
        InvalidInput: A value does not fit.
        NotFound: The project, an utterance or an intent does not exist.
    """
    if finding.startswith(FINDING):
        stood_at = _refuse_outdated(studio, project, finding, key)
        seen = stood_at if seen is None else seen
    apply_repair(studio, project, repair, key, finding, seen=seen)


def _refuse_outdated(studio: Studio, project: str, finding: str, key: str) -> int:
    """Raise `Conflict` for an outdated proposal; return the revision at which it is none."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        found = proposals.all_of(connection, record.id).get(proposal_of(finding))
        is_done = events.find_batch(connection, record.id, key) is not None
        asked = [] if found is None else [repair_of(found)]
        outlook = outlook_on(connection, record, asked)
    if not is_done and (found is None or not outlook.stands(found)):
        raise Conflict(
            "What this proposal would change was changed meanwhile.",
            "Nothing was overwritten. Look at the list once more.",
        )
    return record.head_revision
