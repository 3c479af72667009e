"""`antiphon machines`: which machines check their events, and the events of one."""

import json

import pytest

from antiphon.cli.main import main

MODULE = """
from typing import Literal, TypedDict
from antiphon import create_machine, setup

class Ring(TypedDict):
    "Ring the bell."
    type: Literal["RING"]
    times: int

bare = create_machine({"id": "bare", "on": {"RING": {}}})
door = setup(events=Ring, actors={"bare": bare}).create_machine({"id": "door", "on": {"RING": {}}})
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "bells.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return ["--of", "bells:door"]


def test_the_list_says_whether_events_are_checked(own, capsys):
    assert main(["machines", *own]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "door  1 event, checked; 1 may come from outside",
        "bare  events are not declared, so they are not checked",
    ]


def test_every_machine_of_antiphon_checks_its_events(capsys):
    assert main(["machines", "list", "--json"]) == 0

    records = json.loads(capsys.readouterr().out)
    assert {record["id"] for record in records if record["checked"]} == {record["id"] for record in records}
    assert len(records) == 9


def test_the_events_of_a_machine_are_shown(capsys):
    assert main(["machines", "show", "permission"]) == 0

    assert capsys.readouterr().out.splitlines()[:7] == [
        "ALLOW: A person allows the calls, once or by a scope that was offered; "
        "`outside` runs commands without the sandbox.",
        "  id: a text or null, optional",
        "  scope: one of 'once', 'command', 'folder', 'host', 'tool' or null, optional",
        "  outside: true or false or null, optional",
        "  reason: a text or null, optional",
        "  arguments: an object or null, optional",
        "DENY: A person denies the calls.",
    ]


def test_internal_events_are_marked(capsys):
    main(["machines", "show", "chat"])

    assert "REPLY.COMPLETED (internal): The report to a parent" in capsys.readouterr().out


def test_events_are_printed_as_json_schemas(own, capsys):
    assert main(["machines", "show", "door", "--json", *own]) == 0

    schema = json.loads(capsys.readouterr().out)["schemas"]["RING"]
    assert schema["properties"] == {"type": {"const": "RING"}, "times": {"type": "integer"}}
    assert schema["additionalProperties"] is False


def test_an_unknown_machine_is_refused_with_the_known_ones(own, capsys):
    assert main(["machines", "show", "window", *own]) == 2

    assert "there is no machine 'window'; known: bare, door" in capsys.readouterr().err


def test_a_machine_without_declarations_shows_that_it_is_not_checked(own, capsys):
    assert main(["machines", "show", "bare", *own]) == 0

    assert capsys.readouterr().out == "bare  events are not declared, so they are not checked\n"
