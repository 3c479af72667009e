"""Setup of a run: its settings, workspace, tools and models, and the window that runs it."""

import argparse
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.cli.run.spec import RunSpec, run_models
from antiphon.cli.windows.access import open_window
from antiphon.cli.windows.opening import load_prices, price_file, window_opening
from antiphon.cli.windows.types import Window, as_client, models_of
from antiphon.paths import store_files, undo_path
from antiphon.threads.toolbox import Toolbox, tools_to_json
from antiphon.tools.mcp.config import Server
from antiphon.tools.mcp.programs import resolve_programs
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.workspace import Workspace

UNASKED = ("auto", "auto-edit")


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """A window with the tools of a run; a server of this machine has them itself, and one elsewhere its own folder."""

    window: Window
    undo: UndoFolder | None
    workspace: Path | None
    problems: tuple[str, ...] = ()
    tools: list[dict[str, Any]] | None = None

    def undo_problem(self, mode: str) -> str | None:
        """Return a line on changes that a mode allows unasked and that cannot be undone; a question would say so."""
        if mode not in UNASKED or self.undo is None or self.workspace is None:
            return None
        with Workspace(self.workspace) as workspace:
            if problem := self.undo.file_problem(workspace):
                return f"undo is off: {problem}"
            problem = self.undo.problem(workspace) if mode == "auto" else None
            return None if problem is None else f"undo is off for commands: {problem}"


@asynccontextmanager
async def open_environment(options: argparse.Namespace, store: Path, spec: RunSpec) -> AsyncIterator[RunEnvironment]:
    """Open workspace, MCP servers, store and models; fails early on an unknown model or a missing key."""
    folder = spec.workspace
    assert folder is not None  # a run on a server elsewhere has another environment
    async with AsyncExitStack() as stack:
        undo = stack.enter_context(UndoFolder(undo_path()))
        if os.environ.get("ANTIPHON_UNDO"):
            undo.create()  # a folder that a person names has to be usable
        servers = resolve_programs(spec.servers, folder)
        boxes: list[tuple[Toolbox, tuple[str, ...]]] = []

        @asynccontextmanager
        async def open_app() -> AsyncIterator[App]:
            async with AsyncExitStack() as tools:
                boxes.append(await _toolbox(tools, folder, servers, undo, store))
                yield await tools.enter_async_context(App(store, prices=load_prices(), toolbox=boxes[-1][0], undo=undo))

        opening = window_opening(servers, price_file())
        opened = open_window(options, store, open_app, starts=True, releases=True, opening=opening)
        window = await stack.enter_async_context(opened)
        models = models_of(window)
        assert models is not None  # they are of this machine
        for reference in run_models(spec):
            await models.check(reference)
        client = as_client(window)
        if client is not None:
            yield RunEnvironment(window, undo, folder, client.problems)
        else:
            toolbox, problems = boxes[-1]
            yield RunEnvironment(window, undo, folder, problems, tools_to_json(toolbox.tools))


async def _toolbox(
    stack: AsyncExitStack, folder: Path, servers: Sequence[Server], undo: UndoFolder, store: Path
) -> tuple[Toolbox, tuple[str, ...]]:
    # Imported here because the tools are slow to load.
    from antiphon.tools import Bundle, McpTools, ShellSettings, workspace_tools

    # Tools neither read nor change the store, wherever it is.
    hidden = store_files(store)
    workspace = stack.enter_context(Workspace(folder, hidden=(*hidden, undo_path())))
    own = workspace_tools(workspace, shell=ShellSettings(hidden=(*ShellSettings().hidden, *hidden)), undo=undo)
    if not servers:
        return own, ()
    started = await stack.enter_async_context(McpTools(servers))
    problems = tuple(f"{problem.server}: {problem.message}" for problem in started.problems)
    return Bundle(own, started), problems
