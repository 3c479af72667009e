"""A run from its first word to its last, on the main thread: begun or resumed and attended, or only planned."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.cli.background_app import Misuse, Serving
from antiphon.cli.interruptible import Patience
from antiphon.cli.lookup import one_run
from antiphon.cli.loop import Background
from antiphon.cli.permission_prompt import Answerer
from antiphon.cli.render.plain import PlainView, write
from antiphon.cli.run.client import Work
from antiphon.cli.run.environment import Order, Workbench, workbench
from antiphon.cli.run.output import CANCELLED, DONE, NOT_REACHED, Stage
from antiphon.readonly import reading
from antiphon.threads.errors import UnknownThread
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
        async with reading(store) as library:
            return await _found(library, start)

    return asyncio.run(find())


async def _found(library: Library, start: str) -> Lost:
    try:
        talk = await library.read(await one_run(library, start))
    except UnknownThread as error:
        raise Misuse(f"{error}; antiphon runs list shows all") from error
    if talk.view.status in OVER:
        hint = 'antiphon run "…" begins another; antiphon runs show tells how it went'
        raise Misuse(f"there is nothing to resume in run {talk.view.id}: {OVER[talk.view.status]}; {hint}")
    return Lost(talk.view.id, talk.chat["config"])


async def prepared(bench: Workbench, order: Order, start: Begin | GoOn, stage: Stage) -> Work:
    """The run, made if there is none yet."""
    if isinstance(start, GoOn):
        id = start.id
    else:
        id = await bench.app.runs.create(dict(order.agents), **{**order.settings, "tools": bench.tools})
    return Work(bench.app, id, stage.view, stage.narration, stage.events)


def attended(work: Work, start: Begin | GoOn, patience: Patience, answerer: Answerer) -> str:
    """Let the run work, and answer its agents, until it is over; gives its last status."""
    status = patience.wait(work.begin(start.task, start.plan) if isinstance(start, Begin) else work.resume())
    while status == "waiting":
        asked = patience.wait(work.asked())
        if asked is None:  # it has gone on without an answer
            status = patience.wait(work.follow())
            continue
        try:
            given = answerer.answer(asked, work.name(asked))
        except (EOFError, KeyboardInterrupt):
            status = patience.wait(work.cancelled())
        else:
            status = patience.wait(work.answer(asked, given))
    return status


def dry_run(options: argparse.Namespace, order: Order, task: str) -> int:
    """Only the plan, as JSON on the standard output; 1 if it is not to be relied on."""

    async def plan(bench: Workbench) -> tuple[dict[str, Any], Any]:
        settings = {**order.settings, "tools": bench.tools}
        found = await bench.app.runs.dry_run(dict(order.agents), task, **settings)
        return found, await bench.app.runs.result(found["run"])

    if sys.stderr.isatty() and not options.quiet:
        write(sys.stderr, "planning …\n")
    with Background() as background, Serving(background, workbench(options.store, order)) as bench:
        try:
            found, ended = background.call(plan(bench))
        except KeyboardInterrupt:
            return CANCELLED
    write(sys.stdout, json.dumps(found, indent=2) + "\n")
    error = ((ended or {}).get("error") or {}).get("message")
    if not found["isSure"] and not options.quiet:
        why = error or "; ".join(found["warnings"]) or "the planner is not sure of it"
        PlainView(sys.stderr).line(f"antiphon run: the plan is not to be relied on ({found['confidence']}): {why}")
    return DONE if found["isSure"] else NOT_REACHED
