"""A scripted agent finds planted label errors; a person decides about its proposals in Review."""

from pathlib import Path
from typing import Any

from app.agents.acting import propose
from app.agents.answers import MOST_BYTES, size_of
from app.agents.changes import AgentProposal
from app.services.live.live_studio import LiveStudio
from tests.agents.conftest import PROJECT, Agent, over_stdio
from tests.builders.served_studio import Served

FOUND = 0.75
"""Share of the planted errors that the agent proposes to mend, at least."""


async def look_and_propose(agent: Agent) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Propose for each doubted label what the model would answer, unless that breaks answers."""
    listed = await agent.every("findings", "findings", project=PROJECT, kind="label")
    proposals = []
    for finding in listed:
        text, other = finding["texts"][0], finding["intents"][-1]
        change = {"kind": "label", "text_id": text["id"], "intents": [other]}
        [effect] = (await agent.ask("what_if", project=PROJECT, changes=[change]))["effects"]
        if effect["breaks"] <= effect["mends"]:
            proposals.append({**change, "why": f"Similar texts say {other}. {finding['why']}"})
    stored = await agent.ask("propose", project=PROJECT, proposals=proposals)
    assert {one["state"] for one in stored["proposals"]} == {"waits"}
    again = await agent.ask("propose", project=PROJECT, proposals=proposals)
    assert again["proposals"] == stored["proposals"]
    told = await agent.every("proposals", "proposals", project=PROJECT)
    assert [one["state"] for one in told] == ["waits"] * len(proposals)
    return proposals, told


def test_its_proposals_wait_in_review_and_labels_change_when_a_person_accepts(
    home: Path, planted_home: tuple[Path, dict[str, str]]
) -> None:
    planted = planted_home[1]
    served = Served(home, forked=True).start()  # two processes have the home open
    try:
        before = labels(served)
        proposals, told = over_stdio(home, look_and_propose)
        right = {
            one["text_id"] for one in proposals if planted.get(one["text_id"]) in one["intents"]
        }
        assert len(right) >= FOUND * len(planted), f"{len(right)} of {len(planted)}"
        assert labels(served) == before

        review = served.ask(f"/projects/{PROJECT}/review?kind=proposal&limit=100")
        assert review["counts"]["proposal"] == len(proposals) == len(review["findings"])
        by = {one["by"] for one in told}
        assert len(by) == 1
        key = sorted(right)[0]
        [finding] = [one for one in review["findings"] if one["texts"][0]["id"] == key]
        [name] = by
        assert finding["why"].startswith(f"{name} proposes: ")
        [accept] = [r["repair"] for r in finding["remedies"] if r["repair"] and not r["asks"]]
        act = {"key": "accepted-1", "finding": finding["id"], "repair": accept}
        served.ask(f"/projects/{PROJECT}/review/act", {**act, "seen": review["revision"]})
        changed = labels(served)
        assert {one for one in before if before[one] != changed[one]} == {key}
        states = over_stdio(
            home, lambda agent: agent.every("proposals", "proposals", project=PROJECT)
        )
        assert sorted(one["state"] for one in states) == sorted(
            ["accepted", *["waits"] * (len(proposals) - 1)]
        )
        served.ask(f"/projects/{PROJECT}/review/undo", {"key": "accepted-1"})
        assert labels(served) == before
        acts = served.ask(f"/projects/{PROJECT}/acts?verb=propose")["acts"]
        assert [(one["actor"], one["via"]) for one in acts] == [(name, "agent")]
    finally:
        served.stop()
    assert served.strangers() == []


def test_many_proposals_are_made_by_one_call(live_studio: LiveStudio) -> None:
    """The answer gave a cursor that the tool did not take: agents proposed again, and in a ring."""
    why = "A person writes this at length. " * 8
    wanted = [
        AgentProposal(kind="add", text=f"the {n}th of many", intents=["roaming"], why=why)
        for n in range(50)
    ]
    told = propose(live_studio.studio, PROJECT, "a script", wanted)
    assert (told["total"], "next" in told) == (50, False)
    assert len(told["proposals"]) < 50
    assert "`proposals` lists the rest" in told["says"]
    assert size_of(told) <= MOST_BYTES
    few = propose(live_studio.studio, PROJECT, "a script", wanted[:2])
    assert (len(few["proposals"]), "`proposals`" in few["says"]) == (2, False)


def labels(served: Served) -> dict[str, list[str]]:
    """Read the labels of all examples."""
    page = served.ask(f"/projects/{PROJECT}/utterances?split=train&state=labelled&size=500")
    assert page["total"] == len(page["rows"])
    return {row["id"]: row["labels"] for row in page["rows"]}
