"""What a model server accepts, and how it is reached."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from core.errors import InvalidInput
from core.text import is_blank, is_storable

_LONGEST_SOURCE = 200
_LAST_PORT = 65_535
KEY = "INTENT_STUDIO_API_KEY"
"""Name of the variable that holds the key of clients, where no file does."""
PUSH_TOKEN = "INTENT_STUDIO_PUSH_TOKEN"
"""Name of the variable that holds the token of the studio that gets the texts."""


@dataclass(frozen=True, slots=True)
class Serving:
    """How models are served.

    Attributes:
        bundle: File of the bundle with the graph; its model answers whoever names none.
        name: Name of the model in addresses; "" for the project's.
        threads: Threads that compute for each model; 0 for one a processor.
        most_waiting: Texts that may wait for each model; more are refused with 429.
        most_texts: Texts of one request.
        most_signs: Characters of one text.
        most_bytes: Bytes of one request.
        key: What clients must send, each key on a line of its own; "" for nothing.
        shadow: File of a bundle that answers the first one's texts unseen; "" for none.
        shadow_file: File that gets the differing answers; "" for none.
        shadow_texts: Whether it gets the texts, too.
        look_seconds: Seconds between two looks whether the bundles were replaced.
        others: Files of further bundles, and their names in addresses; "" for the project's.
        push_to: Address of the studio whose traffic gets the texts; "" for none.
        push_token: What the studio lets in by.
        push_project: Project of the studio that gets them; "" for that of each bundle.
        push_source: What it shows as their channel.
        log: Form of a line for each request, `text` or `json`; "" for none.
        log_texts: Whether texts and answers are logged, too.
        device: Where the models compute; the shadow computes on the processor.
        hosts: Names by which requests may call the server, by spaces; "" for any.
    """

    bundle: str
    name: str = ""
    threads: int = 0
    most_waiting: int = 512
    most_texts: int = 256
    most_signs: int = 10_000
    most_bytes: int = 1 << 20
    key: str = ""
    shadow: str = ""
    shadow_file: str = ""
    shadow_texts: bool = False
    look_seconds: float = 1.0
    others: Mapping[str, str] = field(default_factory=dict)
    push_to: str = ""
    push_token: str = ""
    push_project: str = ""
    push_source: str = "model server"
    log: str = ""
    log_texts: bool = False
    hosts: str = ""
    device: Literal["cpu", "cuda"] = "cpu"

    @property
    def keys(self) -> list[bytes]:
        """The keys, of which clients must send one."""
        return [key.encode() for key in self.key.split("\n") if key]

    @property
    def values(self) -> dict[str, Any]:
        """The settings by name, for another process."""
        return asdict(self)


def read_key(file: Path | None, variable: str = KEY) -> str:
    """Return the keys in a file or, without one, in a variable of the environment; "" for none.

    Each line is one, so that an old and a new one may be sent for a while.

    Raises:
        InvalidInput: The file cannot be read or is empty.
    """
    if file is None:
        return _lines(os.environ.get(variable, ""))
    try:
        key = _lines(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}.", "Check the path.") from error
    if not key:
        raise InvalidInput(f"{file} is empty.", "Write the key into it, on one line.")
    return key


def _lines(said: str) -> str:
    return "\n".join(line.strip() for line in said.splitlines() if line.strip())


def check_push(address: str, source: str) -> None:
    """Refuse an address that is none of a studio, and a source that it would not take.

    Raises:
        InvalidInput: One of both cannot be used.
    """
    read = urlsplit(address)
    if read.scheme not in ("http", "https") or not read.netloc or read.query or read.fragment:
        raise InvalidInput(
            f"--push-to {address[:80]} is no address of a studio.",
            "Write it as a browser shows it: https://nlu.example.com/intents.",
        )
    if is_blank(source) or len(source) > _LONGEST_SOURCE or not is_storable(source):
        raise InvalidInput(
            "--push-source is no name of a channel.",
            f"Write 1 to {_LONGEST_SOURCE} signs, such as app or phone.",
        )


def check_address(host: str, key: str, *, without_key: bool) -> None:
    """Refuse to serve other machines without a key.

    Raises:
        InvalidInput: The address is not of this machine alone, and there is no key.
    """
    if key or without_key or _is_loopback(host):
        return
    raise InvalidInput(
        f"At {host} other machines reach the server, and there is no key.",
        f"Set {KEY} or name --api-key-file FILE; or add --no-key behind a proxy that asks.",
    )


def check_port(port: int | None) -> None:
    """Refuse a number that is no port; 0 is any free one, None the usual one.

    Raises:
        InvalidInput: There is no such port.
    """
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise InvalidInput(
            f"There is no port {port}: ports are 1 to {_LAST_PORT:,}.",
            "Name another with --port, or --port 0 for any free one.",
        )


def hosts_of(host: str, key: str, *, without_key: bool) -> str:
    """Return the names by which requests may call the server, by spaces; "" for any.

    Without a key, a page of another site could let a name of its own point to this machine, and
    read what its browser is answered (DNS rebinding).
    """
    if key or without_key:
        return ""
    named = f"[{host}]" if ":" in host else host
    return " ".join(dict.fromkeys(("127.0.0.1", "localhost", "[::1]", named.lower())))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
