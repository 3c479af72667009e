"""Charts without a single annotation, as small programs write them."""

from dataclasses import dataclass
from datetime import date
from enum import Enum

from antiphon import (
    GrowingText,
    and_,
    assign,
    cancel,
    create_actor,
    create_machine,
    emit,
    enqueue_actions,
    forward_to,
    from_task,
    from_transition,
    get_microsteps,
    initial_transition,
    log,
    not_,
    or_,
    raise_,
    send_parent,
    send_to,
    setup,
    spawn_child,
    state_in,
    stop_child,
    transition,
)

machine = create_machine(
    {
        "id": "chat",
        "initial": "idle",
        "context": {"text": ""},
        "states": {
            "idle": {"on": {"SEND": "streaming"}},
            "streaming": {
                "on": {
                    "TEXT_CHUNK": {"actions": "appendText"},
                    "COMPLETE": {"guard": "hasText", "target": "complete"},
                }
            },
            "complete": {"type": "final"},
        },
    },
    actions={"appendText": assign({"text": lambda context, event: context["text"] + event["content"]})},
    guards={"hasText": lambda context, event: context["text"] != ""},
)
actor = create_actor(machine, input=None, snapshot=None, clock=None).start()
actor.subscribe(lambda snapshot: print(snapshot.value, snapshot.context))
actor.send({"type": "SEND"})
snapshot, effects = initial_transition(machine)
snapshot, effects = transition(machine, snapshot, {"type": "SEND"})
assert snapshot.matches("streaming")
assert not snapshot.can({"type": "COMPLETE"})
assert snapshot.context["text"] == ""


class Color(Enum):
    RED = 1


@dataclass
class Point:
    x = 1


config = {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": ["add", "print"], "guard": "few"}}}
counter = setup(
    actions={
        "add": assign({"n": lambda context, event: context["n"] + event["by"]}),
        "addParams": assign({"n": lambda context, event, params: context["n"] + params["by"]}),
        "constants": assign(
            {"a": [], "b": {}, "c": {"x": [1]}, "d": None, "e": 1.5, "f": GrowingText("x"), "g": Color.RED}
        ),
        "today": assign({"at": date(2024, 1, 1), "tags": {"a", "b"}, "point": Point()}),
        "all": assign(lambda context, event: {"n": context["n"] + event["by"]}),
        "print": lambda context, event: print(context["n"], event["by"]),
        "context": lambda context: print(context["n"]),
        "nothing": lambda: None,
        "params": lambda context, event, params: print(params["x"]),
        "scope": lambda context, event, scope: scope.self.send({"type": "X"}),
        "raise": raise_({"type": "MORE"}),
        "raiseLater": raise_(lambda context, event: {"type": "MORE", "n": context["n"]}, delay="slow"),
        "send": send_to("child", lambda context, event: {"type": "HELLO", "n": event["n"]}),
        "emit": emit({"type": "x"}),
        "choose": enqueue_actions(lambda context, event, enqueue: enqueue.assign({"n": context["n"]})),
        "log": log(lambda context, event: context["n"]),
        "cancel": cancel(lambda context, event: context["n"]),
        "spawn": spawn_child("child", id=lambda context, event: context["n"]),
        "spawnWith": spawn_child("child", input=Point()),
        "stopActor": stop_child(actor),
        "stop": stop_child(lambda context, event: context["n"]),
        "parent": send_parent({"type": "X"}, delay=10),
        "forward": forward_to("child"),
    },
    guards={
        "few": lambda context, event: context["n"] < 3,
        "many": not_("few"),
        "both": and_(["few", lambda context, event: event["by"] > 0, or_([state_in("#x"), {"type": "few"}])]),
    },
    actors={"child": from_task(lambda prompt: None), "sum": from_transition(lambda state, event: state, 0)},
    delays={"slow": 1000, "varying": lambda context, event: context["n"] * 10},
)
counted = counter.create_machine(config)
running = create_actor(counted).start()
running.send({"type": "ADD", "by": 2})
assert running.get_snapshot().context["n"] == 2
state, effects = initial_transition(counted)
state, effects = transition(counted, state, {"type": "ADD", "by": 2})
assert len(get_microsteps(counted, state, {"type": "ADD", "by": 2})) == 1

add = assign({"n": lambda context, event: context["n"] + event["by"]})
small = and_([lambda context, event: context["n"] < 3])
more = counter.extend(actions={"add": add}, guards={"few": small})
inline = more.create_machine({"context": {"n": 0}, "entry": [lambda context: None], "on": {"X": {"guard": small}}})
provided = machine.provide(
    actions={"appendText": lambda context, event: print(event["content"])}, guards={"hasText": lambda context: True}
)
task = create_actor(from_task(lambda prompt: None))
task.subscribe(lambda snapshot: print(snapshot.output))
