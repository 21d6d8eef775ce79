"""Loaded by every process of a studio under test: writes down whom it asks, and lets it ask nobody.

Python imports a module of this name by itself when it starts. Listening is free; a name that is
looked up, or a connection to another machine, goes into the file that STRANGERS names.
"""

import os
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any


def _is_here(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if not host or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not _is_here(host):
        with Path(os.environ["STRANGERS"]).open("a", encoding="utf-8") as file:
            file.write(f"{event} {host!r} by {' '.join(sys.argv)[:200]}\n")
        raise OSError(f"no test may reach {host!r}")


if "STRANGERS" in os.environ:
    sys.addaudithook(_watch)
