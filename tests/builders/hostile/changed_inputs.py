"""Hostile versions of valid files: bytes and JSON values changed at random, the same each time."""

import json
import os
import signal
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

_SEED = int(os.environ.get("FUZZ_SEED", "18"))
_DEEP = b"[" * 100_000
_LONGEST_SECONDS = 60.0

JUNK: tuple[Any, ...] = (
    *(None, True, -1, 0, 0.5, 10**30, -(10**18), 1e308, float("nan"), float("inf")),
    *("", "\ud800", "\0", "\u202e", "x" * 5_000, "../..", "=1+1", "<script>"),
    *([], [1], {}, {"a": 1}, [[[[]]]]),
)
"""Values of other kinds than any reader expects."""


def fuzz(n_cases: int, inputs: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Check that many inputs; the same ones each time, others with another FUZZ_SEED."""

    @seed(_SEED)
    @settings(
        max_examples=n_cases,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def run(case: Any) -> None:
        with _in_time():
            check(case)

    run()


@contextmanager
def _in_time() -> Iterator[None]:
    """Fail instead of hanging; no input takes a second, however busy the machine is."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"not done in {_LONGEST_SECONDS:.0f} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _LONGEST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_PIECES = st.binary(min_size=1, max_size=12) | st.sampled_from(
    [
        *(b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000"),
        *(b'"', b"\n", b"\r", b",", b"\t", b"[", b"]{", b"}", b"(", b"- ", b"## ", b'"\\ud800"'),
        *(b"text", b"intent", b"9" * 400, b"a" * 6_000, b"[x](y)" * 2_000, b"("),
    ]
)


def changed_bytes(content: bytes) -> st.SearchStrategy[bytes]:
    """Cut, put in and replace bytes at up to six places."""
    edit = st.tuples(st.integers(0, len(content)), st.integers(0, 12), _PIECES | st.just(b""))
    return st.lists(edit, min_size=1, max_size=6).map(lambda edits: _edited(content, edits))


def _edited(content: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, cut, piece in sorted(edits, reverse=True):
        content = content[:at] + piece + content[at + cut :]
    return content


def changed_json(content: bytes) -> st.SearchStrategy[bytes]:
    """Put a value of another kind at any place of a JSON document, or leave the place out."""
    value = json.loads(content)
    places = [place for place in _places(value) if len(place) <= 4][:400]
    change = st.tuples(st.sampled_from(places), st.sampled_from(JUNK), st.booleans())
    return st.just(_DEEP) | change.map(lambda change: _put(value, *change))


def changed_lines(content: bytes) -> st.SearchStrategy[bytes]:
    """Change one line of JSONL as `changed_json` does."""
    lines = content.rstrip(b"\n").split(b"\n")
    at = st.integers(0, min(len(lines), 40) - 1)

    def with_line(place: int) -> st.SearchStrategy[bytes]:
        return changed_json(lines[place]).map(
            lambda line: b"\n".join([*lines[:place], line, *lines[place + 1 :], b""])
        )

    return at.flatmap(with_line)


def changed_text(content: bytes) -> st.SearchStrategy[bytes]:
    """Change lines of JSON by their values and bytes, everything else by its bytes."""
    if content.startswith(b"{"):
        return changed_lines(content) | changed_bytes(content)
    return changed_bytes(content)


def changed_member(archive: bytes) -> st.SearchStrategy[bytes]:
    """Change bytes of a zip, or of one file in it so that the zip is whole again."""
    with zipfile.ZipFile(BytesIO(archive)) as read:
        files = {name: read.read(name) for name in read.namelist()}

    def with_file(name: str) -> st.SearchStrategy[bytes]:
        return changed_bytes(files[name]).map(lambda content: _zipped({**files, name: content}))

    return changed_bytes(archive) | st.sampled_from(sorted(files)).flatmap(with_file)


def _zipped(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield before
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, part in inner:
        yield from _places(part, (*before, key))


def _put(value: Any, place: tuple[Any, ...], junk: Any, left_out: bool) -> bytes:  # noqa: FBT001
    if not place:
        return json.dumps(junk).encode()
    whole = json.loads(json.dumps(value))
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    if left_out:
        del inner[place[-1]]
    else:
        inner[place[-1]] = junk
    return json.dumps(whole).encode()
