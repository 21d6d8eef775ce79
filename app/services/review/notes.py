"""What a review says of itself: what it did not look at, and what follows."""

from app.services.live.live_model import LiveModel
from app.services.live.pool import Pool
from app.services.review.evidence.held import HeldExamples
from core.heads.votes.fit import VoteHead
from core.text import counted


def notes_on(
    live: LiveModel, held: HeldExamples, judged: int, pool: Pool | None, *, ready: bool
) -> tuple[str, ...]:
    """Return notes on a review; `judged` is of how many examples the labels were judged.

    `ready` is whether nothing more of the effects of remedies follows.
    """
    notes: list[str] = []
    if not live.joins:
        notes.append(f"What a remedy does to answers shows after the next training: {_why(live)}.")
    if not ready:
        notes.append("What each remedy does to answers is still being computed.")
    if held.foreign:
        notes.append(_left_out(live, held.foreign))
    if is_carried(live):
        notes.append(_looked_at(held, judged))
    if pool is None:
        notes.append("The unlabelled texts are still being read.")
    if live.waiting:
        notes.append(f"{counted(len(live.waiting), 'label')} count only after the next training.")
    return tuple(notes)


def is_carried(live: LiveModel) -> bool:
    """Whether only some of the examples vote, because there are so many."""
    head = live.base.pipeline.head
    return isinstance(head, VoteHead) and head.carriers is not None


def _why(live: LiveModel) -> str:
    """Say why labels do not join a model."""
    n = len(live.pipeline.exemplars)
    if is_carried(live):
        return f"{n:,} of {counted(len(live.taught), 'example')} vote"
    if isinstance(live.base.pipeline.head, VoteHead):
        return f"{counted(n, 'example')} are too many for a label to count at once"
    return f"the examples of version {live.version.number} do not vote"


def _left_out(live: LiveModel, foreign: int) -> str:
    came = f"Version {live.version.number} was imported with {counted(foreign, 'example')}"
    return f"{came} of another project, left out here: train to learn from your own."


def _looked_at(held: HeldExamples, judged: int) -> str:
    of = f"all {judged:,}" if judged == held.total else f"{judged:,} of {held.total:,}"
    return (
        f"Wrong labels are looked for in {of} examples, other faults in the {len(held.rows):,} "
        "that vote."
    )
