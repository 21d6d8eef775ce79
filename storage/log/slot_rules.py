"""Refuse invalid slots and invalid changes of synthetic utterances."""

from typing import Any

from core.errors import Conflict, InvalidInput
from core.templates.slots import slotted
from storage.records import read_slots


def refuse_row(row: dict[str, Any]) -> None:
    """Refuse an invalid new utterance.

    Raises:
        InvalidInput: It is synthetic and in the test split, or its slots do not fit its text.
    """
    if row["synthetic"] and row["split"] == "test":
        raise _untestable(row["text"])
    _refuse_misfit(row["text"], row["slots"])


def refuse_change(field: str, value: Any, now: dict[str, Any]) -> None:
    """Refuse an invalid new value of an attribute, given the utterance's current row.

    Raises:
        Conflict: The text changes while slots are marked in it; they must be removed first.
        InvalidInput: A synthetic utterance would become a test utterance or lose its mark, or slots
            do not fit the text.
    """
    if field == "split" and value == "test" and now["synthetic"]:
        raise _untestable(now["text"])
    if field == "synthetic":
        raise InvalidInput(
            f"'{now['text'][:60]}' cannot become another kind of text.",
            "What is synthetic stays so; add it anew if somebody said it.",
        )
    if field == "text" and now["slots"]:
        raise Conflict(
            f"Values are marked in '{now['text'][:60]}' meanwhile.", "Reload and try again."
        )
    if field == "slots":
        _refuse_misfit(now["text"], value)


def _refuse_misfit(text: str, slots: list[Any]) -> None:
    if slots:
        slotted(text, read_slots(slots))


def _untestable(text: str) -> InvalidInput:
    return InvalidInput(
        f"'{text[:60]}' is synthetic, and a test asks for what people said.",
        "Leave it in train or pool, or choose others.",
    )
