"""A project's fence as the limits of a model's answers: live, on the command line, in bundles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from storage import browse, events, versions
from storage.database import Transaction
from storage.records import ModelVersionRecord

if TYPE_CHECKING:
    from core.heads.decision import Calibration


def fenced(
    calibration: "Calibration", columns: Sequence[str], fence: Mapping[str, Any] | None
) -> "Calibration":
    """Let a model answer by a project's fence; several labels have thresholds of their own.

    Args:
        calibration: How the model was trained to answer.
        columns: Intent id of each score column.
        fence: Of the project; None: there is none.
    """
    if fence is None or calibration.task == "multi-label":
        return calibration
    limit, own = fence.get("limit"), fence.get("limits") or {}
    limit = calibration.threshold if limit is None else float(limit)
    limits = tuple(float(own.get(key, limit)) for key in columns) if own else ()
    return replace(calibration, threshold=limit, thresholds=limits)


def columns_of(
    connection: Transaction, project_id: int, version: ModelVersionRecord, intents: Sequence[str]
) -> tuple[str, ...]:
    """Return the id of each intent that a version answers, "" of those the project has not.

    They are found by the names that they had when it was trained.
    """
    revision = versions.learned_at(connection, version)
    names = browse.intent_ids(connection, project_id)
    names |= events.intent_ids_at(connection, project_id, revision)
    return tuple(names.get(name, "") for name in intents)
