"""Requests made from the server's own schema, with values of every kind in every field."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import strategies as st

from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from tests.abuse.table import Abuse
from tests.builders.hostile.changed_inputs import fuzz
from tests.builders.hostile.odd_bodies import Shapes
from tests.builders.trained_home import Idle

ABUSES = (
    Abuse(
        26,
        "Requests of any shape to every route",
        "500 requests made from the schema, 10,000 in `make fire`, the same each time",
        "no 5xx, and each refusal in the shape of every error",
    ),
)
LEAST_OPERATIONS = 100
MOST_REFUSED = 0.9
"""Share of requests that may be refused; otherwise routes would never be reached."""
LEAST_PLACES = 100
HALF = "\ud800"
ODD = {
    "half a character": HALF,
    "a number of 31 digits": 10**30,
    "31 digits": str(10**30),
    "5,000 digits": "9" * 5_000,
}
_PARAMETER = re.compile(r"\{(\w+)\}")
_JSON = "application/json"


@pytest.fixture
def live_studio(studio: Studio, monkeypatch) -> LiveStudio:
    """A studio that starts no process for a job, and asks no hub for an encoder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return open_live_studio(replace(studio, executor=Idle()))


@pytest.fixture
def known(client: TestClient, trained: str) -> dict[str, list[str]]:
    """What exists, by the name of the parameter that stands for it in paths."""
    client.post("/api/projects", json={"name": "other"})
    rows = client.get("/api/projects/p/utterances").json()["rows"]
    intents = client.get("/api/projects/p/overview").json()["intents"]
    return {
        "project": ["p"],
        "number": ["1"],
        "utterance": [row["id"] for row in rows],
        "intent_id": [intent["id"] for intent in intents],
    }


def operations(client: TestClient) -> list[Any]:
    schema = schemathesis.openapi.from_dict(client.get("/api/schema").json())
    found = [result.ok() for result in schema.get_all_operations()]
    assert len(found) >= LEAST_OPERATIONS
    return found


def addressed(operation: Any, case: Any, known: dict[str, list[str]], choice: int) -> Any:
    """Let three of four requests reach something that exists; renaming and deleting another."""
    for name, value in (case.path_parameters or {}).items():
        whole = operation.path.endswith("/projects/{project}")
        there = ["other"] if whole and name == "project" else known.get(name, [value])
        if choice % 4:
            case.path_parameters[name] = there[choice % len(there)]
    return case


def sent(client: TestClient, case: Any) -> Any:
    words = case.as_transport_kwargs(base_url=str(client.base_url))
    words.pop("cookies", None)
    if isinstance(words.get("data"), bytes):
        words["content"] = words.pop("data")
    return client.request(**words)


@pytest.mark.parametrize(
    "n_cases",
    [
        pytest.param(500, id="quick", marks=pytest.mark.quick),
        pytest.param(10_000, id="fire", marks=pytest.mark.fire),
    ],
)
def test_no_request_breaks_the_server(
    client: TestClient, known: dict[str, list[str]], n_cases: int
) -> None:
    """A number of 65 bits was a 500 on ten routes, a name of half a character one on two."""
    statuses: Counter[int] = Counter()
    requests = st.sampled_from(operations(client)).flatmap(
        lambda operation: st.tuples(
            st.just(operation), operation.as_strategy(), st.integers(0, 1_000)
        )
    )

    def check(request: tuple[Any, Any, int]) -> None:
        operation, case, choice = request
        answer = sent(client, addressed(operation, case, known, choice))
        statuses[answer.status_code] += 1
        assert answer.status_code < 500, (operation.label, answer.text)
        if answer.status_code >= 400:
            assert answer.json()["message"], operation.label

    fuzz(n_cases, requests, check)
    refused = sum(number for status, number in statuses.items() if status >= 400)
    assert sum(statuses.values()) >= n_cases
    assert refused / sum(statuses.values()) < MOST_REFUSED, statuses


def odd_requests(
    schema: dict[str, Any], known: dict[str, list[str]], value: object
) -> Iterator[tuple[str, str, str | None]]:
    """Yield method, address and body; each place of a body or a query has the odd value once."""
    shapes = Shapes(schema["components"]["schemas"])
    for path, methods in schema["paths"].items():
        there = {**known, "project": ["other"]} if path.endswith("/projects/{project}") else known
        address = _PARAMETER.sub(lambda name, ids=there: quote(ids.get(name[1], ["1"])[0]), path)
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema")
            usual = None if body is None else json.dumps(shapes.usual(body))
            for query in shapes.odd_queries(operation.get("parameters", ()), value):
                asked = urlencode(query, doseq=True, errors="surrogatepass")
                yield method, f"{address}?{asked}", usual
            if body is not None:
                yield from ((method, address, json.dumps(one)) for one in shapes.odd(body, value))


@pytest.mark.parametrize("value", ODD.values(), ids=list(ODD))
def test_one_odd_value_in_any_field_breaks_no_route(
    client: TestClient, known: dict[str, list[str]], value: object
) -> None:
    """Half of a character in an id, a name or a setting was a 500 on nine routes.

    So was a data version of 5,000 digits.
    """
    n_bodies = 0
    for method, address, body in odd_requests(client.get("/api/schema").json(), known, value):
        headers = {} if body is None else {"Content-Type": _JSON}
        answer = client.request(method.upper(), address, content=body, headers=headers)
        assert answer.status_code < 500, (method, address[:200], body, answer.text)
        if answer.status_code >= 400:
            assert answer.json()["message"], (method, address[:200])
        if body is not None and "?" not in address:
            n_bodies += 1
            assert value != HALF or answer.status_code == 422, (address, body)
    assert n_bodies >= LEAST_PLACES
