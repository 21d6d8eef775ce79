"""Unlabelled texts that a training learns from, and what they brought, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.text import counted, match_key
from storage.log.replay import State

if TYPE_CHECKING:
    from core.training.from_labels.rounds import PoolGain


def unlabelled_texts(state: State) -> dict[str, str]:
    """Return the texts of unlabelled utterances of the splits train and pool, by id.

    Left out are texts that a person skipped or flagged, synthetic ones, and those worded as a text
    of the test split or as one labelled out of scope.
    """
    rows = state.utterance_records()
    closed = {match_key(row.text) for row in rows if row.split == "test" or row.labels == ()}
    return {
        row.id: row.text
        for row in rows
        if row.split != "test"
        and row.labels is None
        and not (row.skipped or row.flagged or row.synthetic)
        and match_key(row.text) not in closed
    }


def gain_figures(gain: "PoolGain | None") -> dict[str, Any]:
    """Return what unlabelled texts brought, for a version's metrics; {} where there were none."""
    if gain is None:
        return {}
    if gain.untried:
        return {"pool": {"kept": False, "n": 0, "untried": gain.untried}}
    figures = {
        "kept": gain.kept,
        "n": gain.n,
        "outside": gain.n_outside,
        "judged": gain.n_judged,
        "right": gain.right,
        "right_without": gain.right_without,
        "helped": gain.helped,
    }
    return {"pool": figures}


def pool_facts(gain: "PoolGain | None") -> dict[str, Any]:
    """Return for a version's lineage how many unlabelled texts it learned from, and how.

    `n_read` is how many the training went through, whether the version keeps what they taught or
    not, and `pool_precision` the number format in which those that it learned were read, or "".
    """
    return {
        "n_unlabelled": 0 if gain is None else gain.n,
        "n_read": 0 if gain is None else gain.n_texts,
        "pool_precision": "" if gain is None else gain.lesson.precision or "",
    }


def gain_words(metrics: Mapping[str, Any]) -> str:
    """Say what unlabelled texts brought to a version; "" where there were none."""
    found = metrics.get("pool")
    if not found:
        return ""
    if found.get("untried"):
        return f"Learned from no unlabelled text: {found['untried']}."
    right, without, judged = found["right"], found["right_without"], found["judged"]
    compared = f"{right:,} of {counted(judged, 'held-out label')} right, {without:,} without them"
    if not found["kept"]:
        why = f": {compared}" if judged else ": too few are about your intents"
        return f"Unlabelled texts did not help here, so they were left out{why}."
    texts = f"Learned from {counted(found['n'], 'unlabelled text')}, too."
    if "helped" not in found:  # of an earlier release
        return f"{texts} {compared[0].upper()}{compared[1:]}."
    if found["helped"]:
        return f"{texts} Unlabelled texts helped: {compared}."
    return f"{texts} Held-out labels cannot tell whether they helped: {compared}."
