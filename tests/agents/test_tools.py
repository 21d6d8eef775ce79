"""The official client lists and calls every tool; whatever goes wrong is said in words."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation
from tokenizers import Tokenizer

from app.agents.answers import MOST_BYTES
from app.agents.tools import build_server
from app.services.live.live_studio import LiveStudio
from app.services.reports.audit import list_acts
from app.services.training.jobs import list_jobs
from app.services.trying.pins import set_pin
from app.services.what_if.repairs import Repair, apply_repair
from core.encoders.bundled import bundled_folder
from storage.log import events
from storage.people.acts import ActFilter
from storage.queries import utterances
from tests.agents.conftest import PROJECT, Agent, over_stdio
from tests.builders.trained_home import do

TOOLS = {
    *("overview", "find_utterances", "explain", "findings", "what_if"),
    *("propose", "proposals", "pins", "train", "compare"),
}
ADD = {"kind": "add", "text": "no bars in the attic"}


def in_process(
    live_studio: LiveStudio, script: Callable[[Agent], Coroutine[Any, Any, Any]], name: str = ""
) -> Any:
    """Run a script against the server in this process."""

    async def run() -> Any:
        me = Implementation(name="A client", version="1")
        async with Client(build_server(live_studio, name), client_info=me) as client:
            return await script(Agent(client))

    return asyncio.run(run())


def test_the_official_client_lists_and_calls_every_tool(home: Path) -> None:
    async def script(agent: Agent) -> None:
        listed = (await agent.client.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        assert all(tool.description for tool in listed)
        writing = {tool.name for tool in listed if not tool.annotations.read_only_hint}
        assert writing == {"propose", "train"}
        size = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed)
        assert size < 12_000  # a model reads them before each conversation
        await look(agent)
        await foretell_and_propose(agent)

    over_stdio(home, script)


async def look(agent: Agent) -> None:
    [project] = (await agent.ask("overview"))["projects"]
    assert project["project"] == PROJECT
    told = await agent.ask("overview", project=PROJECT)
    assert (told["model"], told["total"]) == ({"in_use": 1}, 17)
    assert told["intents"][0]["description"].startswith("The home connection works")
    found = await agent.every("find_utterances", "texts", project=PROJECT, text="router")
    assert found
    assert all("router" in one["text"].lower() for one in found)
    near = await agent.ask("find_utterances", project=PROJECT, like="my bill is wrong")
    assert near["texts"][0]["cosine"] > near["texts"][1]["cosine"]
    tests = await agent.every("find_utterances", "texts", project=PROJECT, where="test")
    assert len(tests) == told["texts"]["tests"] == 306

    why = await agent.ask("explain", project=PROJECT, text="the wifi is weak upstairs")
    assert why["answer"] == "wifi_coverage"
    reason = why["reasons"][0]
    parts = [one["vote"] for one in reason["votes"]]
    rest = reason["votes_of_others"] + reason["prior"] + reason.get("name", 0)
    assert sum(parts) + rest == pytest.approx(reason["score"], abs=1e-3)


async def foretell_and_propose(agent: Agent) -> None:
    words, _ = await agent.words("findings", project=PROJECT, kind="label")
    assert json.loads(words)["open"]["label"] > 0
    assert len(words) > 0.7 * MOST_BYTES  # ids and punctuation are what takes most tokens
    assert n_tokens(words) < 4_000
    change = {"kind": "add", "text": "no bars in the attic", "intents": ["wifi_coverage"]}
    [effect] = (await agent.ask("what_if", project=PROJECT, changes=[change]))["effects"]
    assert effect["change"] == "Add “no bars in the attic” to “wifi_coverage”"
    assert effect["right_tests"]["of"] == 306
    wanted = [{**change, "why": "Nobody says attic."}]
    [stored] = (await agent.ask("propose", project=PROJECT, proposals=wanted))["proposals"]
    assert stored["state"] == "waits"
    assert (await agent.ask("proposals", project=PROJECT))["waiting"] == 1
    assert (await agent.ask("pins", project=PROJECT))["pins"] == []
    choices = (await agent.ask("train", project=PROJECT))["choices"]
    assert [one["name"] for one in choices[:2]] == ["Quick", "Best"]
    same = await agent.ask("compare", project=PROJECT, candidate=1, champion=1)
    assert (same["total"], same["outcome"]) == (0, "alike")


def n_tokens(words: str) -> int:
    """Count as the bundled encoder does: it has no token of two signs of punctuation."""
    [file] = bundled_folder().rglob("tokenizer.json")
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    return len(tokenizer.encode(words).ids)


def test_it_trains_and_compares_and_the_new_version_waits_for_a_person(
    live_studio: LiveStudio,
) -> None:
    async def start(agent: Agent) -> dict[str, Any]:
        return await agent.ask("train", project=PROJECT, start=True, recipe="instant")

    started = in_process(live_studio, start, name="a script")
    [job] = [one for one in list_jobs(live_studio.studio) if one.id == started["job"]]
    assert job.payload["gate"] is False
    assert do(live_studio.studio, job.id).state == "succeeded"

    async def follow(agent: Agent) -> None:
        told = await agent.ask("train", project=PROJECT, job=started["job"])
        assert (told["state"], told["version"]) == ("succeeded", 2)
        overview = await agent.ask("overview", project=PROJECT)
        assert overview["model"] == {"in_use": 1, "candidates": ["2"]}
        compared = await agent.ask("compare", project=PROJECT, candidate=2)
        assert compared["outcome"] == "alike"
        words, is_error = await agent.words("train", project=PROJECT, job="nobody")
        assert (is_error, "nobody" in words) == (True, True)

    in_process(live_studio, follow)
    acts = list_acts(live_studio.studio, PROJECT, ActFilter(verb="train")).acts
    assert ("a script", "agent") in {(one.actor, one.via) for one in acts}


def test_a_proposal_is_by_the_name_that_is_set_or_that_the_client_gives_itself(
    live_studio: LiveStudio,
) -> None:
    async def script(agent: Agent) -> str:
        change = {"kind": "rename", "intent": "roaming", "to": f"abroad {len(names)}"}
        told = await agent.ask(
            "propose", project=PROJECT, proposals=[{**change, "why": "Plainer."}]
        )
        return str(told["proposals"][0]["by"])

    names = list[str]()
    for given in ("Ada's script", ""):
        names.append(in_process(live_studio, script, given))
    assert names == ["Ada's script", "A client"]


def test_failures_are_told_in_words(live_studio: LiveStudio, monkeypatch, capfd) -> None:
    async def script(agent: Agent) -> list[str]:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("overview", {"project": "nobody"}),
            ("overview", {"cursor": "7"}),
            ("explain", {"project": PROJECT, "text": "  "}),
            ("explain", {"project": PROJECT}),
            ("findings", {"project": PROJECT, "kind": "odd"}),
            ("find_utterances", {"project": PROJECT, "intent": "roamin"}),
            ("find_utterances", {"project": PROJECT, "like": "x", "where": "test"}),
            ("what_if", {"project": PROJECT, "changes": [{"kind": "label", "intents": []}]}),
            ("compare", {"project": PROJECT, "candidate": 9}),
            ("pins", {"project": PROJECT}),
            ("what_if", {"project": PROJECT, "changes": [{**ADD, "intent": "roamin"}]}),
            ("what_if", {"project": PROJECT, "changes": [{**ADD, "intent": "roaming"}]}),
        ]
        told = [await agent.words(tool, **arguments) for tool, arguments in asked]
        assert all(is_error for _, is_error in told)
        return [words.partition(": ")[2] for words, _ in told]

    def broken(*_: object) -> None:
        message = "a secret text"
        raise AssertionError(message)

    monkeypatch.setattr("app.agents.reading.load_pins", broken)
    words = in_process(live_studio, script)
    assert words[0].startswith("There is no project 'nobody'")
    assert words[1] == "'7' is no cursor. Give `next` of the answer before, or leave it out."
    assert "Field required" in words[3]
    assert words[4].startswith("There is no kind 'odd'. Use people, proposal,")
    assert words[5] == "There is no intent 'roamin'. Did you mean 'roaming'?"
    assert words[7].startswith("A change of the kind label needs text_id.")
    assert words[9].startswith("Something broke (incident ")
    # It was ignored, and the text was to be an example out of scope.
    assert words[10] == "There is no intent 'roamin'. Did you mean 'roaming'?"
    assert words[11].startswith("A change of the kind add takes no `intent`. Name all intents")
    assert "secret" not in "".join(words) + "".join(capfd.readouterr())


def test_every_answer_is_small_however_long_the_texts_are(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    with studio.database.read() as connection:
        keys = utterances.intent_ids(connection, 1)
    first, second = sorted(keys)[:2]
    for number in range(12):
        text = f"{number} " + "längere Wörter \N{GRINNING FACE} " * 60
        for intent, mark in ((first, ""), (second, "!")):
            add = Repair("add", (), (keys[intent],), value=text + mark)
            apply_repair(studio, PROJECT, add, f"add {number}{mark} long")
        set_pin(live_studio, PROJECT, text, [keys[first]])

    async def script(agent: Agent) -> None:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("overview", {}),
            ("find_utterances", {"text": "länger"}),
            ("explain", {"text": "längere Wörter \N{GRINNING FACE} " * 100}),
            *(("findings", {"kind": kind}) for kind in ("", "label", "conflict", "confusion")),
            ("pins", {}),
            ("compare", {"candidate": 1}),
        ]
        for tool, arguments in calls:
            words, is_error = await agent.words(tool, project=PROJECT, **arguments)
            assert not is_error, words
            assert len(words.encode()) <= MOST_BYTES, tool
            assert json.loads(words)
        change = {"kind": "add", "text": "längere Wörter " * 300, "intents": [second]}
        words, _ = await agent.words("what_if", project=PROJECT, changes=[change] * 5)
        assert len(json.loads(words)["effects"]) == 5
        assert len(words.encode()) <= MOST_BYTES
        assert len(await agent.every("pins", "pins", project=PROJECT)) == 12

    in_process(live_studio, script)


def test_nothing_but_a_proposal_is_ever_stored_in_the_data(live_studio: LiveStudio) -> None:
    with live_studio.studio.database.read() as connection:
        before = events.head(connection, 1)

    async def script(agent: Agent) -> None:
        for change in (
            {"kind": "merge", "intent": "roaming", "to": "data_usage"},
            {"kind": "rename", "intent": "roaming", "to": "abroad"},
            {"kind": "describe", "intent": "roaming", "to": "Uses the phone in another country."},
        ):
            await agent.ask("what_if", project=PROJECT, changes=[change])
            wanted = [{**change, "why": "Plainer."}]
            await agent.ask("propose", project=PROJECT, proposals=wanted)

    in_process(live_studio, script)
    with live_studio.studio.database.read() as connection:
        assert events.head(connection, 1) == before
