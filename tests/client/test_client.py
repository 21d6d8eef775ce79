"""The client speaks with a real studio: what it sends once and again, and how refusals are told."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from intent_studio_client import connection
from intent_studio_client import studio as studio_module
from intent_studio_client.answers import Job, Project, Vote
from intent_studio_client.connection import Connection, Request, StudioFault
from intent_studio_client.reading import read, read_list
from intent_studio_client.studio import Change, NewText, SaidText, Studio
from tests.builders.served_studio import Served
from tests.conftest import SENTENCES

ROWS: list[NewText | str] = [
    *(NewText(text, (name,)) for name, texts in SENTENCES.items() for text in texts),
    "what about orders",
]


@pytest.fixture(scope="module")
def trained(served: Served) -> Job:
    """The training of the first version of the project `p`."""
    studio = Studio(served.base, served.token)
    studio.create_project("p")
    [added] = studio.add_texts("p", ROWS, key="texts-1")
    assert (added.added, added.labelled, set(added.new_intents)) == (21, 20, set(SENTENCES))
    seen = list[str]()
    job = studio.train("p", "instant", gate=True, key="train-1")
    ended = studio.wait(job, each=lambda one: seen.append(one.state))
    assert set(seen) <= {"queued", "running"}
    return ended


def test_what_is_sent_again_with_its_key_is_done_once(studio: Studio, trained: Job) -> None:
    assert (trained.state, trained.version) == ("succeeded", 1)
    assert studio.status("p").champion == 1
    [again] = studio.add_texts("p", ROWS, key="texts-1")
    assert again.added == 21
    assert studio.train("p", "instant", gate=True, key="train-1").id == trained.id
    [without_key] = studio.add_texts("p", ROWS)
    assert (without_key.added, without_key.already_there) == (0, 21)
    with pytest.raises(StudioFault) as found:
        studio.add_texts("p", ROWS[:3], key="texts-1")
    assert found.value.status == 409


def test_answers_have_their_evidence(studio: Studio, trained: Job) -> None:
    texts = ["my parcel is late", "reset my password"] * 600  # two requests
    answers = studio.predict("p", texts, top_k=2)
    assert [one.text for one in answers] == texts
    assert answers[0].decision.intents == ("parcel",)
    assert len(answers[0].ranked) == 2
    votes = answers[0].neighbours
    assert isinstance(votes[0], Vote)
    assert abs(votes[0].vote) >= abs(votes[1].vote)
    assert answers[0].model_version == "p@1"


def test_pins_bundles_and_traffic(studio: Studio, trained: Job, tmp_path: Path) -> None:
    ids = {one.name: one.id for one in studio.intents("p")}
    studio.pin("p", "my parcel is late", ["parcel"])
    [pin] = studio.pins("p")
    assert (pin.kept, pin.intents) == (True, (ids["parcel"],))
    studio.pin("p", "my parcel is late", None)
    assert studio.pins("p") == []
    studio.export_bundle("p", tmp_path / "p.zip", without_texts=True)
    assert (tmp_path / "p.zip").stat().st_size > 1_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["p.zip"]
    said = [SaidText("where is my order", "2026-11-27T09:30:00", "chat", f"k{n}") for n in range(3)]
    [received] = studio.send_traffic("p", said)
    assert (received.kept, received.added) == (3, 1)
    assert studio.send_traffic("p", said)[0].repeated == 3


def test_a_finding_is_proposed_to_a_person(studio: Studio, trained: Job) -> None:
    ids = {one.name: one.id for one in studio.intents("p")}
    [text] = [one.text for one in studio.predict("p", ["where is my parcel"])]
    studio.add_texts("p", [NewText(f"{text} today", ("refund",))])
    found = studio.findings("p")
    assert {one.kind for one in found} & {"label", "conflict", "next"}
    remedy = next(r for f in found for r in f.remedies if r.repair and not r.asks)
    assert remedy.repair is not None
    [proposal] = studio.propose("p", "a script", [Change(remedy.repair, "The studio says so.")])
    assert (proposal.by, proposal.state) == ("a script", "waits")
    assert studio.proposals("p") == [proposal]
    assert studio.findings("p", "proposal", 5)[0].why.startswith("a script proposes: label it “")
    assert ids == {one.name: one.id for one in studio.intents("p")}


def test_refusals_are_told_with_their_hint(
    served: Served, studio: Studio, trained: Job, tmp_path: Path
) -> None:
    with pytest.raises(StudioFault, match="There is no project 'nobody'") as found:
        studio.predict("nobody", ["hello"])
    assert (found.value.status, bool(found.value.hint)) == (404, True)
    with pytest.raises(StudioFault, match="token") as found:
        Studio(served.base, "wrong").projects()
    assert found.value.status == 401
    with pytest.raises(StudioFault, match="no intent 'nothing'"):
        studio.pin("p", "hello", ["nothing"])
    studio.create_project("bare")
    with pytest.raises(StudioFault, match="has no model"):
        studio.export_bundle("bare", tmp_path / "bare.zip")
    with pytest.raises(StudioFault, match="training needs two"):
        studio.train("bare", "instant")
    with pytest.raises(StudioFault, match="version 9"):
        studio.export_bundle("p", tmp_path / "p.zip", 9)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StudioFault, match="is no address"):
        Studio("file:///etc", "").projects()
    assert "secret" not in repr(Studio("http://studio", "secret"))


def test_without_a_server_it_tries_again_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PAUSE_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(StudioFault, match="does not answer") as found:
        Studio(f"http://127.0.0.1:{port}", "").projects()
    assert found.value.status == 0


@contextmanager
def answering(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve prepared answers, the last one again and again; status 0 is no answer at all.

    A header `Content-Length` that promises more than the body makes an answer that is cut off.
    """
    asked, left = list[str](), list(answers)

    class Prepared(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Authorization", ""))
            status, headers, body = left[0] if len(left) == 1 else left.pop(0)
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Prepared) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


BUSY = (429, {"Retry-After": "0"}, b'{"error": "8 texts wait."}')
FINE = (200, {}, b'{"fine": true}')
LOST = (0, {}, b"")
CUT = (200, {"Content-Length": "99"}, b'{"fine"')


def test_it_waits_while_a_server_is_busy_if_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request("GET", "/x")
    with answering(BUSY, BUSY, FINE) as (address, asked):
        assert Connection(address, "t", patience=5).ask(request) == {"fine": True}
        assert asked == ["Bearer t"] * 3
    with answering(BUSY) as (address, asked):
        with pytest.raises(StudioFault, match="8 texts wait") as found:
            Connection(address, "t").ask(request)
        assert (found.value.status, found.value.retry_after, len(asked)) == (429, 0.0, 1)
    monkeypatch.setattr(connection, "_PAUSE_SECONDS", 0.01)
    with answering(LOST, LOST, FINE) as (address, _):
        assert Connection(address, "t").ask(request) == {"fine": True}


def test_waiting_for_a_training_outlives_a_restart_of_the_studio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After three connections that were refused it gave up, and the training went on."""
    monkeypatch.setattr(connection, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(studio_module, "_POLL_SECONDS", 0.01)
    running = Job("1", "train", "p", "running", 0.5, "learns", "", "", {})
    ended = replace(running, state="succeeded")
    told, away = (200, {}, json.dumps(asdict(ended)).encode()), (502, {}, b"<html>")
    with answering(*[LOST] * 4, away, LOST, told) as (address, _):
        assert Studio(address, "t").wait(running) == ended
    with answering((404, {}, b"{}")) as (address, asked):
        with pytest.raises(StudioFault, match="The server answers 404"):
            Studio(address, "t").wait(running)
        assert len(asked) == 1
    monkeypatch.setattr(studio_module, "_RESTART_SECONDS", 0.05)
    with answering(LOST) as (address, _), pytest.raises(StudioFault, match="does not answer"):
        Studio(address, "t").wait(running)


def test_a_file_that_is_cut_off_is_not_kept(tmp_path: Path) -> None:
    """A bundle whose transfer broke was stored as if whole, in the place of an older good one."""
    out = tmp_path / "p.zip"
    out.write_bytes(b"the older one")
    with answering(CUT) as (address, _):
        with pytest.raises(StudioFault, match="was cut off: 7 of 99 bytes came") as found:
            Studio(address, "t").export_bundle("p", out, 1)
        assert found.value.status == 0
    assert out.read_bytes() == b"the older one"
    assert list(tmp_path.iterdir()) == [out]


def test_a_reply_that_is_cut_off_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that broke within the body escaped as IncompleteRead, and was tried once."""
    monkeypatch.setattr(connection, "_PAUSE_SECONDS", 0.01)
    request = Request("GET", "/x")
    with answering(CUT, CUT, FINE) as (address, asked):
        assert Connection(address, "t").ask(request) == {"fine": True}
        assert len(asked) == 3
    with answering(CUT) as (address, asked):
        with pytest.raises(StudioFault, match="does not answer") as found:
            Connection(address, "t").ask(request)
        assert (found.value.status, len(asked)) == (0, 3)


def test_a_refusal_that_is_cut_off_keeps_its_status() -> None:
    """A refusal whose body broke off escaped as IncompleteRead, so nobody learned the status."""
    with answering((409, *CUT[1:])) as (address, _):
        with pytest.raises(StudioFault, match="The server answers 409") as found:
            Connection(address, "t").ask(Request("GET", "/x"))
        assert found.value.status == 409


def test_it_follows_no_redirection_with_its_token() -> None:
    with answering(FINE) as (other, asked):
        moved = (302, {"Location": other}, b"")
        refuses = pytest.raises(StudioFault, match="The server answers 302")
        with answering(moved) as (address, _), refuses:
            Connection(address, "t").ask(Request("GET", "/x"))
        assert asked == []


def test_an_answer_of_another_kind_is_refused_and_new_fields_are_left_out() -> None:
    known = {"exemplar_id": "1", "text": "t", "intents": ["a"], "cosine": 1, "vote": 0.5}
    assert read(Vote, {**known, "new": [1]}) == Vote("1", "t", ("a",), 1, 0.5)
    with pytest.raises(StudioFault, match=r"Vote\.cosine is missing"):
        read(Vote, {key: value for key, value in known.items() if key != "cosine"})
    with pytest.raises(StudioFault, match=r"Vote\.text is int"):
        read(Vote, {**known, "text": 3})
    with pytest.raises(StudioFault, match="Project is dict"):
        read_list(Project, {})
    with answering((200, {}, b"<html>")) as (address, _), pytest.raises(StudioFault, match="JSON"):
        Connection(address, "").ask(Request("GET", "/x"))
