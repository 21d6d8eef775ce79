"""A studio as programs use it: `Studio(address, token)`."""

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from intent_studio_client.answers import (
    Answer,
    Finding,
    Imported,
    Intent,
    Job,
    Labels,
    Pin,
    Project,
    Proposal,
    Received,
    Status,
)
from intent_studio_client.connection import Connection, Request, StudioFault
from intent_studio_client.reading import read, read_list

Task = Literal["single-label", "multi-label"]
Split = Literal["train", "test", "pool"]

_OF_ANSWERS = (
    *("text", "sentence", "decision", "ranked", "neighbours"),
    *("model_version", "dataset_version", "label_revision"),
)
_MOST_ANSWERED, _MOST_ADDED = 1_000, 20_000
_POLL_SECONDS = 0.5
_RESTART_SECONDS = 60.0
"""For so long `wait` bears a studio that does not answer: a training outlives its restart."""
_RESTARTS = (0, 502, 503, 504)
"""No answer, or that of a proxy before a studio that is not there."""
_API = "/api/v1"


@dataclass(frozen=True)
class NewText:
    """A text to add; `intents` are names, and those that are not there are created."""

    text: str
    intents: Labels = None
    split: Split | None = None


@dataclass(frozen=True)
class SaidText:
    """A text from production; `time` is ISO 8601, UTC without an offset.

    With the same `key` it is stored once.
    """

    text: str
    time: str
    source: str
    key: str = ""


@dataclass(frozen=True)
class Change:
    """A change to propose, and why; `repair` is that of a remedy, or one that you write.

    For example `{"kind": "relabel", "ids": [text_id], "intents": [intent_id]}`.
    """

    repair: dict[str, Any]
    why: str


@dataclass(frozen=True)
class Studio:
    """A running studio; its methods raise `StudioFault` where it refuses.

    Attributes:
        address: Such as `http://127.0.0.1:7860`.
        token: What stands behind `token=` in the address that the studio prints.
        timeout: Seconds without a byte after which a request has failed.
        patience: Seconds for which a request is sent again while the studio is busy.
    """

    address: str
    token: str = field(repr=False)
    timeout: float = 60.0
    patience: float = 0.0

    def projects(self) -> list[Project]:
        """List the projects."""
        return read_list(Project, self._ask("GET", "/projects"))

    def create_project(self, name: str, task: Task = "single-label") -> None:
        """Create an empty project."""
        self._ask("POST", "/projects", body={"name": name, "task": task})

    def status(self, project: str) -> Status:
        """Tell a project's state."""
        return read(Status, self._ask("GET", "/projects/{project}/status", project=project))

    def intents(self, project: str) -> list[Intent]:
        """List the intents of a project, archived ones, too."""
        found = self._ask("GET", "/projects/{project}/overview", project=project)
        return read_list(Intent, found["intents"])

    def add_texts(
        self, project: str, texts: Iterable[NewText | str], key: str = ""
    ) -> list[Imported]:
        """Add texts, labelled or not; up to 20,000 are all or nothing.

        With the same key and the same texts they are added once; there is one report for each
        20,000.
        """
        rows = [asdict(NewText(one) if isinstance(one, str) else one) for one in texts]
        chosen = key or uuid.uuid4().hex
        return [
            read(
                Imported,
                self._ask(
                    "POST",
                    "/projects/{project}/texts",
                    project=project,
                    body={"texts": part},
                    key=f"{chosen}-{number}",
                ),
            )
            for number, part in enumerate(_parts(rows, _MOST_ADDED))
        ]

    def predict(
        self,
        project: str,
        texts: Sequence[str],
        model: Literal["live", "champion"] | int = "live",
        top_k: int | None = None,
    ) -> list[Answer]:
        """Answer texts by the live model, the champion as trained, or a version by its number.

        `top_k` limits the ranked intents.
        """
        how = {"model": model, "fields": _OF_ANSWERS, **({} if top_k is None else {"top_k": top_k})}
        path, answers = "/projects/{project}/predict", list[Answer]()
        for part in _parts(texts, _MOST_ANSWERED):
            body = {"texts": part, **how}
            answers += read_list(Answer, self._ask("POST", path, project=project, body=body))
        return answers

    def findings(self, project: str, kind: str = "", limit: int = 100) -> list[Finding]:
        """List what looks wrong in the data, the most harmful first."""
        query: dict[str, str | int] = {"limit": limit, **({"kind": kind} if kind else {})}
        found = self._ask("GET", "/projects/{project}/review", project=project, query=query)
        return read_list(Finding, found["findings"])

    def propose(self, project: str, by: str, changes: Sequence[Change]) -> list[Proposal]:
        """Propose changes under a name; each waits in Review until a person decides about it."""
        body = {"by": by, "proposals": [asdict(one) for one in changes]}
        path = "/projects/{project}/proposals"
        return read_list(Proposal, self._ask("POST", path, project=project, body=body))

    def proposals(self, project: str) -> list[Proposal]:
        """List what was proposed, the oldest first, and what became of it."""
        path = "/projects/{project}/proposals"
        return read_list(Proposal, self._ask("GET", path, project=project))

    def pins(self, project: str) -> list[Pin]:
        """List the pins, and whether the live model keeps them."""
        return read_list(Pin, self._ask("GET", "/projects/{project}/pins", project=project))

    def pin(self, project: str, text: str, intents: Sequence[str] | None) -> None:
        """Promise an answer, by names of intents, none for out of scope; None removes the pin."""
        keys = None if intents is None else [self._intent_id(project, name) for name in intents]
        body = {"text": text, "intents": keys}
        self._ask("POST", "/projects/{project}/pins", project=project, body=body)

    def train(
        self,
        project: str,
        recipe: str = "convfit",
        settings: dict[str, object] | None = None,
        *,
        gate: bool | None = None,
        key: str = "",
    ) -> Job:
        """Queue a training; with the same key one is queued, however often it is asked for.

        It starts from what the training of the version in use started from.
        `gate` is whether a version that passes the gate is used at once; None: as the project says,
        and a first one at once.
        """
        body = {"recipe": recipe, "settings": settings or {}, "gate": gate}
        chosen = key or uuid.uuid4().hex
        path = "/projects/{project}/train"
        started = self._ask("POST", path, project=project, body=body, key=chosen)
        return self.job(started["job"])

    def job(self, job: str) -> Job:
        """Tell how far a training is."""
        return read(Job, self._ask("GET", "/jobs/{job_id}", job_id=job))

    def wait(
        self, job: Job, seconds: float = 3_600.0, each: Callable[[Job], None] | None = None
    ) -> Job:
        """Wait until a training has ended, and return it; `each` gets it twice a second.

        Raises:
            StudioFault: It failed or was cancelled, or the time is over.
        """
        until = time.monotonic() + seconds
        while not job.ended:
            if each is not None:
                each(job)
            if time.monotonic() > until:
                raise StudioFault(f"The training {job.id} still runs.", "Wait longer.")
            time.sleep(_POLL_SECONDS)
            job = self._job_after_restart(job.id, min(until, time.monotonic() + _RESTART_SECONDS))
        if job.state != "succeeded":
            raise StudioFault(job.message or f"The training was {job.state}.", job.hint)
        return job

    def _job_after_restart(self, key: str, until: float) -> Job:
        """Tell how far a training is; ask again until then while the studio is not there."""
        while True:
            try:
                return self.job(key)
            except StudioFault as fault:
                if fault.status not in _RESTARTS or time.monotonic() > until:
                    raise
            time.sleep(_POLL_SECONDS)

    def promote(self, project: str, number: int) -> None:
        """Use a version from now on."""
        path = "/projects/{project}/models/{number}/promote"
        self._ask("POST", path, project=project, number=number)

    def export_bundle(
        self, project: str, out: Path, number: int | None = None, *, without_texts: bool = False
    ) -> None:
        """Write a version as one verified zip; without a number, the one that answers."""
        version = self.status(project).champion if number is None else number
        if version is None:
            raise StudioFault(f"The project '{project}' has no model.", "Train one first.")
        query = {"without_texts": "true"} if without_texts else None
        path = f"{_API}/projects/{{project}}/models/{{number}}/bundle"
        places: dict[str, str | int] = {"project": project, "number": version}
        self._connection.save(Request("GET", path, places, query), out)

    def send_traffic(
        self, project: str, texts: Iterable[SaidText], *, mask: bool = True
    ) -> list[Received]:
        """Send what users said; personal data is masked before it is stored, if `mask`.

        There is one report for each 20,000 texts.
        """
        path = "/projects/{project}/traffic"
        rows = [asdict(one) for one in texts]
        return [
            read(
                Received,
                self._ask("POST", path, project=project, body={"texts": part, "mask": mask}),
            )
            for part in _parts(rows, _MOST_ADDED)
        ]

    def _intent_id(self, project: str, name: str) -> str:
        for one in self.intents(project):
            if one.name == name:
                return one.id
        raise StudioFault(f"There is no intent '{name}'.", "`intents` lists them.")

    @property
    def _connection(self) -> Connection:
        return Connection(self.address, self.token, self.timeout, self.patience)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str | int] | None = None,
        body: dict[str, Any] | None = None,
        key: str = "",
        **places: str | int,
    ) -> Any:
        return self._connection.ask(Request(method, _API + path, places, query, body, key))


def _parts(rows: Sequence[Any], most: int) -> Iterable[list[Any]]:
    return (list(rows[start : start + most]) for start in range(0, len(rows), most))
