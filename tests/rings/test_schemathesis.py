"""Requests that schemathesis makes from the OpenAPI document: no failure, and refusals without effect.

Half of the requests are for threads that exist, of all kinds. Streams are left out, because they do not end.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from antiphon.app import App
from antiphon.server.streams import MEDIA_TYPE
from tests.fixtures.server import CONTRACTS, LiveServer, live_server

schemathesis = pytest.importorskip("schemathesis", reason="run: make rings")
pytestmark = pytest.mark.rings
EXAMPLES = 12
TOPIC = "Should a city close its centre to private cars?"
OPERATIONS = [
    (contract.method, contract.path) for contract in CONTRACTS if MEDIA_TYPE not in contract.media_types
]  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with live_server() as server:
        yield server


@pytest.fixture(scope="module")
def schema(server):
    with server.client() as client:
        return schemathesis.openapi.from_dict(client.get("/openapi.json"))


def make_threads(server: LiveServer) -> list[str]:
    """A thread of each kind."""
    run = {"kind": "run", "model": "scripted:agents"}
    debate = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"]}
    with server.client() as client:
        return [client.chat(), *(client.post("/threads", body)["id"] for body in (run, debate))]


def last_steps(server: LiveServer) -> dict[str, int]:
    """The last step of every tree."""

    async def read(app: App) -> dict[str, int]:
        return {root.root: root.seq for root in await app.runtime.roots(limit=1000)}

    return dict(server.call(read))


def steps_from_outside(server: LiveServer, before: dict[str, int]) -> list[Any]:
    """The steps after some others that a letter from outside has made: the work of threads goes on meanwhile."""

    async def read(app: App) -> list[Any]:
        pages = [await app.runtime.store.entries(id, seq, 100) for id, seq in before.items()]
        return [entry for page in pages for entry in page if entry.letter is not None]

    return list(server.call(read))


def checks() -> list[Any]:
    """The checks of a response; what is refused beyond the schema, and how clients are let in, has tests of its own."""
    names = (
        "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    )  # fmt: skip
    return list(schemathesis.checks.CHECKS.get_by_names(names))


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: str(part))
def test_a_route_takes_any_request(server, schema, method, path):
    threads = make_threads(server)
    strategy = schema[path][method].as_strategy()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy, thread=st.sampled_from([None, *threads]))
    def send(case: Any, thread: str | None) -> None:
        for name in ("id", "root"):
            if thread is not None and name in (case.path_parameters or {}):
                case.path_parameters[name] = thread
        before = last_steps(server)
        response = case.call(base_url=server.address, headers={"authorization": f"Bearer {server.settings.token}"})
        case.validate_response(response, checks=checks())
        if response.status_code >= 400:
            assert last_steps(server).keys() == before.keys()
            assert steps_from_outside(server, before) == []

    send()
