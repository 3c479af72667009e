"""One store for each schema and each version of the thread machine, which later versions must open and continue.

`python -m tests.stores.kept` writes the store of the present schema and version into `tests/stores/files`. A process
brings threads of every kind to several scenes in one store, and is killed while some of them are running.
"""

import asyncio
import json
import lzma
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from importlib.resources import files as package_files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from antiphon.app import App, compose, open_library
from antiphon.chat import branch_path
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.providers.scripted import ScriptedModel
from antiphon.stores import maintenance
from antiphon.stores.queries import load_migrations
from antiphon.threads import Library, NoTools, ThreadView
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.toolboxes import Bundle
from antiphon.tools.workspace import Workspace
from tests.fixtures.chats import Clerk
from tests.fixtures.debates import PRICES
from tests.stores import scenes

FOLDER = Path(__file__).parent / "files"
COMMAND = "python -m tests.stores.kept"
PATIENCE_S = 30


def schema() -> int:
    """Return the number of the present schema."""
    return load_migrations("sqlite")[-1][0]


def present_name() -> str:
    """Return the name of the store of the present schema and version."""
    machine = compose(lambda reference: None, toolbox=NoTools())  # type: ignore[arg-type, return-value]
    return f"schema-{schema()}-{machine.id}-{machine.version}"


def kept_names() -> list[str]:
    """Return the names of all kept stores."""
    return sorted(path.name.removesuffix(".db.xz") for path in FOLDER.glob("schema-*.db.xz"))


def unpack(name: str, path: Path) -> Path:
    """Unpack a copy of a kept store."""
    path.write_bytes(lzma.decompress((FOLDER / f"{name}.db.xz").read_bytes()))
    return path


def expected_facts(name: str) -> dict[str, dict[str, Any]]:
    """Return the facts about the threads of a kept store as they were when it was written, by the id of the thread."""
    facts: dict[str, dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return facts


async def facts_of(library: Library, view: ThreadView) -> dict[str, Any]:
    """Read the facts about a thread."""
    read = await library.read(view.id)
    facts: dict[str, Any] = {
        "kind": view.kind,
        "status": view.status,
        "title": view.title,
        "turns": view.turns,
        "cost": round(view.cost_usd, 6),
        "archived": view.archived,
        "waiting": view.waiting,
    }
    if view.kind == "chat":
        chat = read.content
        facts["branches"] = {name: len(branch_path(chat, name)) for name in chat["branches"]}
        facts["said"] = [part.get("text", part["type"]) for message in branch_path(chat) for part in message["parts"]]
    elif view.kind == "run":
        record = read.content
        facts["agents"] = [entry["agent"] for entry in record["history"]]
        facts["outcome"] = record["outcome"] and record["outcome"]["reason"]
    else:
        debate = read.content
        facts["rounds"] = [[response["content"] for response in round["responses"]] for round in debate["rounds"]]
        facts["winner"] = (debate["verdict"] or {}).get("winner")
    return facts


async def read_all_facts(path: Path) -> dict[str, dict[str, Any]]:
    """Read the facts about all threads of a store, by id."""
    async with open_library(path) as library:
        return {view.id: await facts_of(library, view) for view in await library.latest(archived=None)}


def migrate(path: Path) -> Path:
    """Upgrade a store to the present schema, which readers need."""
    maintenance.migrate(path)
    return path


def run_on_store(path: Path, main: Callable[[App], Awaitable[Any]]) -> Any:
    """Open a store with the present code, scripts without pauses, and run a coroutine on it."""

    async def run() -> Any:
        (path.parent / "workspace").mkdir(exist_ok=True)
        with Workspace(path.parent / "workspace") as workspace:
            models = Models(openers={"scripted": open_without_pauses})
            async with App(path, models=models, toolbox=workspace_tools(workspace)) as app:
                async with asyncio.timeout(PATIENCE_S):
                    return await main(app)

    return asyncio.run(run())


def open_without_pauses(reference: Any) -> ScriptedModel:
    """Open a script of the package without its pauses."""
    text = (package_files("antiphon.providers") / "scripts" / f"{reference.model}.toml").read_text("utf-8")
    return ScriptedModel(tomllib.loads(text) | {"pace_ms": 0}, name=reference.model)


async def live(path: Path) -> None:
    """Bring threads to their scenes, print a line, and wait for the end."""
    clerk = Clerk()
    with Workspace(path.parent / "workspace") as workspace:
        box = workspace_tools(workspace)
        tools = tools_to_json(box.tools)
        async with App(path, toolbox=Bundle(box, clerk), prices=Prices(PRICES)) as app:
            for scene in ("pending", "archived"):
                await scenes.chat(app, clerk, scene)
            await scenes.run(app, tools, "completed")
            await scenes.debate(app, "completed")
            await scenes.run(app, tools, "waiting")
            await asyncio.gather(scenes.debate(app, "running"), scenes.chat(app, clerk, "running"))
            print("here", flush=True)
            await asyncio.Event().wait()


def write() -> str:
    """Write the store of the present schema and version, and the facts about it; return its name."""
    name = present_name()
    if name in kept_names():
        sys.exit(f"{name} exists; delete its two files first if no release has written such a store yet")
    with TemporaryDirectory() as place:
        path = Path(place) / "store.db"
        (path.parent / "workspace").mkdir()
        command = [sys.executable, "-m", "tests.stores.kept", str(path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.kill()
        process.communicate()
        connection = sqlite3.connect(path)
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.execute("vacuum")
        connection.close()
        maintenance.accept_loss(path)  # the log is complete in the file now
        facts = asyncio.run(read_all_facts(path))
        (FOLDER / f"{name}.db.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9))
    (FOLDER / f"{name}.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return name


if __name__ == "__main__":
    if len(sys.argv) == 2:
        asyncio.run(live(Path(sys.argv[1])))
    else:
        print(f"wrote {write()}")
