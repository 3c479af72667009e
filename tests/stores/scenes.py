"""Threads of every kind, brought to a scene in a process of their own: what `tests/stores/files` was written by.

`python -m tests.stores.scenes FOLDER` writes a file for each scene.
"""

import asyncio
import gzip
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from antiphon.agents.files import default_agents
from antiphon.app import App
from antiphon.providers.prices import Price, Prices
from antiphon.stores import maintenance
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.workspace import Workspace
from tests.fixtures.chats import Clerk
from tests.fixtures.debates import CONFIG, PRICES

CHAT = "chat"
RUN = "run"
DEBATE = "debate"
SCENES = {
    CHAT: ("pending", "completed", "running", "waiting", "interrupted", "archived"),
    RUN: ("pending", "completed", "running", "waiting", "interrupted", "archived"),
    DEBATE: ("pending", "completed", "running", "paused", "unpaid", "interrupted", "archived"),
}
# A process that is killed in these scenes leaves its thread running, or waiting.
KILLED = ("running", "interrupted", "waiting")
WEATHER = "Is there frost tonight?"
LONG = "Make a plan for the week"
TASK = "Write greet.py"
DEAR = {"scripted:*": Price(Decimal(300), Decimal(1500))}
Condition = Callable[[Any], bool]


async def until(activities: AsyncIterator[Any], condition: Condition) -> None:
    """Wait for an activity that fulfils a condition."""
    async for activity in activities:
        if condition(activity):
            return


def has_status(*statuses: str) -> Condition:
    return lambda activity: activity.kind == "status" and activity.facts["status"] in statuses


def is_text(activity: Any) -> bool:
    return bool(activity.kind == "text")


async def chat(app: App, clerk: Clerk, scene: str) -> str:
    settings = {"options": {"tools": clerk.listed}}
    id = await app.chats.create(model="scripted:chat", settings=settings, consent={"mode": "ask"})
    if scene == "pending":
        return id
    await app.chats.say(id, "What grows in the shade?")
    await until(app.chats.follow(id), has_status("completed"))
    if scene in ("completed", "archived"):
        await app.chats.perform(id, "checkpoint", name="start")
        await app.chats.perform(id, "fork", name="other")
        await app.chats.perform(id, "confirm_fork")
        receipt = await app.chats.say(id, "And in the sun?")
        await until(app.chats.follow(id, receipt.seq), has_status("completed"))
        if scene == "archived":
            await app.chats.rename(id, "Shade and sun")
            await app.threads.archive(id)
        return id
    receipt = await app.chats.say(id, WEATHER if scene == "waiting" else LONG)
    condition = has_status("waiting") if scene == "waiting" else is_text
    await until(app.chats.follow(id, receipt.seq), condition)
    return id


async def run(app: App, tools: list[dict[str, Any]], scene: str) -> str:
    mode = "ask" if scene == "waiting" else "auto"
    id = await app.runs.create(
        default_agents().agents, model="scripted:agents", tools=tools, consent={"mode": mode}, workspace="workspace"
    )
    if scene == "pending":
        return id
    await app.runs.start(id, TASK)
    ends = {"completed": "completed", "archived": "completed", "waiting": "waiting"}
    condition = has_status(ends[scene]) if scene in ends else lambda activity: activity.kind == "tool_ended"
    await until(app.runs.follow(id), condition)
    if scene == "archived":
        await app.threads.archive(id)
    return id


async def debate(app: App, scene: str) -> str:
    limit = {"costLimit": 2.5} if scene == "unpaid" else {}
    id = await app.debates.create({**CONFIG, **limit})
    if scene == "pending":
        return id
    await app.debates.start(id)
    ends = {"completed": "completed", "archived": "completed", "unpaid": "failed"}
    condition = has_status(ends[scene]) if scene in ends else lambda activity: activity.kind == "round_recorded"
    await until(app.debates.follow(id), condition)
    if scene == "paused":
        await app.debates.pause(id)
    if scene == "archived":
        await app.threads.archive(id)
    return id


async def live(path: Path, kind: str, scene: str) -> None:
    """Bring a thread to a scene, say so, and in some scenes wait for the end."""
    clerk = Clerk()
    with Workspace(path.parent / "workspace") as workspace:
        box = workspace_tools(workspace) if kind == RUN else clerk
        async with App(path, toolbox=box, prices=Prices(DEAR if scene == "unpaid" else PRICES)) as app:
            if kind == CHAT:
                await chat(app, clerk, scene)
            elif kind == RUN:
                await run(app, tools_to_json(box.tools), scene)
            else:
                await debate(app, scene)
            print("here", flush=True)
            if scene in KILLED:
                await asyncio.Event().wait()


async def settle(path: Path) -> None:
    """Open what a killed process left, until its thread is known to be interrupted."""
    async with App(path) as app:
        (view,) = await app.library.latest()
        await until(app.chats.follow(view.id), has_status("interrupted"))


def write(folder: Path, kind: str, scene: str) -> None:
    """Write the file of a scene."""
    with TemporaryDirectory() as place:
        path = Path(place) / "store.db"
        (path.parent / "workspace").mkdir()
        command = [sys.executable, "-m", "tests.stores.scenes", str(path), kind, scene]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        if scene in KILLED:
            process.kill()
        process.communicate()
        if scene == "interrupted":
            asyncio.run(settle(path))
        # What a killed process left in the log becomes part of the file; its content stays as it was.
        connection = sqlite3.connect(path)
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.close()
        maintenance.accept_loss(path)  # the log is complete in the file now
        with path.open("rb") as plain, gzip.GzipFile(folder / f"{kind}-{scene}.db.gz", "wb", mtime=0) as packed:
            shutil.copyfileobj(plain, packed)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        for kind, scenes in SCENES.items():
            for scene in scenes:
                write(Path(sys.argv[1]), kind, scene)
    else:
        asyncio.run(live(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
