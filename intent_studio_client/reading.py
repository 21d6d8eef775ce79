"""Read frozen values from JSON by their fields; what a newer server adds is left out."""

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from intent_studio_client.connection import StudioFault

_Value = TypeVar("_Value")
_AS_JSON: dict[Any, Any] = {tuple: list, float: (int, float)}


def read(kind: type[_Value], value: object) -> _Value:
    """Return a value of a dataclass from a JSON object.

    Raises:
        StudioFault: A field is missing, or is of another kind.
    """
    found: _Value = _read(kind, value, kind.__name__)
    return found


def read_list(kind: type[_Value], value: object) -> list[_Value]:
    """Return the values of a JSON list; raises `StudioFault` as `read` does."""
    found: tuple[_Value, ...] = _read(tuple[kind, ...], value, kind.__name__)  # type: ignore[valid-type]
    return list(found)


def _read(kind: Any, value: Any, place: str) -> Any:
    if isinstance(kind, UnionType):
        if value is None:
            return None
        [kind] = [one for one in get_args(kind) if one is not NoneType]
    wanted = get_origin(kind) or kind
    is_object = is_dataclass(wanted)
    expected: Any = dict if is_object else _AS_JSON.get(wanted, wanted)
    if not isinstance(value, expected):
        raise _odd(f"{place} is {type(value).__name__}")
    if is_object:
        return wanted(**_fields(kind, value, place))
    if wanted is tuple:
        return tuple(_read(get_args(kind)[0], one, place) for one in value)
    return value


def _fields(kind: Any, value: dict[str, Any], place: str) -> dict[str, Any]:
    found, hints = dict[str, Any](), _hints(kind)
    for one in fields(kind):
        if one.name in value:
            found[one.name] = _read(hints[one.name], value[one.name], f"{place}.{one.name}")
        elif one.default is MISSING:
            raise _odd(f"{place}.{one.name} is missing")
    return found


def _odd(what: str) -> StudioFault:
    return StudioFault(f"The answer is none that this client knows: {what}.", "Is it a studio?")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
