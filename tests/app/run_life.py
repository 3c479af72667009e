"""A process that works on a run until it is killed: says what it is at, and goes on."""

import asyncio
import sys
from pathlib import Path

from antiphon.app.app import App
from antiphon.services.toolbox import tools_to_json
from antiphon.tools.workspace import Workspace
from tests.app.troupe import Call, Reply, Scene, Troupe, decision, real_tools, team

RUN = "the-run"
TASK = "Count to three"
COUNTED = ("one", "two", "three")


def arbiter(scene: Scene) -> Reply:
    who, _ = scene.last
    if who == "reviewer":
        return decision("COMPLETE", summary="Counted.", completed=[0])
    return decision("SELECT_MODE", mode="reviewer" if who == "developer" else "developer", reason="next")


def developer(scene: Scene) -> Reply:
    """Append a line with each command; the second one says that it is here, and stays, if anybody wants to know."""
    if scene.turn >= len(COUNTED):
        return "Counted to three."
    word = COUNTED[scene.turn]
    wait = "if [ -p here ]; then echo > here; sleep 600; fi; " if word == "two" else ""
    return Call("shell", {"command": f"echo {word} >> begun; {wait}echo {word} >> count"})


def reviewer(scene: Scene) -> Reply:
    return "Review passed." if scene.results else Call("read_file", {"path": "count"})


def troupe() -> Troupe:
    """Everybody of the run."""
    return Troupe(arbiter=arbiter, developer=developer, reviewer=reviewer)


async def live(folder: Path) -> None:
    """Begin the run, or go on with it, and tell of every step."""
    with Workspace(folder / "work") as workspace:
        box = real_tools(workspace)
        async with App(folder / "store.db", toolbox=box, models=troupe().models) as app:
            agents = {one["name"]: one for one in team("developer", "reviewer")}
            config = {"agents": agents, "model": "scripted:troupe", "tools": tools_to_json(box.tools)}
            given = {"threadId": RUN, "kind": "run", "config": {**config, "consent": {"mode": "auto"}}}
            await app.runtime.create("thread", root=RUN, input=given)
            receipt = await app.runs.start(RUN, TASK)
            async for one in app.runs.until_idle(RUN, receipt.seq - 1):
                print(one.kind, one.facts.get("agent") or "", flush=True)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
