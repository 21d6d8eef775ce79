"""Embeddings of a project's texts: read from the cache, or computed and cached."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from app.services.cache import of_encoder
from app.services.studio import Studio
from core.encoders.base import Encoder
from core.errors import DatabaseBusy, InvalidInput
from core.text import text_hash
from core.types import EncodingPrecision, FloatArray
from storage import jobs, projects
from storage.computed import vectors
from storage.database import Database
from storage.queries import columns as points
from storage.queries.columns import PointColumns
from storage.records import ProjectRecord

if TYPE_CHECKING:
    from core.pipeline import Answerer

AT_ONCE = 500
"""Number of texts that a page may wait for; more are embedded by a job."""

_CHUNK = 4_096
_BYTES_A_POINT = 400
_BYTES_OF_COPY = 72 << 20
"""Of a quick copy: 22 MB of weights, and the tables of an encoder that may be used no more."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """A project's utterances at one revision; `digest` identifies their ids and texts."""

    revision: int
    columns: PointColumns
    digest: str


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Utterances with their embeddings by one encoder, (n, dim) float32, both by rising id.

    `digest` identifies ids, texts and encoder.
    """

    ids: tuple[str, ...]
    embeddings: FloatArray
    digest: str


def encoder_of_maps(studio: Studio, encoder: Encoder, device: str = "cpu") -> Encoder:
    """Return what encodes the texts of maps and groups: the encoder, or a quick copy if so set.

    The figures of a version and examples that vote are never encoded by a copy. `device` is that of
    the encoder: on a graphics card it stays as it is.
    """
    precision = studio.settings.map_precision
    if precision == "float32":
        return encoder
    from core.encoders.quick.copies import quick_copy  # imports torch

    key = ("quick copy", encoder.fingerprint, precision, device)
    return studio.cache.get(key, lambda: quick_copy(encoder, precision), lambda _: _BYTES_OF_COPY)


def precision_of_maps(studio: Studio, encoder: Encoder, exact: Encoder) -> EncodingPrecision:
    """Return the number format of an encoder that `encoder_of_maps` made of an exact one."""
    from core.encoders.quick.copies import encoding_of  # imports torch

    return encoding_of(encoder, exact, studio.settings.map_precision)


def read_points(studio: Studio, project: ProjectRecord) -> Points:
    """Read a project's utterances, once for each revision."""

    def read() -> Points:
        with studio.database.read() as connection:
            revision = projects.get(connection, project.id).head_revision
            columns = points.columns(connection, project.id)
        return Points(revision, columns, digest_of(columns.ids + columns.hashes))

    return studio.cache.get_newest(
        ("points", project.id),
        project.head_revision,
        read,
        lambda made: _BYTES_A_POINT * len(made.columns.ids),
    )


def read_embedded(
    studio: Studio,
    project: ProjectRecord,
    encoder: Encoder,
    told: Callable[[int, int], None] | None = None,
) -> Embedded:
    """Read the cached embeddings of a project's texts, and encode texts without one.

    `told` is called with the numbers of encoded texts and of texts to encode. With it, all texts
    are encoded; without it, at most `AT_ONCE`, and if more are missing, none.
    """
    utterances = read_points(studio, project)
    with studio.database.read() as connection:
        ended = jobs.count_ended(connection)  # jobs add embeddings without a new revision
    series = ("embedded", of_encoder(project, encoder.fingerprint))
    moment = (utterances.digest, ended)

    def read() -> Embedded:
        with studio.database.read() as connection:
            ids, rows = vectors.of_project(connection, project.id, encoder.fingerprint, encoder.dim)
        words = [encoder.fingerprint, utterances.digest, digest_of(ids)]
        return Embedded(tuple(ids), rows, digest_of(words))

    embedded = studio.cache.get_newest(series, moment, read, _size)
    lacking = len(utterances.columns.ids) - len(embedded.ids)
    if lacking == 0 or (told is None and lacking > AT_ONCE):
        return embedded
    missing = missing_texts(studio.database, project.id, utterances, embedded)
    fill(studio.database, encoder, missing, told)
    studio.cache.forget((*series, moment))
    return studio.cache.get_newest(series, moment, read, _size)


def missing_texts(
    database: Database, project_id: int, utterances: Points, embedded: Embedded
) -> dict[str, str]:
    """Return the texts without embeddings, by text hash."""
    known = set(embedded.ids)
    with database.read() as connection:
        lacking = [key for key in utterances.columns.ids if key not in known]
        texts = points.texts(connection, project_id, lacking)
    return {text_hash(text): text for text in texts.values()}


def unknown_texts(database: Database, encoder: Encoder, texts: Iterable[str]) -> dict[str, str]:
    """Return which of some texts have no cached embedding, by text hash."""
    by_hash = {text_hash(text): text for text in texts}
    with database.read() as connection:
        known = vectors.get_many(connection, encoder.fingerprint, list(by_hash), encoder.dim)
    return {key: text for key, text in by_hash.items() if key not in known}


def fill(
    database: Database,
    encoder: Encoder,
    texts: Mapping[str, str],
    told: Callable[[int, int], None] | None = None,
) -> None:
    """Encode texts given by hash and store them in parts, so that a kill loses one part only.

    Raises:
        DatabaseBusy: The database was busy when a part was encoded, and, where somebody is `told`,
            again at the end. A page waits once.
    """
    left: dict[str, FloatArray] = {}
    for part in _encoded(encoder, texts, told):
        try:
            _store(database, encoder, part)
        except DatabaseBusy:
            if told is None:
                raise
            left |= part
    if left:
        _store(database, encoder, left)


def embed_texts(
    database: Database,
    encoder: Encoder,
    texts: Sequence[str],
    told: Callable[[int, int], None] | None = None,
) -> FloatArray:
    """Embed texts in order and cache the embeddings; (n, dim) float32.

    `told` is called with the numbers of encoded texts and of texts to encode.
    """
    return embed_known(database, encoder, texts, len(texts), told)[1]


def rows_for(database: Database, model: "Answerer", texts: Sequence[str]) -> FloatArray | None:
    """Embed the texts that a model is asked, as `embed_texts`; None where it does so itself."""
    return None if model.encoder is None else embed_texts(database, model.encoder, texts)


def embed_known(
    database: Database,
    encoder: Encoder,
    texts: Sequence[str],
    most_new: int,
    told: Callable[[int, int], None] | None = None,
) -> tuple[list[int], FloatArray]:
    """Embed texts; of those without a cached embedding, only the first `most_new`.

    After one wait for a busy database nothing more is cached: each part would wait anew.

    Returns:
        Rows of the texts with an embedding, rising, and the embeddings, (rows, dim) float32.
    """
    hashes = [text_hash(text) for text in texts]

    def look_up() -> dict[str, FloatArray]:
        with database.read() as connection:
            return vectors.get_many(connection, encoder.fingerprint, hashes, encoder.dim)

    known = look_up()
    missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
    if missing:
        new = dict(list(missing.items())[:most_new])
        left = _cached(database, encoder, _encoded(encoder, new, told))
        known = look_up() | left
    rows = [row for row, key in enumerate(hashes) if key in known]
    if not rows:
        return [], np.zeros((0, encoder.dim), np.float32)
    return rows, np.stack([known[hashes[row]] for row in rows])


def resolve_device(asked: str) -> str:
    """Return the device; `auto` is a GPU if there is one, else the CPU.

    Raises:
        InvalidInput: There is no such device.
    """
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if asked == "auto":
        return "cuda" if gpus else "cpu"
    known = {"cpu", *(["cuda"] if gpus else []), *(f"cuda:{n}" for n in range(gpus))}
    if asked not in known:
        there = "has no GPU that can be used" if not gpus else f"has {', '.join(sorted(known))}"
        raise InvalidInput(
            f"The device '{asked[:40]}' is asked for, but this computer {there}.",
            "Set STUDIO_DEVICE to auto or cpu, and start the studio again.",
        )
    return asked


def digest_of(words: Sequence[str]) -> str:
    """Return 16 hexadecimal digits of a SHA-256 of words in order."""
    return sha256("\n".join(words).encode()).hexdigest()[:16]


def _encoded(
    encoder: Encoder, texts: Mapping[str, str], told: Callable[[int, int], None] | None
) -> Iterator[dict[str, FloatArray]]:
    """Encode texts given by hash, part by part."""
    hashes = list(texts)
    for start in range(0, len(hashes), _CHUNK):
        part = hashes[start : start + _CHUNK]
        rows = encoder.encode([texts[key] for key in part], _shifted(told, start, len(hashes)))
        yield dict(zip(part, rows, strict=True))


def _cached(
    database: Database, encoder: Encoder, parts: Iterable[dict[str, FloatArray]]
) -> dict[str, FloatArray]:
    """Store embeddings until the database is busy once; return those that are not stored."""
    left: dict[str, FloatArray] = {}
    for part in parts:
        if not left:
            with suppress(DatabaseBusy):
                _store(database, encoder, part)
                continue
        left |= part
    return left


def _store(database: Database, encoder: Encoder, rows: Mapping[str, FloatArray]) -> None:
    with database.write() as connection:
        vectors.put_many(connection, encoder.fingerprint, rows)


def _shifted(
    told: Callable[[int, int], None] | None, start: int, total: int
) -> Callable[[int, int], None] | None:
    return None if told is None else lambda done, _: told(start + done, total)


def _size(embedded: Embedded) -> int:
    return int(embedded.embeddings.nbytes) + 80 * len(embedded.ids)
