"""The events that an actor takes now: guards that need no key of an event decide, others when it is sent."""

from typing import Any

import pytest

from antiphon import create_machine, initial_transition
from antiphon.runtime.admission import may_take
from tests.fixtures.situations import NAMES, golden_walks, machine_of
from tests.xstate.machines import walks

MOST_WALKS = 40


def door(locked: bool) -> Any:
    """A door that opens unless it is locked, and takes keys."""
    guards = {
        "isUnlocked": lambda context, event: not context["locked"],
        "fits": lambda context, event: event["key"] == "brass",
        "hasKey": lambda context, event: "key" in event,
        "isLong": lambda context, event: len(event) > 2,
    }
    handlers = {
        "OPEN": {"guard": "isUnlocked", "actions": "note"},
        "UNLOCK": {"guard": "fits", "actions": "note"},
        "TRY": {"guard": "hasKey", "actions": "note"},
        "SHOUT": {"guard": "isLong", "actions": "note"},
        "KNOCK": {"actions": "note"},
        "KICK": [{"guard": "isUnlocked", "actions": "note"}, {"guard": "fits", "actions": "note"}],
        "x.*": {"actions": "note"},
    }
    config = {"id": "door", "context": {"locked": locked}, "on": handlers}
    return create_machine(config, guards=guards, actions={"note": lambda context, event: None})


@pytest.mark.parametrize("locked", [True, False])
def test_a_guard_on_the_context_decides_and_one_on_the_event_does_not(locked: bool) -> None:
    snapshot, _ = initial_transition(door(locked))
    types = ("OPEN", "UNLOCK", "TRY", "SHOUT", "KNOCK", "KICK", "x.*")

    refused = {type for type in types if not may_take(snapshot, type)}
    assert refused == ({"OPEN"} if locked else set())


@pytest.mark.parametrize("name", NAMES)
def test_every_event_that_is_taken_on_a_walk_is_listed(name: str) -> None:
    number = 0
    for walk in golden_walks(name)[:MOST_WALKS]:
        walked = walks.Walk(machine_of(name), walk["input"])
        for step in walk["walk"]:
            snapshot = walked.actor.get_snapshot()
            if isinstance(step, dict) and "to" not in step and snapshot.status == "active" and snapshot.can(step):
                assert may_take(snapshot, step["type"]), (snapshot.value, step)
                number += 1
            walked.take(step)

    assert number or name == "crew"
