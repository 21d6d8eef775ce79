"""Measures as the text that Prometheus reads, format version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Sample:
    """One value; `end` is what follows the measure's name, such as `_bucket`."""

    value: float
    labels: Mapping[str, object]
    end: str = ""


def one_line(name: str, kind: str, words: str, value: float | None) -> Iterator[str]:
    """Write a measure of one value, or without any."""
    return measure_lines(name, kind, words, [] if value is None else [Sample(value, {})])


def measure_lines(name: str, kind: str, words: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Write a measure with its help and its values."""
    name = f"intent_studio_{name}"
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for sample in samples:
        labels = ",".join(f'{key}="{_quoted(value)}"' for key, value in sample.labels.items())
        yield f"{name}{sample.end}{{{labels}}} {sample.value:.17g}".replace("{} ", " ")


def _quoted(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
