"""Requests that may be repeated: the header `Idempotency-Key` gets the first answer again."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated, Any, BinaryIO, TypeVar, cast

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from app.api.http.server_state import OpenStudio
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput, NotFound
from storage import projects
from storage.database import Transaction
from storage.people import request_keys
from storage.people.request_keys import AnsweredRequest, Keep, keep_nothing

_Made = TypeVar("_Made")
_Answer = TypeVar("_Answer")
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class RunningKeys:
    """Keys of the requests that are being answered; only one server has a home open."""

    keys: set[str] = field(default_factory=set)
    guard: Lock = field(default_factory=Lock)

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Hold a key while its request is answered; Conflict where another one holds it."""
        with self.guard:
            if key in self.keys:
                raise Conflict(
                    f"The request with the key '{key[:40]}' is being answered.",
                    "Send it again in some seconds.",
                )
            self.keys.add(key)
        try:
            yield
        finally:
            with self.guard:
                self.keys.discard(key)


@dataclass(frozen=True, slots=True)
class Repeats:
    """The key of a request, and how its first answer is found; without a key nothing is kept."""

    studio: Studio
    running: RunningKeys
    key: str
    path: str
    project: str
    status: int

    def answer(
        self, content: BaseModel | BinaryIO, act: Callable[[Keep[_Answer]], _Answer]
    ) -> _Answer:
        """Return the first answer to this key and content, or else what `act` makes."""
        return self.answer_as(content, act, lambda made: made)

    def answer_as(
        self,
        content: BaseModel | BinaryIO,
        act: Callable[[Keep[_Made]], _Made],
        shown: Callable[[_Made], _Answer],
    ) -> _Answer:
        """Return the first answer to this key and content, or else what `act` makes, as shown.

        `act` gets a function, and calls it with what it made in the transaction that stores that:
        so a request is done and its answer kept, or neither. An error is not kept.

        Raises:
            Conflict: The key belongs to other content, or its request is being answered.
            InvalidInput: The content is nested more deeply than can be written.
        """
        if not self.key:
            return shown(act(keep_nothing))
        sent = _digest(content)
        with self.running.alone(self.key):
            with self.studio.database.read() as connection:
                first = request_keys.find(connection, self.key, self._of(connection, sent))
            if first is not None:
                headers = {"Idempotent-Replayed": "true"}
                kind = "application/json"
                again = Response(first.answer, first.status, headers, media_type=kind)
                return cast("_Answer", again)  # FastAPI sends a response as it is

            def keep(connection: Transaction, made: _Made) -> None:
                answer = to_json(shown(made)).decode()
                digest = self._of(connection, sent)
                answered = AnsweredRequest(self.key, digest, self.status, answer)
                request_keys.keep(connection, answered)

            return shown(act(keep))

    def _of(self, connection: Transaction, sent: bytes) -> str:
        """Digest what was sent with its path, and with the project that has its name now."""
        try:
            number = projects.find(connection, self.project).id if self.project else 0
        except NotFound:
            number = 0  # such as before a bundle makes it
        return hashlib.sha256(f"{self.path}\n{number}\n".encode() + sent).hexdigest()


def _digest(content: BaseModel | BinaryIO) -> bytes:
    """Digest a body as it was read, or a file: forms have another boundary each time."""
    if isinstance(content, BaseModel):
        try:
            return hashlib.sha256(content.model_dump_json().encode()).digest()
        except PydanticSerializationError as error:
            raise InvalidInput(
                "The request's body is nested too deeply.", "See /api/schema."
            ) from error
    found = hashlib.sha256()
    while piece := content.read(_PIECE):
        found.update(piece)
    content.seek(0)
    return found.digest()


async def _repeats(
    studio: OpenStudio,
    request: Request,
    idempotency_key: Annotated[
        str,
        Header(
            alias="Idempotency-Key",
            max_length=255,
            description="Chosen by the sender. For 24 hours, the same key with the same content "
            "gets the first answer, and with other content 409.",
        ),
    ] = "",
) -> Repeats:
    route: Any = request.scope["route"]
    path = f"{request.method} {request.url.path}"
    project, status = request.path_params.get("project", ""), route.status_code or 200
    return Repeats(studio, request.app.state.running_keys, idempotency_key, path, project, status)


Once = Annotated[Repeats, Depends(_repeats)]
"""Route argument: does a request once for each key."""
