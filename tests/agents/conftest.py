"""A home with the sample, some of whose labels are wrong, and a client that speaks MCP with it."""

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, StdioServerParameters

from app.bootstrap import open_studio
from app.services.data.projects import create_sample
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.what_if.repairs import Repair, apply_repair
from app.settings import Settings
from storage.queries import dataset, utterances
from tests.builders.served_studio import environment
from tests.builders.trained_home import opened, train_here

PROJECT, N_PLANTED = "sample", 12
_Value = TypeVar("_Value")


class Agent:
    """The official client of the protocol, with answers read from JSON."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, which must answer."""
        words, is_error = await self.words(tool, **arguments)
        assert not is_error, words
        found: dict[str, Any] = json.loads(words)
        return found

    async def words(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Call a tool; return its answer, and whether it is an error."""
        answer = await self.client.call_tool(tool, arguments)
        [content] = answer.content
        return content.text, bool(answer.is_error)

    async def every(self, tool: str, name: str, **arguments: Any) -> list[dict[str, Any]]:
        """Follow the cursor to the end, and return all items."""
        page = await self.ask(tool, **arguments)
        items = page[name]
        while "next" in page:
            page = await self.ask(tool, **arguments, cursor=page["next"])
            items += page[name]
        return items


def over_stdio(home: Path, script: Callable[[Agent], Coroutine[Any, Any, _Value]]) -> _Value:
    """Run a script against `intent-studio mcp` in a process of its own."""
    command = ["-m", "intent_studio", "--home", str(home), "mcp"]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment(home))

    async def run() -> _Value:
        async with Client(server) as client:
            return await script(Agent(client))

    return asyncio.run(run())


def plant(studio: Studio) -> dict[str, str]:
    """Give every thirtieth example a wrong label; return the right intents by text id."""
    with studio.database.read() as connection:
        rows = [row for row in dataset.utterances(connection, 1, "train") if row.labels]
        names = {key: name for name, key in utterances.intent_ids(connection, 1).items()}
    rows.sort(key=lambda row: row.text)
    planted, keys = dict[str, str](), sorted(names, key=lambda key: names[key])
    for number, row in enumerate(rows[:: len(rows) // N_PLANTED][:N_PLANTED]):
        [right] = row.labels or ()
        wrong = keys[(keys.index(right) + 1 + number) % len(keys)]
        if wrong == right:
            wrong = keys[(keys.index(right) + 1) % len(keys)]
        apply_repair(studio, PROJECT, Repair("relabel", (row.id,), (wrong,)), f"plant {row.id}")
        planted[row.id] = names[right]
    return planted


@pytest.fixture(scope="session")
def planted_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home with the sample and a model of it, and the planted errors."""
    home = tmp_path_factory.mktemp("agents") / "home"
    studio = open_studio(Settings(home=home, device="cpu"))
    create_sample(studio, PROJECT)
    planted = plant(studio)
    train_here(studio, TrainingRequest(PROJECT, "instant", {}))
    studio.database.close()
    return home, planted


@pytest.fixture
def home(planted_home: tuple[Path, dict[str, str]], tmp_path: Path) -> Path:
    """A copy of that home."""
    return Path(shutil.copytree(planted_home[0], tmp_path / "home"))


@pytest.fixture
def live_studio(home: Path) -> Iterator[LiveStudio]:
    studio = opened(home)
    yield open_live_studio(studio)
    studio.database.close()
