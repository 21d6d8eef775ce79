"""The port on which a home's server listened last.

The next one takes it again, so that open tabs find it: their browser keeps decisions by address.
"""

import socket
from contextlib import suppress

from app.home import Places


def last_port(places: Places) -> int | None:
    """Return the port on which the home's server listened last; None if that is not known."""
    try:
        port = int(places.last_port.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return port if 0 < port < 1 << 16 else None


def keep_port(places: Places, listener: socket.socket) -> None:
    """Remember the port of a server that holds the home's lock; a Unix socket has none."""
    if listener.family != socket.AF_UNIX:
        with suppress(OSError):  # then the next server takes another port
            places.last_port.write_text(str(listener.getsockname()[1]), encoding="utf-8")
