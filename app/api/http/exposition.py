"""Measures of the studio's server as the text that Prometheus reads."""

from collections.abc import Iterator

from app.api.http.requests import BOUNDS, RequestCounts
from app.prometheus import Sample, measure_lines, one_line
from app.services.live.traffic import Traffic
from app.services.measures import StudioMeasures


def exposition(counts: RequestCounts, traffic: Traffic, now: StudioMeasures) -> str:
    """Write all measures of a server."""
    parts = [
        measure_lines("requests_total", "counter", "Requests answered.", _requests(counts)),
        measure_lines("request_seconds", "histogram", "Seconds to an answer.", _seconds(counts)),
        measure_lines("jobs", "gauge", "Jobs by state.", _jobs(now)),
        one_line("texts_answered_total", "counter", "Texts answered.", traffic.answered),
        one_line(
            "texts_outside_total", "counter", "Texts answered with no intent.", traffic.outside
        ),
        one_line("outside_share", "gauge", "Share of these among texts answered.", _share(traffic)),
        one_line("database_bytes", "gauge", "Size of the database.", now.database_bytes),
        one_line("wal_bytes", "gauge", "Size of its write-ahead log.", now.wal_bytes),
        one_line("cache_bytes", "gauge", "Values kept in memory.", now.cache_bytes),
        one_line("resident_bytes", "gauge", "Memory of the server.", now.resident_bytes),
        one_line("open_files", "gauge", "Files and sockets it holds.", now.open_files),
        one_line("threads", "gauge", "Threads of the server.", now.threads),
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
