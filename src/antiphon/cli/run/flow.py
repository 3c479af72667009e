"""Course of a run: starting or resuming it, and answering its agents."""

import argparse
import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.cli.frame import UsageError
from antiphon.cli.input.lines import Interrupted
from antiphon.cli.input.waiting import InterruptibleWait
from antiphon.cli.lookup import find_thread
from antiphon.cli.permission_prompt import Answerer
from antiphon.cli.run.client import RunClient
from antiphon.cli.run.environment import RunEnvironment
from antiphon.cli.run.output import RunOutput
from antiphon.cli.run.spec import RunSpec, models_by_place
from antiphon.cli.windows.access import open_records
from antiphon.cli.windows.types import AnyLibrary, as_client
from antiphon.threads.library import Library

NOT_RESUMABLE = {
    "completed": "it is complete",
    "failed": "it has failed",
    "stopped": "it was cancelled",
    "pending": "it was never started",
}
FROM_FILE = "permissions do not come with an imported or restored file"


@dataclass(frozen=True, slots=True)
class NewRun:
    """A new run with its task and an optional plan."""

    task: str
    plan: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ResumedRun:
    """An existing run, to be resumed, possibly with another mode; one from a file has the folder of the options."""

    id: str
    mode: str | None = None
    is_from_file: bool = False


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run with its settings, which are not believed if it was imported or restored."""

    id: str
    config: Mapping[str, Any]
    is_from_file: bool = False


def find_resumable_run(options: argparse.Namespace, store: Path) -> StoredRun:
    """Find the run to resume by a prefix of its id; `UsageError` if it cannot be resumed."""
    if options.server is None and not store.is_file():
        raise UsageError(f"{store}: store not found, nothing to resume; choose another with --store")

    async def find() -> StoredRun:
        async with open_records(options) as library:
            return await _find(library, options.resume, options.server)

    return asyncio.run(find())


async def _find(library: AnyLibrary, prefix: str, server: str | None) -> StoredRun:
    record = await library.read(await find_thread(library, prefix, "run"))
    if record.view.problem is not None:
        raise UsageError(f"cannot resume run {record.view.id}: {record.view.problem}")
    if record.view.status in NOT_RESUMABLE:
        place = record.view.id if server is None else f"{record.view.id} --server {server}"
        hint = f'show it with: antiphon runs show {place}; start another with: antiphon run "TASK"'
        raise UsageError(f"cannot resume run {record.view.id}: {NOT_RESUMABLE[record.view.status]}; {hint}")
    id = record.view.id
    # A server elsewhere does not say so, and refuses what a run from a file may not do.
    is_from_file = isinstance(library, Library) and await library.is_from_file(id)
    return StoredRun(id, await library.config(id), is_from_file)


async def open_run(
    environment: RunEnvironment, spec: RunSpec, start: NewRun | ResumedRun, output: RunOutput
) -> RunClient:
    """Return a client of the run, which is created if it is new."""
    window = environment.window
    if isinstance(start, ResumedRun):
        id = start.id
        client = as_client(window)
        if client is not None:
            await client.join(id, folder=spec.workspace if start.is_from_file else None)
        # A person has named those of a run from a file; a server elsewhere decides about its own.
        for reference in models_by_place(spec) if spec.workspace is not None else ():
            await window.threads.allow_model(id, reference)
        if start.mode is not None:
            await window.threads.set_mode(id, start.mode)
    else:
        id = await create_run(environment, spec)
    listener = output.json.activity if output.json is not None else None
    return RunClient(window, id, output.view, output.printer, listener)


async def create_run(environment: RunEnvironment, spec: RunSpec, **more: Any) -> str:
    """Create a run, with the tools of its environment; return its id."""
    tools = {} if environment.tools is None else {"tools": environment.tools}
    settings = {**spec.settings, **tools, **more}
    return await environment.window.threads.create("run", agents=dict(spec.agents), **settings)


def mode_in_force(spec: RunSpec, start: NewRun | ResumedRun) -> str:
    """Return the mode of a run in words: as given, or as stored, unless that came with a file."""
    given = start.mode if isinstance(start, ResumedRun) else None
    stored = str((spec.settings.get("consent") or {}).get("mode", "ask"))
    if given is not None or stored in ("ask", "plan"):
        return given or stored
    is_from_file = isinstance(start, ResumedRun) and start.is_from_file
    return f"ask (was {stored}, but {FROM_FILE}; --mode {stored} gives it again)" if is_from_file else stored


async def run_to_end(
    client: RunClient, start: NewRun | ResumedRun, interruptible: InterruptibleWait, answerer: Answerer
) -> str:
    """Follow the run to its end, answering its agents; return its last status."""
    status = await interruptible.wait(
        client.start(start.task, start.plan) if isinstance(start, NewRun) else client.resume()
    )
    while status == "waiting":
        request = await interruptible.wait(client.request())
        if request is None:  # it continued without an answer
            status = await interruptible.wait(client.wait_for_status())
            continue
        if client.lacks_key(request):  # only a person has it, and resumes the run then
            return status
        try:
            answer = await client.decide(request, answerer)
        except (EOFError, Interrupted):
            status = await interruptible.wait(client.cancel_and_follow())
        else:
            status = await interruptible.wait(client.answer(request, answer))
    return status
