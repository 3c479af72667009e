"""The machines that the runtime is measured with."""

from __future__ import annotations

from typing import Any

from antiphon import Machine, assign, create_machine

COUNT = {"actions": "count"}


def two_steps() -> Machine[Any, Any]:
    """Two states that take turns, and a count of the steps."""
    config = {
        "id": "loop",
        "initial": "ping",
        "context": {"n": 0},
        "states": {
            "ping": {"on": {"GO": {"target": "pong", **COUNT}}},
            "pong": {"on": {"GO": {"target": "ping", **COUNT}}},
        },
    }
    return create_machine(config, actions={"count": assign({"n": lambda context, event: context["n"] + 1})})


def conversation() -> Machine[Any, Any]:
    """Every event adds a message to the context."""
    config = {"id": "talk", "context": {"messages": []}, "on": {"SAY": {"actions": "append"}}}
    append = assign({"messages": lambda context, event: [*context["messages"], event["text"]]})
    return create_machine(config, actions={"append": append})
