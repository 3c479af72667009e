"""The command `antiphon inspect`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from antiphon.cli.inspect import inspector_address
from tests.fixtures.command import antiphon

PATIENCE_S = 30
MODULE = """
from antiphon import assign, setup

machine = setup(actions={"count": assign({"n": lambda context, event: context["n"] + 1})}).create_machine(
    {
        "id": "counter",
        "context": lambda input: {"n": input["n"] if input else 0},
        "on": {"COUNT": {"actions": "count"}},
    }
)
"""
TYPES = """
from typing import Literal, TypedDict


class Count(TypedDict):
    type: Literal["COUNT"]


class Input(TypedDict):
    n: int
"""
DOOR = {
    "id": "door",
    "initial": "closed",
    "states": {"closed": {"on": {"OPEN": {"target": "open", "guard": "may"}}}, "open": {}},
}


@contextmanager
def inspected(folder: Path, *words: str) -> Iterator[httpx2.Client]:
    """A client that has followed the printed address of a process, which is ended by its id."""
    command = [sys.executable, "-m", "antiphon", "inspect", "--no-open", *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, "PYTHONWARNINGS": "error"}
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        with httpx2.Client(base_url=address.partition("?")[0], timeout=PATIENCE_S) as client:
            redirect = client.get(address)
            client.headers["x-led-to"] = redirect.headers["location"]
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        process.stdout.close()


def test_a_machine_of_a_module_is_driven_from_the_page(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    with inspected(tmp_path, "shop:machine", "--input", '{"n": 4}') as client:
        assert client.headers["x-led-to"] == "/inspector/counter?of=shop%3Amachine"
        assert client.get("/inspector/counter").status_code == 200
        sent = client.post("/actors/counter/events", json={"event": {"type": "COUNT"}})
        snapshot = client.get("/actors/counter/snapshot").json()["snapshot"]
        charts = [row["id"] for row in client.get("/charts").json()["items"]]

    assert sent.status_code == 202
    assert snapshot["context"] == {"n": 5}
    assert "counter" in charts


def test_a_chart_in_a_file_has_placeholders(tmp_path: Path) -> None:
    (tmp_path / "door.json").write_text(json.dumps(DOOR))
    with inspected(tmp_path, "door.json") as client:
        client.post("/actors/door/events", json={"event": {"type": "OPEN"}})
        value = client.get("/actors/door").json()["actors"][0]["value"]

    assert client.headers["x-led-to"] == "/inspector/door"
    assert value == "open"


def test_the_address_signs_in_and_names_the_machine() -> None:
    address = inspector_address("http://127.0.0.1:1/", "t&x", "a/b", "m:order")

    query = parse_qs(urlsplit(address).query)
    assert query == {"token": ["t&x"], "to": ["/inspector/a%2Fb?of=m%3Aorder"]}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nothing"], "a machine of yours is module:name"),
        (["nothing:machine"], "cannot import"),
        (["nothing.json"], "cannot read nothing.json"),
        (["os:path"], "not a machine"),
    ],
)
def test_what_is_no_machine_is_refused(words: list[str], reason: str, tmp_path: Path) -> None:
    refused = antiphon("inspect", "--no-open", *words, cwd=tmp_path)

    assert refused.returncode == 2
    assert reason in refused.stderr


def test_an_input_that_the_machine_does_not_take_is_refused(tmp_path: Path) -> None:
    declared = MODULE.replace("setup(", "setup(events=Count, input=Input, ", 1)
    (tmp_path / "shop.py").write_text(f"{TYPES}\n{declared}")
    refused = antiphon("inspect", "--no-open", "shop:machine", "--input", '{"n": "four"}', cwd=tmp_path)

    assert (refused.returncode, "'counter' cannot be started" in refused.stderr) == (2, True)


def test_an_input_that_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "door.json").write_text(json.dumps(DOOR))
    refused = antiphon("inspect", "--no-open", "door.json", "--input", "{", cwd=tmp_path)

    assert (refused.returncode, "--input is not JSON" in refused.stderr) == (2, True)


def test_a_machine_with_the_name_of_one_of_antiphon_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thread.json").write_text(json.dumps({**DOOR, "id": "thread"}))
    refused = antiphon("inspect", "--no-open", "thread.json", cwd=tmp_path)

    assert refused.returncode != 0
    assert "give yours another id" in refused.stderr
