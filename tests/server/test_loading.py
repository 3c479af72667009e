"""Routes that are loaded when they are needed, in a server that a window has started."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.server.routes import MODULES, all_contracts, load_routes
from tests.fixtures.server import CheckedClient, live_server

LOADED = """
import sys, antiphon.server.running
print(*(name for name in sys.modules if name.startswith("antiphon.server.facades.") or "routes." in name))
"""


def test_a_server_starts_without_the_modules_of_other_protocols() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    later = {f"antiphon.server.{module}" for module in MODULES}

    assert "antiphon.server.routes.threads" in done.stdout.split()
    assert later.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_routes_are_found_by_the_first_part_of_their_paths(module: str) -> None:
    firsts = {contract.path.split("/")[1] for contract in load_routes(module).contracts}

    assert firsts == set(MODULES[module])


@pytest.fixture
def window(short_folder: Path) -> Iterator[CheckedClient]:
    with (
        live_server(short_folder / "s.db", socket=short_folder / "s.sock", mode="local") as server,
        server.window() as client,
    ):
        yield client


def test_they_are_loaded_by_the_first_request(window: CheckedClient) -> None:
    assert window.get("/v1/models")["object"] == "list"
    assert window.get("/v1/models")["object"] == "list"
    assert window.get("/charts")["items"]
    assert window.problem("GET", "/v2/models") == (404, "unknown_route")


def test_the_document_has_all_routes(window: CheckedClient) -> None:
    document = window.get("/openapi.json")

    assert set(document["paths"]) == {contract.path for _, contract in all_contracts()}
