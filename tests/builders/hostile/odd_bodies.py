"""Values made from a schema of REST: small ones that fit it, and such with one odd field."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Part = Mapping[str, Any]
_FORMATS = {"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z"}


@dataclass(frozen=True, slots=True)
class Shapes:
    """The parts of a schema that have names."""

    named: Mapping[str, Part]

    def usual(self, part: Part) -> Any:
        """Return a value that fits, as small as it may be."""
        part = self._first(part)
        if "const" in part or "enum" in part:
            return part.get("const", (part.get("enum") or [None])[0])
        match part.get("type"):
            case "object":
                fields = part.get("properties", {})
                found = {name: self.usual(fields[name]) for name in part.get("required", ())}
                if part.get("minProperties") and not found:
                    return {"a": self.usual(self._values(part) or {})}
                return found
            case "array":
                return [self.usual(part.get("items", {}))] * part.get("minItems", 0)
            case "string":
                return _FORMATS.get(part.get("format", ""), "a" * max(1, part.get("minLength", 1)))
            case "integer" | "number":
                return part.get("minimum", 1)
        return False if part.get("type") == "boolean" else None

    def odd(self, part: Part, value: object) -> Iterator[Any]:
        """Yield values that fit but for one place, at which the odd value stands; each place once.

        A key that the schema leaves open is a place, too.
        """
        if "$ref" in part:
            yield from self.odd(self._named(part), value)
        elif choices := part.get("anyOf") or part.get("oneOf"):
            for choice in choices:
                yield from self.odd(choice, value)
        elif part.get("type") == "object":
            yield from self._odd_object(part, value)
        elif part.get("type") == "array":
            yield from ([one] for one in self.odd(part.get("items", {}), value))
        elif part.get("type") not in ("boolean", "null"):
            yield value

    def _odd_object(self, part: Part, value: object) -> Iterator[Any]:
        usual, values = self.usual(part), self._values(part)
        for name, field in part.get("properties", {}).items():
            yield from ({**usual, name: one} for one in self.odd(field, value))
        if values is not None:
            yield from ({"a": one} for one in self.odd(values, value))
            yield {str(value): self.usual(values)}

    def odd_queries(self, parameters: Sequence[Part], value: object) -> Iterator[dict[str, Any]]:
        """Yield queries with one odd value; each parameter once."""
        asked = [one for one in parameters if one["in"] == "query"]
        usual = {one["name"]: self.usual(one["schema"]) for one in asked if one.get("required")}
        for parameter in asked:
            for one in self.odd(parameter["schema"], value):
                yield {**usual, parameter["name"]: one}

    def _named(self, part: Part) -> Part:
        return self.named[part["$ref"].rpartition("/")[2]]

    def _first(self, part: Part) -> Part:
        while True:
            choices = part.get("anyOf") or part.get("oneOf")
            if "$ref" not in part and not choices:
                return part
            part = self._named(part) if "$ref" in part else choices[0]

    def _values(self, part: Part) -> Part | None:
        """Return the shape of an object's values where its keys are open."""
        values = part.get("additionalProperties")
        if not values:  # absent, or false
            return None
        return values if isinstance(values, Mapping) else {}
