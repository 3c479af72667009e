"""Small machines whose contexts tell what happened to them: letters, tasks, streams, timers and children."""

from antiphon import assign, cancel, from_callback, raise_, send_parent, setup, spawn_child, stop_child
from antiphon.testing.simulation.services import (
    simulated_calculation,
    simulated_function,
    simulated_stream,
    simulated_task,
)
from antiphon.testing.simulation.world import WORLD

DELTAS = 4
CALLS = ("report", "once", "repeat", "stream", "function", "calculation", "chain")
LINKS = 3  # calls of a chain, each of which is made when the one before is answered


def note(context, event):
    return {**context, "notes": [*context["notes"], event["n"]]}


def call(context, event):
    return {**context, "call": event["n"], "text": "", "links": 1}


def append(context, event):
    text = event["snapshot"].context if "snapshot" in event else event["text"]
    return {**context, "text": context["text"] + (text or "")}


def outcome(context, event):
    match event["type"].split("."):
        case ["xstate", "done", *_]:
            result = event["output"] or {"input": context["call"], "late": False}
            how = "a stranger's result" if result["input"] != context["call"] else "late" if result["late"] else "done"
        case ["xstate", "error", *_]:
            how = event["error"].get("code", event["error"]["name"])
        case _:
            how = event["type"]
    return {**context, "outcomes": [*context["outcomes"], [context["call"], how, context["text"]]], "call": None}


def count(name):
    return assign({name: lambda context, event: context[name] + 1})


def stamp(context, event, scope):
    return {"stamp": [scope.now, scope.new_id(), scope.random()]}


NOTE = {"NOTE": {"actions": ["note", "stamp", "shout"]}}


def _calling(src):
    ended = {"target": "idle", "actions": "outcome"}
    get_call = lambda context, event: context["call"]  # noqa: E731
    invoke = {"id": "call", "src": src, "input": get_call, "onDone": ended, "onError": ended}
    if src == "chain":
        again = {"guard": "isLinked", "target": "chain", "reenter": True, "actions": count("links")}
        invoke |= {"src": "repeat", "onDone": [again, ended]}
    return {
        "invoke": {**invoke, "onSnapshot": {"actions": "append"}} if src == "stream" else invoke,
        "on": {"CANCEL": ended, "DELTA": {"actions": "append"}},
        # What is done once only is waited for as long as it takes.
        **({"after": {1000: ended}} if src != "once" else {}),
    }


CALLER = {
    "id": "caller",
    "context": {"notes": [], "outcomes": [], "call": None, "text": "", "links": 0},
    "initial": "idle",
    "on": NOTE,
    "states": {
        "idle": {"on": {f"GO_{src.upper()}": {"target": src, "actions": "call"} for src in CALLS}},
        **{src: _calling(src) for src in CALLS},
    },
}
ALARM = {
    "id": "alarm",
    "context": {"notes": [], "armed": 0, "rearmed": 0, "disarmed": 0, "fired": 0, "rings": 0},
    "initial": "idle",
    "on": {
        **NOTE,
        "PLAN": {"actions": raise_({"type": "RING"}, delay=150, id="ring")},
        "UNPLAN": {"actions": cancel("ring")},
        "RING": {"actions": count("rings")},
    },
    "states": {
        "idle": {"on": {"ARM": {"target": "armed", "actions": count("armed")}}},
        "armed": {
            "after": {100: {"target": "idle", "actions": count("fired")}},
            "on": {
                "ARM": {"target": "armed", "reenter": True, "actions": [count("armed"), count("rearmed")]},
                "DISARM": {"target": "idle", "actions": count("disarmed")},
            },
        },
    },
}
CHILD = {
    "id": "child",
    "context": {"notes": [], "tries": 0},
    "initial": "thinking",
    "on": NOTE,
    "invoke": {"id": "watch", "src": "watch"},
    "states": {
        "thinking": {
            "entry": count("tries"),
            "invoke": {"id": "thought", "src": "report", "onDone": "waiting", "onError": "resting"},
            "after": {2000: "resting"},
        },
        "resting": {"after": {50: [{"target": "over", "guard": "isTired"}, {"target": "thinking"}]}},
        "waiting": {"after": {80: "over"}},
        "over": {"type": "final", "entry": send_parent({"type": "BYE"})},
    },
    "output": lambda context, event: context["tries"],
}
PARENT = {
    "id": "parent",
    "context": {"notes": [], "started": 0, "done": 0, "aborted": 0, "byes": 0, "extra": False},
    "initial": "idle",
    "on": {
        **NOTE,
        "SPAWN": {"guard": "isAlone", "actions": [spawn_child("child", id="extra"), assign({"extra": True})]},
        "DISMISS": {"actions": [stop_child("extra"), assign({"extra": False})]},
        "BYE": {"actions": count("byes")},
    },
    "states": {
        "idle": {"on": {"START": {"target": "working", "actions": count("started")}}},
        "working": {
            "invoke": {"id": "kid", "src": "child", "onDone": {"target": "idle", "actions": count("done")}},
            "on": {"ABORT": {"target": "idle", "actions": count("aborted")}},
        },
    },
}


def watch(input, scope):
    scope.send_back({"type": "TICK"})


def machines(services, shout):
    """The machines, with a service for each of `CALLS`, and what NOTE does to the world."""
    actions = {
        "note": assign(note),
        "stamp": assign(stamp),
        "shout": shout,
        "call": assign(call),
        "append": assign(append),
        "outcome": assign(outcome),
    }
    guards = {
        "isLinked": lambda context, event: context["links"] < LINKS,
        "isTired": lambda context, event: context["tries"] > 2,
        "isAlone": lambda context, event: not context["extra"],
    }
    actors = {**services, "watch": from_callback(watch)}
    child = setup(actions=actions, actors=actors, guards=guards).create_machine(CHILD)
    builder = setup(actions=actions, actors={**actors, "child": child}, guards=guards)
    return [builder.create_machine(config) for config in (CALLER, ALARM, PARENT)]


def shout(context, event):
    WORLD.get().history.performed[event["n"]] += 1


MACHINES = machines(
    {
        "report": simulated_task("report", DELTAS),
        "once": simulated_task("once"),
        "repeat": simulated_task("repeat"),
        "stream": simulated_stream("report", DELTAS),
        "function": simulated_function("once"),
        "calculation": simulated_calculation(),
    },
    shout,
)
