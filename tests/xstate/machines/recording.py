"""Machines that keep what they were asked and what they did, so that XState can be given the same answers.

1. The chart and the bound functions are the machine's own; around each function there is one that writes it down.
2. What is written down, in order: guards with their outcomes, actions with what each of them did, delays, the inputs
   of invoked actors, the first context and the output; each with the type of the event it saw.
3. XState runs the same chart and is given these answers, each only if it asks for the same thing at the same place.
"""

import json
from typing import Any

from antiphon import assign, create_machine
from antiphon.chart import ops
from antiphon.chart.actions import Action
from antiphon.chart.effects import Cancel, Emit, Raise, SendTo, SpawnChild
from antiphon.chart.functions import from_input, full
from antiphon.chart.guards import And
from antiphon.chart.persist import to_json_value


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return to_json_value(value, "value")


class Tape:
    """What a machine was asked, as texts, and as answers for another engine."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.answers: list[list[Any]] = []
        self.context: Any = None
        self._event: Any = None

    def write(self, text: str, context: Any, event: Any) -> list[Any]:
        """A question about a context and an event; the answer goes into its second place."""
        if event["type"] != self._event:
            self._event = event["type"]
            self.log.append(f"@{self._event}")
        if context != self.context:
            self.log.append("!stale context")
        answer = [text, None]
        self.log.append(text)
        self.answers.append(answer)
        return answer

    def cut(self) -> tuple[list[str], list[list[Any]]]:
        """What was written since the last cut."""
        found = self.log, self.answers
        self.log = []
        self.answers = []
        self._event = None
        return found


class Traced:
    """The operation of a named action, written down."""

    def __init__(self, tape: Tape, name: str, params: Any, operation: Any, names: Any) -> None:
        self.tape = tape
        self.operation = operation
        self.names = names
        self.text = called(name, params)

    def run(self, work: Any) -> None:
        """Do it."""
        answer = self.tape.write(self.text, work.context, work.event)
        done: list[Any] = []
        answer[1] = done
        if not isinstance(self.operation, ops.EnqueueOp):
            self._do(self.operation, work, done)
            return
        chosen: list[Any] = []
        queue = self.names.enqueuer(chosen, work, self.operation.params(work))
        self.operation.collect(work.context, work.event, queue, work.scope())
        for spec in chosen:
            operation = self.names.operation(spec)
            if isinstance(spec, Action):
                self._do(operation, work, done)
            else:
                done.append({"do": spec})
                operation.run(work)

    def _do(self, operation: Any, work: Any, done: list[Any]) -> None:
        before = work.context
        start = len(work.effects)
        if isinstance(operation, ops.StopOp):
            done.append({"stop": operation.child(work)})
        operation.run(work)
        if work.context is not before:
            changed = {key: value for key, value in work.context.items() if before.get(key, done) is not value}
            done.append({"assign": plain(changed)})
            self.tape.context = work.context
        done.extend(form for effect in work.effects[start:] if (form := form_of(effect)) is not None)


def form_of(effect: Any) -> Any:
    """An effect as another engine is told to have it."""
    match effect:
        case Raise():
            return {"raise": plain(effect.event), "delay": effect.delay, "id": effect.id}
        case SendTo():
            target = effect.target if isinstance(effect.target, str) else effect.target.id
            return {"sendTo": target, "event": plain(effect.event)}
        case Emit():
            return {"emit": plain(effect.event)}
        case Cancel():
            return {"cancel": effect.send_id}
        case SpawnChild():
            return {"spawn": effect.ref.src, "id": effect.ref.id, "input": plain(effect.ref.input)}
    return None


def called(name: str, params: Any) -> str:
    """A name with its params."""
    return name if params is None else f"{name} {json.dumps(params, separators=(',', ':'))}"


def traced_action(tape: Tape, name: str, action: Any) -> Action[Any, Any]:
    """A bound action, written down."""
    return Action(
        action.type,
        lambda names, params: Traced(tape, name, params, action.bind(names, params), names),
        actor=action.actor,
        delay=action.delay,
    )


def traced_guard(tape: Tape, name: str, guard: Any) -> Any:
    """A bound guard, written down; of a combination, its parts are."""
    if isinstance(guard, And):
        parts = [part if isinstance(part, str) else traced_guard(tape, part_of(name), part) for part in guard.guards]
        return And(tuple(parts))
    test = full(guard)

    def ask(context: Any, event: Any, params: Any) -> bool:
        answer = tape.write(f"{called(name, params)}?", context, event)
        answer[1] = bool(test(context, event, params, None))
        tape.log[-1] += "yes" if answer[1] else "no"
        return bool(answer[1])

    return ask


def part_of(name: str) -> str:
    """The name of a function that is written into a combination."""
    return f"{name}/own"


def combination(name: str, guard: Any) -> list[str] | None:
    """The guards that a guard combines, if it does."""
    if not isinstance(guard, And):
        return None
    return [part if isinstance(part, str) else part_of(name) for part in guard.guards]


def names_of(machine: Any) -> dict[str, Any]:
    """The names that another engine has to bind to answers."""
    bound = machine.implementations
    guards = {name: combination(name, guard) for name, guard in bound.guards.items()}
    own = {part: None for parts in guards.values() for part in parts or () if part not in guards}
    kinds = {"actions": bound.actions, "delays": bound.delays, "actors": bound.actors}
    return {"guards": {**guards, **own}, **{kind: list(names) for kind, names in kinds.items()}}


def traced_value(tape: Tape, text: str, value: Any) -> Any:
    """A delay, an input or an output, written down."""
    function = full(value) if callable(value) else lambda *_: value

    def ask(context: Any, event: Any) -> Any:
        answer = tape.write(text, context, event)
        found = function(context, event, None, None)
        answer[1] = plain(found)
        return found

    return ask


def recorded(machine: Any) -> tuple[Any, Tape]:
    """A machine that writes down what it is asked and does, and its tape."""
    tape = Tape()
    bound = machine.implementations
    config = machine.config
    first = from_input(config["context"])

    def context_of(input: Any = None) -> Any:
        tape.context = first(input, None)
        tape.answers.append(["context", plain(tape.context)])
        return tape.context

    def state_of(state: Any) -> Any:
        if "invoke" not in state:
            return state
        invoke = state["invoke"]
        return {**state, "invoke": {**invoke, "input": traced_value(tape, f"input {invoke['id']}", invoke["input"])}}

    chart = {
        **config,
        "context": context_of,
        "output": traced_value(tape, "output", config["output"]),
        "states": {name: state_of(state) for name, state in config["states"].items()},
    }
    found = create_machine(
        chart,
        actions={name: traced_action(tape, name, action) for name, action in bound.actions.items()},
        guards={name: traced_guard(tape, name, guard) for name, guard in bound.guards.items()},
        delays={name: traced_value(tape, f"delay {name}", delay) for name, delay in bound.delays.items()},
        actors=bound.actors,
    )
    return found, tape


def _recording(input: Any = None) -> dict[str, Any]:
    return {"input": input, "heard": []}


# Actors that a composition would provide: they keep their input and what they hear, and end when they are told to.
recorder: Any = create_machine(
    {
        "id": "recorder",
        "context": _recording,
        "initial": "hearing",
        "states": {
            "hearing": {"on": {"END": {"target": "ended", "actions": "hear"}, "*": {"actions": "hear"}}},
            "ended": {"type": "final"},
        },
        "output": lambda context: context["heard"][-1]["output"],
    },
    actions={"hear": assign(lambda context, event: {"heard": [*context["heard"], event]})},
)
