"""Whether a bundle's facts are of the kinds that a training writes: pages compute with them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_LARGEST = 10**9
"""Beyond any figure; a number of hundreds of digits cannot be computed with."""
_TABLES = ("metrics", "pins", "recipe")
_WORDS = ("dataset_sha256", "dataset_version", "model_version")
_COUNTS = ("n_exemplars", "n_read", "n_unlabelled")
_FIGURES = ("accuracy", "answered_right", "micro_f1", "n", "noise")
_UNSURE = (
    *("expected_calibration_error", "intents", "kept_out", "left_out", "none_recall"),
    "tested_intents",
)
"""Figures that may be None."""
_OF_AN_INTENT = ("f1", "precision", "recall", "support")


def odd_fact(facts: Mapping[str, Any]) -> str:
    """Return the name of a fact that is of another kind; "" where all are sound.

    One that is missing is sound: earlier releases wrote fewer.
    """
    return next(_odd_facts(facts), "")


def _odd_facts(facts: Mapping[str, Any]) -> Iterator[str]:
    tables = [facts.get(name, {}) for name in _TABLES]
    yield from (n for n, one in zip(_TABLES, tables, strict=True) if not isinstance(one, dict))
    metrics, pins, recipe = tables
    yield from _odd(facts, _WORDS, _is_text_or_none)
    yield from _odd(facts, _COUNTS, _is_whole)
    yield from _odd(recipe, ("kind",), _is_text_or_none)
    yield from _odd(recipe, ("contexts", "seed"), lambda one: one is None or _is_whole(one))
    yield from _odd(metrics, _FIGURES, _is_figure)
    yield from _odd(metrics, _UNSURE, lambda one: one is None or _is_figure(one))
    yield from _odd(metrics, ("per_intent",), _are_intents)
    yield from _odd(pins, ("broken",), _are_pins)
    if metrics.get("task") == "multi-label" and metrics.keys() & {"accuracy", "answered_right"}:
        yield from (name for name in ("accuracy", "micro_f1") if name not in metrics)


def _odd(
    table: Mapping[str, Any], names: tuple[str, ...], fits: Callable[[Any], bool]
) -> Iterator[str]:
    return (name for name in names if name in table and not fits(table[name]))


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


def _are_intents(rows: Any) -> bool:
    return rows is None or (
        isinstance(rows, list)
        and all(
            isinstance(row, dict)
            and isinstance(row.get("intent"), str)
            and all(_is_figure(row.get(name)) for name in _OF_AN_INTENT)
            for row in rows
        )
    )


def _are_pins(rows: Any) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict)
        and isinstance(row.get("text"), str)
        and isinstance(row.get("answer"), list)
        and all(isinstance(name, str) for name in row["answer"])
        for row in rows
    )
