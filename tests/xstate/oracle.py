"""The engine as an oracle: charts and scripts as JSON lines in, traces as JSON lines out.

`python -m tests.xstate.oracle < specs.jsonl > traces.jsonl` is the twin of `conformance/oracle.cjs`,
which runs the same specs on XState. The comment on top of that file defines the JSON forms.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from antiphon.actors.actor import Actor
from antiphon.actors.clock import SimulatedClock
from antiphon.actors.inspection import Inspection
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.nodes import Transition
from antiphon.chart.snapshot import Snapshot
from tests.xstate.expressions import UNDEFINED, clone
from tests.xstate.forms import Forms

MOST_ACTIONS = 300
MOST_MICROSTEPS = 60


class Case:
    """One spec, played."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec = spec
        self.forms = Forms()
        self.machine = build(spec, self.forms)
        self.micro: list[Any] = []
        self.emitted: list[Any] = []
        self.clock = SimulatedClock()
        self.trace: list[Any] = []
        self.persisted: str = "null"
        self.actor = self._make(None)

    async def play(self) -> list[Any]:
        """Run the script and return the trace."""
        if not (self.spec.get("options") or {}).get("noStart"):
            self.actor.start()
            await self._flush()
        self._record("init", {})
        for step in self.spec.get("steps") or ():
            try:
                extra = self._take(step)
            except Exception as error:
                extra = {"threw": " / ".join(str(error).split("\n")[:2])}
            await self._flush()
            self._record(step, extra)
        return self.trace

    def _make(self, snapshot: Any) -> Actor[Any, Any]:
        actor: Actor[Any, Any] = Actor(
            self.machine,
            id="root",
            input=clone(self.spec.get("input")),
            clock=self.clock,
            snapshot=snapshot,
            logger=lambda *values: self.forms.log.append({"a": "log", "p": clone(list(values))}),
            inspect=self._inspect,
        )
        actor.on("*", lambda event: self.emitted.append(clone(event)))
        actor.subscribe(None, lambda error: None, lambda: self.forms.log.append({"a": "(complete)"}))
        return actor

    def _inspect(self, inspection: Inspection) -> None:
        if inspection.type == "@xstate.microstep" and inspection.actor.parent is None:
            self.micro.append(
                {
                    "e": inspection.event["type"],
                    "v": inspection.snapshot.value,
                    "t": [_transition(transition) for transition in inspection.transitions],
                }
            )

    async def _flush(self) -> None:
        await asyncio.sleep(0)
        while self.forms.unsettled:
            await asyncio.sleep(0)

    def _take(self, step: Mapping[str, Any]) -> dict[str, Any]:
        snapshot: Any = self.actor.get_snapshot()
        match step:
            case {"send": event}:
                self.actor.send(clone(event))
            case {"advance": ms}:
                self.clock.increment(ms)
            case {"stop": _}:
                self.actor.stop()
            case {"start": _}:
                self.actor.start()
            case {"can": event}:
                return {"can": snapshot.can(event)}
            case {"matches": value}:
                return {"matches": snapshot.matches(value)}
            case {"hasTag": tag}:
                return {"hasTag": snapshot.has_tag(tag)}
            case {"persist": _}:
                self.persisted = json.dumps(_without_error_texts(self.actor.get_persisted_snapshot()))
                return {"persisted": json.loads(self.persisted)}
            case {"restore": _}:
                self.clock = SimulatedClock()
                self.actor = self._make({**json.loads(self.persisted), **step.get("patch", {})})
                self.actor.start()
            case {"childSend": [id, event]}:
                if id not in snapshot.children:
                    raise RuntimeError(f"there is no child {id!r}")
                snapshot.children[id].send(clone(event))
        return {}

    def _record(self, step: Any, extra: dict[str, Any]) -> None:
        entry = {"step": step, **_snapshot(self.actor.get_snapshot()), **extra}
        log = self.forms.log
        emitted = self.emitted
        micro = self.micro
        if len(log) > MOST_ACTIONS:
            entry["actionsTotal"] = len(log)
        if log:
            entry["actions"] = log[:MOST_ACTIONS]
        if emitted:
            entry["emitted"] = list(emitted)
        if micro:
            entry["micro"] = micro[:MOST_MICROSTEPS]
        self.trace.append(entry)
        log.clear()
        emitted.clear()
        micro.clear()


def build(spec: Mapping[str, Any], forms: Forms) -> Machine[Any, Any]:
    """Build the machine of a spec, which fails as late as XState does."""
    config = forms.node(spec["config"])
    return create_machine(
        config,
        actions=forms.actions(),
        guards=forms.guards(spec.get("guards") or {}),
        delays={name: forms.value(delay) for name, delay in (spec.get("delays") or {}).items()},
        actors={name: forms.logic(actor, build) for name, actor in (spec.get("actors") or {}).items()},
        strict=False,
    )


def _transition(transition: Transition) -> dict[str, Any]:
    targets = None if transition.targets is None else [node.id for node in transition.targets]
    return {"ev": transition.event_type, "src": transition.source.id, "tgt": targets}


def _snapshot(snapshot: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": snapshot.status}
    if isinstance(snapshot, Snapshot):
        entry["value"] = snapshot.value
        entry["tags"] = list(snapshot.configuration.tags)
        entry["nodes"] = [node.id for node in snapshot.nodes]
        entry["context"] = clone(snapshot.context)
    if snapshot.output is not None and snapshot.output is not UNDEFINED:
        entry["output"] = clone(snapshot.output)
    if snapshot.status == "error":
        error = snapshot.error
        entry["error"] = str(error) if isinstance(error, BaseException) else clone(error)
    children = getattr(snapshot, "children", None)
    if children:
        entry["children"] = {id: _child(ref) for id, ref in children.items()}
    return entry


def _child(ref: Any) -> dict[str, Any] | None:
    if ref is None:
        return None
    snapshot = ref.get_snapshot()
    entry = {"status": snapshot.status}
    if isinstance(snapshot, Snapshot):
        entry["value"] = snapshot.value
    if getattr(snapshot, "context", None) is not None:
        entry["context"] = clone(snapshot.context)
    return entry


def _without_error_texts(persisted: Any) -> Any:
    """JavaScript's JSON writes an Error as `{}`."""
    if not isinstance(persisted, dict):
        return persisted
    entry = {key: _without_error_texts(value) for key, value in persisted.items()}
    error = persisted.get("error")
    if "status" in persisted and isinstance(error, dict) and error.keys() == {"name", "message"}:
        entry["error"] = {}
    return entry


async def run_case(spec: Mapping[str, Any]) -> list[Any]:
    """Play a spec and leave nothing running."""
    before = asyncio.all_tasks()
    try:
        return await Case(spec).play()
    finally:
        for task in asyncio.all_tasks() - before:
            task.cancel()
        await asyncio.sleep(0)


async def answer(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line that answers a spec."""
    try:
        return {"id": spec.get("id"), "trace": await run_case(spec)}
    except Exception as error:
        return {"id": spec.get("id"), "fatal": getattr(error, "problem", None) or str(error)}


def main(lines: Iterable[str] = sys.stdin, write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Answer every line."""

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        for line in lines:
            if line.strip():
                write(json.dumps(await answer(json.loads(line))) + "\n")
                sys.stdout.flush()

    asyncio.run(run())


if __name__ == "__main__":
    main()
