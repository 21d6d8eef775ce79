"""Twenty people at work in one studio, at a multiple of the speed of people."""

import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from tests.builders.served_studio import Served

_HELD = 20
"""A person takes a label back after as many others, so that the number of labels stays the same."""

_WORDS = ("invoice", "router", "parcel", "tariff", "contract", "refund", "line", "phone", "mail")
_PATIENCE = 150.0
_WARMING = 8
_KEPT_OPEN = 2.0
"""Seconds for which a connection is kept without a request."""


@dataclass
class Day:
    """One day in a studio: what everybody shares.

    Attributes:
        speed: How many times as fast as people these work.
        decisions: Moment and seconds of each decision that was confirmed.
        faults: What went wrong, in words.
        over: Set when everybody is to stop.
        breaks: Set while everybody rests after the act that is under way.
        at_work: Numbers of the people who have begun and are not at rest.
    """

    served: Served
    project: str
    speed: float
    intents: list[str] = field(default_factory=list)
    decisions: list[tuple[float, float]] = field(default_factory=list)
    acts: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    breaks: threading.Event = field(default_factory=threading.Event)
    at_work: set[int] = field(default_factory=set)

    def fill(self, n_texts: int) -> None:
        """Add texts that wait for a label, so that nobody runs out of work."""
        rows = "\n".join(f"{_WORDS[n % 9]} {_WORDS[n // 9 % 9]} case {n}" for n in range(n_texts))
        Person(self, 99, 1).send_file(f"text\n{rows}\n")

    def warm_up(self) -> None:
        """Let eight people do everything once: what is loaded at first is not growth.

        As many threads answer, each with a connection of its own that maps the database.
        """
        person = Person(self, 98, 1)
        for way in (Person.look, Person.bring_in, Person.train_and_map, Person.report):
            way(person)
        ways = (Person.look, Person.label, Person.try_texts, Person.report, Person.look)

        def work(person: Person) -> None:
            for way in ways:
                way(person)

        people = [Person(self, 90 + number, 1) for number in range(_WARMING)]
        with ThreadPoolExecutor(_WARMING) as pool:
            list(pool.map(work, people))
        self.decisions.clear()

    def begin(self) -> list[threading.Thread]:
        """Let all twenty begin; each has a way of working and a pause in seconds between acts."""
        kinds: list[tuple[int, Callable[[Person], None], float]] = [
            (12, Person.label, 6),
            (3, Person.try_texts, 20),
            (2, Person.look, 30),
            (1, Person.train_and_map, 1_200),
            (1, Person.bring_in, 600),
            (1, Person.report, 300),
        ]
        ways = [(way, pause) for n, way, pause in kinds for _ in range(n)]
        people = [Person(self, number, pause) for number, (_, pause) in enumerate(ways)]
        threads = [
            threading.Thread(target=person.work, args=(way,), daemon=True)
            for person, (way, _) in zip(people, ways, strict=True)
        ]
        self.at_work = set(range(len(people)))
        for thread in threads:
            thread.start()
        return threads

    def take_a_break(self) -> None:
        """Let everybody finish what is under way, and rest until `breaks` is cleared."""
        self.breaks.set()
        limit = time.monotonic() + _PATIENCE
        while self.at_work:
            assert time.monotonic() < limit, f"at work for {_PATIENCE} s: {self.at_work}"
            time.sleep(0.1)


@dataclass(frozen=True, slots=True)
class Held:
    """A label that a person gave and will take back."""

    id: str
    intent: str


class Person:
    """One person with a browser: a kept connection, and pauses of random length between acts."""

    def __init__(self, day: Day, number: int, pause: float) -> None:
        self.day, self.pause, self.chance = day, pause / day.speed, random.Random(number)
        self.number, self.tab, self.given = number, f"person-{number:04}", 0
        self.held = deque[Held]()
        self.connection = HTTPConnection("127.0.0.1", day.served.port, timeout=_PATIENCE)

    def work(self, way: Callable[["Person"], None]) -> None:
        """Act and rest until the day is over; a fault is told and ends nobody's day."""
        self.day.over.wait(self.chance.random() * min(self.pause, 10))
        while not self.day.over.is_set():
            try:
                way(self)
            except Exception as error:  # noqa: BLE001 - the test says what went wrong
                self.day.faults.append(f"{way.__name__}: {error!r}")
                self.connection.close()
            self.day.acts[way.__name__] = self.day.acts.get(way.__name__, 0) + 1
            self.rest()
        self.connection.close()
        self.day.at_work.discard(self.number)

    def rest(self) -> None:
        """Pause for half to one and a half times as long as this person does, and in a break."""
        seconds = self.pause * (0.5 + self.chance.random())
        if seconds > _KEPT_OPEN:
            self.connection.close()  # the server closes it soon; the next act opens another
        self.day.at_work.discard(self.number)
        self.day.over.wait(seconds)
        while self.day.breaks.is_set() and not self.day.over.is_set():
            self.connection.close()
            self.day.over.wait(0.1)
        self.day.at_work.add(self.number)

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Ask a route of the project; what is not answered by 2xx is a fault."""
        headers = {"Authorization": f"Bearer {self.day.served.token}"}
        if isinstance(body, bytes):
            headers["Content-Type"] = "multipart/form-data; boundary=cut"
        elif body is not None:
            body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        where = path if path.startswith("/api") else f"/api/projects/{self.day.project}/{path}"
        self.connection.request(method, where, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status // 100 == 2, (method, path, answer.status, content[:300])
        return content

    def label(self) -> None:
        """Take some cards from the queue and decide about each."""
        view = json.loads(self.ask("GET", f"queue?client={self.tab}&n=10"))
        for card in view["items"]:
            if self.day.over.is_set():
                return
            roll = self.chance.random()
            intent = self.chance.choice(self.day.intents)
            if roll < 0.05:
                self.decide({"kind": "skip", "id": card["id"]})
                self.decide({"kind": "undo", "of": f"{self.tab}-{self.given}"})
            else:
                self.decide({"kind": "label", "id": card["id"], "intents": [intent]})
                if roll > 0.9:
                    self.decide({"kind": "undo", "of": f"{self.tab}-{self.given}"})
                else:
                    self.held.append(Held(card["id"], intent))
            if len(self.held) > _HELD:
                old = self.held.popleft()
                self.decide({"kind": "unlabel", "id": old.id, "seen": [old.intent]})
            self.rest()

    def decide(self, operation: dict[str, Any]) -> None:
        """Send one decision and note how long its answer took; it must be saved."""
        self.given += 1
        body = [{"key": f"{self.tab}-{self.given}", **operation}]
        began = time.monotonic()
        [outcome] = json.loads(self.ask("POST", "ops", body))
        self.day.decisions.append((began, time.monotonic() - began))
        assert outcome["state"] == "saved", (operation, outcome)

    def try_texts(self) -> None:
        """Ask about a text that nobody has asked about before, and at times why."""
        self.given += 1
        words = self.chance.sample(_WORDS, 4)
        text = f"what about {' '.join(words)} {self.tab} {self.given}"
        self.ask("POST", "predict", {"texts": [text]})
        if self.given % 5 == 0:
            self.ask("POST", "explain", {"text": text})

    def look(self) -> None:
        """Open the pages one after the other, as far as they ask the server."""
        paths = ("status", "overview", "utterances", "review", "versions", "jobs", "timeline")
        for path in (*paths, "map?method=pca", "/api/projects", "pins", "history"):
            self.ask("GET", path)

    def train_and_map(self) -> None:
        """Train a version, and have a map drawn of the untuned encoder."""
        self.given += 1
        started = [self.ask("POST", "train", {"recipe": "instant", "gate": False})]
        if self.given % 3 == 1:
            started.append(self.ask("POST", "map/layout", {"method": "umap", "model": 0}))
        for answer in started:
            job = json.loads(answer)["job"]
            state = ""
            while state not in ("succeeded", "failed", "cancelled") and not self.day.over.is_set():
                state = json.loads(self.ask("GET", f"/api/jobs/{job}"))["state"]
                self.day.over.wait(0.5)
            assert state in ("succeeded", "") or self.day.over.is_set(), f"job {job} {state}"

    def bring_in(self) -> None:
        """Import a file of a hundred texts, ten of which are new."""
        self.given += 1
        rows = [f"{word} {number} of a file" for word in _WORDS for number in range(10)]
        rows += [f"new {self.chance.choice(_WORDS)} {self.given} {n}" for n in range(10)]
        self.send_file("\r\n".join(["text", *rows]))

    def send_file(self, content: str) -> None:
        """Upload a CSV file and import it."""
        body = (
            '--cut\r\nContent-Disposition: form-data; name="file"; filename="more.csv"\r\n'
            f"Content-Type: text/csv\r\n\r\n{content}\r\n--cut--\r\n"
        )
        incoming = json.loads(self.ask("POST", "uploads", body.encode()))
        self.ask("POST", f"uploads/{incoming['key']}/import", {})

    def report(self) -> None:
        """Read the report of the first version, keep a receipt, export texts and a bundle."""
        self.given += 1
        self.ask("GET", "models/1/report.html")
        self.ask("POST", "receipts", {"text": f"is {self.chance.choice(_WORDS)} broken"})
        self.ask("GET", "export")
        if self.given % 4 == 1:
            self.ask("GET", "models/1/bundle")
