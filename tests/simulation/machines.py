"""Small machines whose contexts tell what happened to them: letters, tasks, streams, timers and children."""

from antiphon import assign, cancel, from_callback, raise_, send_parent, setup, spawn_child, stop_child
from antiphon.testing.simulation.services import (
    simulated_calculation,
    simulated_code,
    simulated_function,
    simulated_stream,
    simulated_task,
)
from antiphon.testing.simulation.world import WORLD

DELTAS = 4
CALLS = ("report", "once", "repeat", "stream", "function", "calculation", "chain")
IDLE = {1: "idle", 2: "ready", 3: "free"}  # name of a state in each release
LINKS = 3  # calls of a chain, each of which is made when the one before is answered


@simulated_code
def note(context, event):
    return {**context, "notes": [*context["notes"], event["n"]]}


@simulated_code
def call(context, event):
    return {**context, "call": event["n"], "text": "", "links": 1}


@simulated_code
def append(context, event):
    text = event["snapshot"].context if "snapshot" in event else event["text"]
    return {**context, "text": context["text"] + (text or "")}


@simulated_code
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
    @simulated_code
    def increment(context, event):
        return {name: context[name] + 1}

    return assign(increment)


@simulated_code
def get_call(context, event):
    return context["call"]


@simulated_code
def get_tries(context, event):
    return context["tries"]


@simulated_code
def stamp(context, event, scope):
    return {"stamp": [scope.now, scope.new_id(), scope.random()]}


NOTE = {"NOTE": {"actions": ["note", "stamp", "shout"]}}


def _calling(src):
    ended = {"target": "idle", "actions": "outcome"}
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
            "after": {"soon": {"target": "idle", "actions": count("fired")}},
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
    "output": get_tries,
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
STARTER = {
    "id": "starter",
    "context": {"notes": [], "started": 0, "ended": 0},
    "initial": "working",
    "on": NOTE,
    "states": {
        "working": {
            "entry": count("started"),
            "exit": count("ended"),
            "invoke": {"id": "work", "src": "report", "onDone": "resting", "onError": "resting"},
            "after": {1000: "resting"},
        },
        "resting": {"after": {200: "idle"}},
        "idle": {"on": {"AGAIN": "working"}},
    },
}


def watch(input, scope):
    scope.send_back({"type": "TICK"})


def in_release(config, number):
    """Return a chart in a release: the first state of some has another name in each, and the context says which."""
    if number == 1:
        return config
    renamed = rename(config, IDLE[1], IDLE[number])
    return {**renamed, "version": str(number), "context": {**config["context"], "release": number}}


def rename(value, old, new):
    """Replace a name wherever it is a key or a text."""
    if isinstance(value, dict):
        return {rename(key, old, new): rename(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [rename(inner, old, new) for inner in value]
    return new if value == old else value


def migrating_to(number):
    """Return the function that migrates snapshots to a release."""

    @simulated_code
    def migrate(snapshot, version):
        if "value" not in snapshot:
            return snapshot
        children = snapshot["children"].items()
        return {
            **snapshot,
            "value": rename(snapshot["value"], IDLE[int(version or 1)], IDLE[number]),
            "context": {**snapshot["context"], "release": number},
            "children": {id: {**child, "snapshot": migrate(child["snapshot"], version)} for id, child in children},
        }

    return migrate


def machines(services, shout, release=1):
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
        "isLinked": simulated_code(lambda context, event: context["links"] < LINKS),
        "isTired": simulated_code(lambda context, event: context["tries"] > 2),
        "isAlone": simulated_code(lambda context, event: not context["extra"]),
    }
    delays = {"soon": simulated_code(lambda context, event: 100)}
    actors = {**services, "watch": from_callback(watch)}
    child = setup(actions=actions, actors=actors, guards=guards).create_machine(in_release(CHILD, release))
    builder = setup(actions=actions, actors={**actors, "child": child}, guards=guards, delays=delays)
    migrate = None if release == 1 else migrating_to(release)
    configs = [in_release(config, release) for config in (CALLER, ALARM, PARENT, STARTER)]
    return [builder.create_machine(config, migrate=migrate) for config in configs]


@simulated_code
def shout(context, event):
    WORLD.get().history.performed[event["n"]] += 1


SERVICES = {
    "report": simulated_task("report", DELTAS),
    "once": simulated_task("once"),
    "repeat": simulated_task("repeat"),
    "stream": simulated_stream("report", DELTAS),
    "function": simulated_function("once"),
    "calculation": simulated_calculation(),
}
MACHINES = machines(SERVICES, shout)
RELEASES = [machines(SERVICES, shout, release=2), machines(SERVICES, shout, release=3)]
