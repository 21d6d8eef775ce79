"""A server that is told to end lets nobody in, answers who is there, and waits for nobody long."""

import json
from pathlib import Path

from tests.serving.command_process import ServerProcess, received, server_process
from tests.serving.load.test_replacing import until
from tests.serving.test_command import ask, free_port
from tests.serving.test_replies import KNOWN


def test_a_sender_who_stops_does_not_hold_up_the_end(graph: Path, tmp_path: Path) -> None:
    """The end waited for the rest of a body without a limit, until whoever waits killed it.

    What still was to be done, such as counting the texts that no studio took, was never done.
    """
    short = "from app.serving import command; command._LONGEST_END_SECONDS = 1"
    nobody = f"http://127.0.0.1:{free_port()}"
    with server_process(graph, tmp_path, "--push-to", nobody, before=short) as server:
        assert ask(server.port, "POST", "/predict", {"text": KNOWN})[0] == 200
        with server.hold("/predict") as held:
            held.sendall(b'{"t')
            server.ask_to_end()
            said = server.await_end()
    assert "1 texts were not pushed before the end" in said
    assert "Traceback" not in said


def refuses(server: ServerProcess) -> bool:
    try:
        server.connect().close()
    except ConnectionRefusedError:
        return True
    return False


def test_several_processes_that_end_take_no_connection_and_answer_what_they_have(
    graph: Path, tmp_path: Path
) -> None:
    """The process that had started the others held the port until they had ended.

    Who connected meanwhile waited for an answer that nobody was to give.
    """
    with server_process(graph, tmp_path, "--workers", "2") as server:
        with server.hold("/predict") as held:
            server.ask_to_end()
            until(lambda: refuses(server))
            assert server.process.poll() is None
            held.sendall(json.dumps({"text": KNOWN}).ljust(100).encode())
            reply = received(held)
        server.await_end()
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert json.loads(body)["predictions"][0]["text"] == KNOWN
