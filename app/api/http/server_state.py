"""How routes get at the open studio."""

from typing import Annotated

from fastapi import Depends, Request

from app.services.live.server_state import Workbench


def _bench(request: Request) -> Workbench:
    found: Workbench = request.app.state.bench
    return found


Bench = Annotated[Workbench, Depends(_bench)]
"""The workbench of the server, as an argument of a route."""
