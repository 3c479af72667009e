"""Typed charts in every form that should please both checkers."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal, TypedDict, assert_type

from antiphon import (
    Action,
    Actor,
    Enqueue,
    Machine,
    MachineConfig,
    Scope,
    Snapshot,
    StateConfig,
    TaskScope,
    and_,
    assert_event,
    assign,
    cancel,
    create_actor,
    create_machine,
    emit,
    enqueue_actions,
    from_callback,
    from_stream,
    from_task,
    get_microsteps,
    initial_transition,
    log,
    not_,
    or_,
    raise_,
    send_to,
    setup,
    spawn_child,
    state_in,
    stop_child,
    takes,
    transition,
)
from tests.typing.cases.chat import ChatContext, ChatEvent, ChatState, Chunk, Complete, Send, appended, chat, machine

# Machines, actors and snapshots carry the types.
assert_type(machine, Machine[ChatContext, ChatEvent, ChatState])
actor = create_actor(machine, clock=None).start()
assert_type(actor, Actor[Snapshot[ChatContext, ChatEvent, ChatState], ChatEvent])
actor.send({"type": "SEND", "prompt": "Hello"})
actor.send({"type": "TEXT_CHUNK", "content": "Hi"})
actor.send(Complete(type="COMPLETE"))
assert_type(actor.get_snapshot().context["text"], str)
assert actor.get_snapshot().matches("complete")

snapshot, effects = initial_transition(machine)
assert_type(snapshot, Snapshot[ChatContext, ChatEvent, ChatState])
snapshot, effects = transition(machine, snapshot, {"type": "SEND", "prompt": "Hello"})
snapshot, effects = transition(machine, snapshot, {"type": "TEXT_CHUNK", "content": "Hi"})
assert_type(snapshot, Snapshot[ChatContext, ChatEvent, ChatState])
assert snapshot.can({"type": "COMPLETE"})
assert snapshot.matches("streaming")
assert not snapshot.matches({"streaming": "somewhere"})
assert len(get_microsteps(machine, snapshot, {"type": "COMPLETE"})) == 1
assert machine.resolve_state("idle", context={"text": "", "chunks": 0}).matches("idle")


# Two type arguments are enough, and none too.
def read(
    two: Machine[ChatContext, ChatEvent],
    one: Snapshot[ChatContext],
    untyped: Machine,
    event: ChatEvent,
    loose: dict[str, Any],
) -> str:
    after, _ = transition(two, one, event)
    transition(untyped, initial_transition(untyped)[0], loose)
    create_actor(untyped).send(loose)
    return after.context["text"]


assert read(machine, snapshot, create_machine({}), {"type": "COMPLETE"}, {"type": "X"}) == "Hi"


# Functions may take less, more, and wider types than the chart has.
def on_context(context: ChatContext) -> str:
    return context["text"]


def on_nothing() -> int:
    return 0


def on_any_mapping(context: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    return str(event["type"])


def with_params(context: ChatContext, event: ChatEvent, params: dict[str, int]) -> int:
    return context["chunks"] + params["by"]


def with_scope(context: ChatContext, event: ChatEvent, *, scope: Scope) -> None:
    print(scope.self)


def with_everything(context: ChatContext, event: ChatEvent, params: Any, scope: Scope) -> None:
    print(scope.system, params)


def with_scope_only(*, scope: Scope) -> None:
    print(scope.system)


def choose(context: ChatContext, event: ChatEvent, enqueue: Enqueue[ChatContext, ChatEvent]) -> None:
    if enqueue.check("hasText") or enqueue.check(lambda context, event: context["chunks"] > 0):
        enqueue("appendText")
        enqueue.assign({"chunks": 0})
        enqueue.raise_({"type": "COMPLETE"})


def choose_in_scope(context: ChatContext, event: ChatEvent, enqueue: Enqueue, *, scope: Scope) -> None:
    enqueue(on_any_mapping)


@takes(Chunk)
def with_chunk_and_params(context: ChatContext, event: Chunk, params: dict[str, int]) -> str:
    return event["content"] * params["times"]


@takes(Send)
def with_send_and_scope(context: ChatContext, event: Send, *, scope: Scope) -> None:
    print(event["prompt"], scope.self)


many = setup[ChatContext, ChatEvent](
    actions={
        "context": on_context,
        "nothing": on_nothing,
        "mapping": on_any_mapping,
        "params": with_params,
        "scope": with_scope,
        "everything": with_everything,
        "scopeOnly": with_scope_only,
        "lambda": lambda context, event: print(context["text"], event["type"]),
        "assigned": assign({"chunks": with_params, "text": on_context}),
        "constants": assign({"chunks": 0, "text": ""}),
        "assignedAtOnce": assign(lambda context, event: {"chunks": context["chunks"] + 1}),
        "oneEvent": assign({"text": appended}),
        "oneEventLambda": assign({"text": takes(Chunk)(lambda context, event: context["text"] + event["content"])}),
        "oneEventAndParams": assign({"text": with_chunk_and_params}),
        "oneEventAndScope": with_send_and_scope,
        "choose": enqueue_actions(choose),
        "chooseInScope": enqueue_actions(choose_in_scope),
        "raise": raise_({"type": "COMPLETE"}, delay="soon"),
        "send": send_to("child", lambda context, event: {"type": "HELLO", "text": context["text"]}),
        "emit": emit({"type": "notice"}),
        "log": log(lambda context, event: context["text"]),
        "cancel": cancel("timer"),
        "spawn": spawn_child("child"),
        "stop": stop_child("child"),
    },
    guards={
        "hasText": lambda context, event: context["text"] != "",
        "params": lambda context, event, params: context["chunks"] > params["least"],
        "one": lambda context: context["chunks"] == 1,
        "all": and_(["hasText", not_("one"), or_([state_in("#chat"), on_any_mapping, {"type": "params"}])]),
    },
    actors={"child": from_task(lambda prompt: prompt)},
    delays={"soon": 10, "later": lambda context, event: context["chunks"] * 1000},
)
assert_type(many.create_machine({}), Machine[ChatContext, ChatEvent, Any])
assert_type(many.extend(actions={"more": with_scope}), setup[ChatContext, ChatEvent, Any])


# A setup's own actions know its types, lambdas included.
whole = chat.assign(lambda context, event: {**context, "text": context["text"].strip()})
assert_type(whole, Action[ChatContext, ChatEvent])
emptied = chat.assign(lambda context: {**context, "text": ""})
longer = chat.assign(lambda context, event, params: {**context, "text": context["text"] + params["text"]})
reset = chat.assign({"text": "", "chunks": lambda context, event: len(context["text"])})
done = chat.raise_({"type": "COMPLETE"}, delay=10)
hello = chat.raise_(lambda context: {"type": "SEND", "prompt": context["text"]})
again = chat.raise_(lambda context, event: {"type": "SEND", "prompt": context["text"]})
shout = chat.create_action(lambda context, event: print(context["text"].upper()))
streaming = chat.create_state_config(
    {
        "entry": [reset, "appendText"],
        "on": {"TEXT_CHUNK": {"actions": ["appendText", shout], "guard": and_(["hasText"])}, "COMPLETE": "complete"},
        "after": {1000: "complete", "soon": [{"target": "idle", "guard": "hasText"}, "complete"]},
        "invoke": {"src": "child", "onDone": {"target": "complete", "actions": whole}},
    }
)
assert_type(streaming, StateConfig)
config: MachineConfig[ChatContext] = {
    "initial": "streaming",
    "context": {"text": "", "chunks": 0},
    "states": {"idle": {}, "streaming": streaming, "complete": {"entry": lambda context, event: None}},
}
chat.extend(actors={"child": from_task(lambda prompt: prompt)}, delays={"soon": 1}).create_machine(config)
chat.create_machine({**config, "states": {"streaming": {}}})


# One event of the union: by its type, or by its class.
def by_type(event: ChatEvent) -> str:
    if event["type"] == "SEND":
        return event["prompt"]
    match event["type"]:
        case "TEXT_CHUNK":
            return event["content"]
        case "COMPLETE":
            return ""


def by_class(event: ChatEvent) -> str:
    assert_type(assert_event(event, ["SEND", "TEXT_*"]), ChatEvent)
    return assert_event(event, Send)["prompt"]


# Without type arguments, a setup takes them from functions that are annotated.
inferred = setup(guards={"text": lambda context, event: True}, actions={"text": on_context})
assert_type(inferred.create_machine({}), Machine[ChatContext, Any, Any])


class Ping(TypedDict):
    type: Literal["PING"]


class Empty(TypedDict):
    pass


pings = create_actor(setup[Empty, Ping]().create_machine({}))
pings.send({"type": "PING"})


# The functions of tasks, streams and callbacks know their scope.
async def charge(input: dict[str, int], scope: TaskScope) -> str:
    assert_type(scope.key, str)
    assert_type(scope.attempt, int)
    scope.on_cancel(lambda: print("cancelled"))
    return f"{scope.key}/{scope.attempt}: {input['cents']}"


async def texts(input: None, *, scope: TaskScope) -> AsyncIterator[str]:
    yield scope.key


def listen(scope: TaskScope) -> Callable[[], None]:
    scope.receive(lambda event: scope.send_back({"type": "HEARD", "event": event}, join="event"))
    return lambda: print(scope.key)


chat.extend(actors={"charge": from_task(charge), "texts": from_stream(texts), "listen": from_callback(listen)})
