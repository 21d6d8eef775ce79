"""How slots of an utterance are stored, and which changes of them are refused."""

from typing import Any

from core.errors import Conflict, InvalidInput
from core.templates.slots import slotted
from storage.records import read_slots


def refuse_row(row: dict[str, Any]) -> None:
    """Refuse an utterance that cannot come into being.

    Raises:
        InvalidInput: It is synthetic and of the test split, or its slots do not fit its text.
    """
    if row["synthetic"] and row["split"] == "test":
        raise _untestable(row["text"])
    _refuse_misfit(row["text"], row["slots"])


def refuse_change(field: str, value: Any, now: dict[str, Any]) -> None:
    """Refuse a new value of one attribute of an utterance, which is now as `now` says.

    Raises:
        Conflict: Its text changes while slots are marked in it; they are taken off first.
        InvalidInput: A synthetic utterance would be tested with, or pass for one that was said; or
            slots do not fit the text.
    """
    if field == "split" and value == "test" and now["synthetic"]:
        raise _untestable(now["text"])
    if field == "synthetic":
        raise InvalidInput(
            f"'{now['text'][:60]}' cannot become another kind of utterance.",
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
