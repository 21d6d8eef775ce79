"""A change as an agent writes it: intents by name; and as the studio applies it: intents by id."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.services.what_if.repairs import Repair, RepairKind
from core.errors import InvalidInput, NotFound
from core.text import did_you_mean

ChangeKind = Literal["label", "add", "delete", "move", "merge", "rename", "describe"]
_KINDS: Mapping[ChangeKind, RepairKind] = {
    "label": "relabel",
    "add": "add",
    "delete": "delete",
    "move": "move",
    "merge": "merge",
    "rename": "rename",
    "describe": "describe",
}
_NEEDED: Mapping[ChangeKind, tuple[str, ...]] = {
    "label": ("text_id",),
    "add": ("text",),
    "delete": ("text_id",),
    "move": ("text_id", "to"),
    "merge": ("intent", "to"),
    "rename": ("intent", "to"),
    "describe": ("intent",),
}


class AgentChange(BaseModel):
    """One change of one text or intent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: ChangeKind = Field(
        description="label: give the text text_id the intents; add: add text as an example; "
        "delete: the text text_id; move: the text text_id to the set `to`; merge: intent into the "
        "intent `to`; rename: intent to the name `to`; describe: intent by the sentence `to`"
    )
    text_id: str = Field(default="", max_length=200, description="id of a text, for label, ...")
    text: str = Field(default="", max_length=20_000, description="a new text, for add")
    intents: list[str] = Field(
        default=[],
        max_length=50,
        description="names of intents, for label and add; none: out of scope, or no intent",
    )
    intent: str = Field(default="", max_length=1_000, description="name of an intent, for merge, …")
    to: str = Field(
        default="",
        max_length=5_000,
        description="train, test or pool; or the other intent, the new name, the description",
    )

    def read(self, ids: Mapping[str, str]) -> Repair:
        """Convert to the studio's change; `ids` are the ids of intents by name.

        Raises:
            InvalidInput: A field that the kind needs is empty, or `intent` stands for `intents`.
            NotFound: There is no intent of a name.
        """
        missing = [name for name in _NEEDED[self.kind] if not getattr(self, name)]
        if missing:
            raise InvalidInput(
                f"A change of the kind {self.kind} needs {' and '.join(missing)}.",
                "The schema of the tool says what each field is.",
            )
        if self.intent and self.kind in ("label", "add"):
            _id_of(self.intent, ids)
            raise InvalidInput(
                f"A change of the kind {self.kind} takes no `intent`.",
                "Name all intents that the text is to have in `intents`.",
            )
        return Repair(
            _KINDS[self.kind],
            (self.text_id,) if self.text_id else (),
            tuple(_id_of(name, ids) for name in self.intents),
            _id_of(self.intent, ids) if "intent" in _NEEDED[self.kind] else "",
            self._value(ids),
        )

    def _value(self, ids: Mapping[str, str]) -> str:
        if self.kind == "add":
            return self.text
        return _id_of(self.to, ids) if self.kind == "merge" else self.to


class AgentProposal(AgentChange):
    """A change, and why an agent proposes it."""

    why: str = Field(
        min_length=1, max_length=500, description="the reason that a person reads, in a sentence"
    )


def as_change(repair: Repair, names: Mapping[str, str]) -> dict[str, Any] | None:
    """Write a studio's change as tools take it; None for what an agent cannot propose."""
    kinds = {other: kind for kind, other in _KINDS.items()}
    if repair.kind not in kinds or len(repair.ids) > 1:
        return None
    change: dict[str, Any] = {"kind": kinds[repair.kind]}
    if repair.ids:
        change["text_id"] = repair.ids[0]
    if repair.kind in ("relabel", "add"):
        change["intents"] = [names.get(key, key) for key in repair.intents]
    if repair.intent:
        change["intent"] = names.get(repair.intent, repair.intent)
    if repair.value:
        value = names.get(repair.value, repair.value) if repair.kind == "merge" else repair.value
        change["text" if repair.kind == "add" else "to"] = value
    return change


def _id_of(name: str, ids: Mapping[str, str]) -> str:
    if name not in ids:
        hint = did_you_mean(name, ids, "The tool `overview` lists the intents.")
        raise NotFound(f"There is no intent '{name[:80]}'.", hint)
    return ids[name]
