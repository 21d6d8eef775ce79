"""The routes of semantic-router, in JSON or YAML: a name, and what people say.

Facts: aurelio-labs/semantic-router `route.py` and `RouterConfig.to_file`.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from core.errors import InvalidInput
from core.formats.tools.json_items import json_document, not_utf8
from core.formats.tools.tool import Record, Rows, ToolReading, fault, listed, name_of, place_in
from core.platforms.packages import Package

_KNOWN = {"name", "utterances"}
_CONFIG = {"routes"}
_DEEPEST = 50


def is_route(value: Any) -> bool:
    """Whether a value is a route."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("utterances"), list)
    )


def is_router(value: Any) -> bool:
    """Whether a document holds routes, in a list or under `routes`."""
    routes = value.get("routes") if isinstance(value, dict) else value
    return isinstance(routes, list) and bool(routes) and is_route(routes[0])


def read_routes(reading: ToolReading, name: str) -> Rows:
    """Read the phrases of all routes.

    Raises:
        InvalidInput: It is neither JSON nor plain YAML, or a route has no name.
    """
    is_json = name.lower().endswith(".json")
    document = (json_document if is_json else yaml_document)(reading.package, name)
    if not is_router(document):
        raise fault(place_in(name, 1), "no list of routes with names and utterances")
    if isinstance(document, dict):
        reading.lose_fields(document, _CONFIG)
        document = document["routes"]
    number = 0
    for at, route in enumerate(document, start=1):
        place = place_in(name, at)
        if not is_route(route):
            raise fault(place, "a route has no name or no list of utterances")
        reading.lose_fields(route, _KNOWN)
        label = name_of(place, route["name"])
        for phrase in listed(place, route, "utterances"):
            number += 1
            if isinstance(phrase, str):
                yield reading.row(place_in(name, number), phrase, (label,))
            else:
                reading.losses.add("utterances that are no text", label)


def yaml_document(package: Package, name: str) -> Any:
    """Return the value of a YAML file whose scalars are all read as text.

    Raises:
        InvalidInput: It is no YAML, has aliases or a key twice, or is nested too deeply.
    """
    try:
        text = package.files[name].decode("utf-8-sig")
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return _value(events, next(_values(events), None), name, 0)
    except UnicodeDecodeError as error:
        raise not_utf8(name, error) from error
    except yaml.YAMLError as error:
        raise InvalidInput(
            f"{name}: no YAML ({' '.join(str(error).split())[:200]}).", ""
        ) from error


def _values(events: Iterator[Any]) -> Iterator[Any]:
    """Skip what stands around the values of a document."""
    around = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
    return (event for event in events if not isinstance(event, around))


def _value(events: Iterator[Any], event: Any, name: str, depth: int) -> Any:
    place = place_in(name, 1 if event is None else event.start_mark.line + 1)
    if depth > _DEEPEST:
        raise fault(place, "nested too deeply")
    match event:
        case yaml.ScalarEvent():
            return event.value
        case yaml.SequenceStartEvent():
            items = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                items.append(_value(events, event, name, depth + 1))
            return items
        case yaml.MappingStartEvent():
            return _mapping(events, name, depth)
        case yaml.AliasEvent():
            raise fault(place, "an alias, which is not followed")
        case _:
            return None


def _mapping(events: Iterator[Any], name: str, depth: int) -> Record:
    found: Record = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        place = place_in(name, event.start_mark.line + 1)
        key = _value(events, event, name, depth + 1)
        if not isinstance(key, str) or key in found:
            raise fault(place, f"the key {str(key)[:40]!r} is no text or occurs twice")
        found[key] = _value(events, next(events), name, depth + 1)
    return found
