"""A run from its first word to its last, on the main thread: begun or resumed and attended, or only planned."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app import open_library
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED, Misuse
from antiphon.cli.interruptible import Patience
from antiphon.cli.lookup import find_thread
from antiphon.cli.loop import Background, OpenOnLoop
from antiphon.cli.permission_prompt import Answerer
from antiphon.cli.render.plain import PlainView, write
from antiphon.cli.run.client import RunClient
from antiphon.cli.run.environment import RunEnvironment, RunSpec, open_environment
from antiphon.cli.run.output import RunOutput
from antiphon.threads.library import Library

OVER = {
    "completed": "it is done",
    "failed": "it has failed and is over",
    "stopped": "it was cancelled",
    "pending": "it never got its task",
}


@dataclass(frozen=True, slots=True)
class Begin:
    """A new run, with its task, and maybe a plan."""

    task: str
    plan: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class GoOn:
    """A run that is there."""

    id: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A run that somebody left behind, and what it was made with."""

    id: str
    config: Mapping[str, Any]


def lost_run(store: Path, start: str) -> Lost:
    """The run that is to be resumed; `Misuse` says why there is nothing to resume, and what to do."""
    if not store.is_file():
        raise Misuse(f"{store}: there is no such file, so there is nothing to resume; --store names another")

    async def find() -> Lost:
        async with open_library(store) as library:
            return await _found(library, start)

    return asyncio.run(find())


async def _found(library: Library, start: str) -> Lost:
    record = await library.read(await find_thread(library, start, "run"))
    if record.view.status in OVER:
        hint = 'antiphon run "…" begins another; antiphon runs show tells how it went'
        raise Misuse(f"there is nothing to resume in run {record.view.id}: {OVER[record.view.status]}; {hint}")
    return Lost(record.view.id, await library.config(record.view.id))


async def open_run(environment: RunEnvironment, spec: RunSpec, start: Begin | GoOn, output: RunOutput) -> RunClient:
    """The run, created if there is none yet."""
    if isinstance(start, GoOn):
        id = start.id
    else:
        settings = {**spec.settings, "tools": environment.tools}
        id = await environment.app.runs.create(dict(spec.agents), **settings)
    listener = output.json.activity if output.json is not None else None
    return RunClient(environment.app, id, output.view, output.printer, listener)


def attend(client: RunClient, start: Begin | GoOn, patience: Patience, answerer: Answerer) -> str:
    """Let the run work, and answer its agents, until it is over; returns its last status."""
    status = patience.wait(client.begin(start.task, start.plan) if isinstance(start, Begin) else client.resume())
    while status == "waiting":
        request = patience.wait(client.request())
        if request is None:  # it has gone on without an answer
            status = patience.wait(client.follow())
            continue
        try:
            answer = client.decide(request, answerer)
        except (EOFError, KeyboardInterrupt):
            status = patience.wait(client.cancel_and_follow())
        else:
            status = patience.wait(client.answer(request, answer))
    return status


def dry_run(options: argparse.Namespace, store: Path, spec: RunSpec, task: str) -> int:
    """Only the plan, as JSON on the standard output; 1 if it is not to be relied on."""

    async def plan(environment: RunEnvironment) -> tuple[dict[str, Any], Any]:
        settings = {**spec.settings, "tools": environment.tools}
        found = await environment.app.runs.dry_run(dict(spec.agents), task, **settings)
        return found, await environment.app.runs.result(found["run"])

    if sys.stderr.isatty() and not options.quiet:
        write(sys.stderr, "planning …\n")
    with Background() as background, OpenOnLoop(background, open_environment(store, spec)) as environment:
        try:
            found, ended = background.call(plan(environment))
        except KeyboardInterrupt:
            return INTERRUPTED
    write(sys.stdout, json.dumps(found, indent=2) + "\n")
    error = ((ended or {}).get("error") or {}).get("message")
    if not found["isSure"] and not options.quiet:
        why = error or "; ".join(found["warnings"]) or "the planner is not sure of it"
        PlainView(sys.stderr).line(f"antiphon run: the plan is not to be relied on ({found['confidence']}): {why}")
    return DONE if found["isSure"] else FAILED
