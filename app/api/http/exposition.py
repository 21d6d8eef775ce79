"""Measures as the text that Prometheus reads, format version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.api.http.requests import BOUNDS, RequestCounts
from app.services.live.traffic import Traffic
from app.services.measures import StudioMeasures

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Sample:
    """One value; `end` is what follows the measure's name, such as `_bucket`."""

    value: float
    labels: Mapping[str, object]
    end: str = ""


def exposition(counts: RequestCounts, traffic: Traffic, now: StudioMeasures) -> str:
    """Write all measures of a server."""
    parts = [
        _measure("requests_total", "counter", "Requests answered.", _requests(counts)),
        _measure("request_seconds", "histogram", "Seconds to an answer.", _seconds(counts)),
        _measure("jobs", "gauge", "Jobs by state.", _jobs(now)),
        _one("texts_answered_total", "counter", "Texts answered.", traffic.answered),
        _one("texts_outside_total", "counter", "Texts answered with no intent.", traffic.outside),
        _one("outside_share", "gauge", "Share of these among texts answered.", _share(traffic)),
        _one("database_bytes", "gauge", "Size of the database.", now.database_bytes),
        _one("wal_bytes", "gauge", "Size of its write-ahead log.", now.wal_bytes),
        _one("cache_bytes", "gauge", "Values kept in memory.", now.cache_bytes),
        _one("resident_bytes", "gauge", "Memory of the server.", now.resident_bytes),
        _one("open_files", "gauge", "Files and sockets it holds.", now.open_files),
        _one("threads", "gauge", "Threads of the server.", now.threads),
    ]
    return "".join(line + "\n" for part in parts for line in part)


def _requests(counts: RequestCounts) -> Iterator[Sample]:
    for (method, route, status), n in sorted(counts.by_status.items()):
        yield Sample(n, {"method": method, "route": route, "status": status})


def _seconds(counts: RequestCounts) -> Iterator[Sample]:
    """Yield each route's cumulative buckets, sum and count."""
    for route, seconds in sorted(counts.seconds.items()):
        total = 0
        for bucket, end in enumerate((*BOUNDS, "+Inf")):
            total += counts.by_bucket[route, bucket]
            yield Sample(total, {"route": route, "le": end}, "_bucket")
        yield Sample(seconds, {"route": route}, "_sum")
        yield Sample(total, {"route": route}, "_count")


def _jobs(now: StudioMeasures) -> Iterator[Sample]:
    for state, n in now.jobs.items():
        yield Sample(n, {"state": state})


def _share(traffic: Traffic) -> float | None:
    return traffic.outside / traffic.answered if traffic.answered else None


def _one(name: str, kind: str, words: str, value: float | None) -> Iterator[str]:
    return _measure(name, kind, words, [] if value is None else [Sample(value, {})])


def _measure(name: str, kind: str, words: str, samples: Iterable[Sample]) -> Iterator[str]:
    name = f"intent_studio_{name}"
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for sample in samples:
        labels = ",".join(f'{key}="{_quoted(value)}"' for key, value in sample.labels.items())
        yield f"{name}{sample.end}{{{labels}}} {sample.value:.17g}".replace("{} ", " ")


def _quoted(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
