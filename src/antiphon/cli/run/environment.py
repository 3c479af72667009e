"""Setup of a run: its settings, workspace, tools and models, and the window that runs it."""

import argparse
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.frame import UsageError
from antiphon.cli.opening import window_opening
from antiphon.cli.windows import Window, as_client, open_window, release
from antiphon.cli.windows import models_of as models_here
from antiphon.paths import store_files, undo_path
from antiphon.providers.registry import Models
from antiphon.threads.foreign_models import needs_naming
from antiphon.threads.toolbox import Toolbox, tools_to_json
from antiphon.tools.errors import ToolsError
from antiphon.tools.mcp.config import Server
from antiphon.tools.mcp.programs import resolve_programs
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.workspace import Workspace

RULES = "rules"
UNASKED = ("auto", "auto-edit")
# Time that a running tool gets to finish when the run is cancelled.
GRACE_MS = 2_000


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Specification of a run: agents, settings, workspace, MCP servers, and the choice of its model."""

    agents: Mapping[str, Any]
    settings: Mapping[str, Any]
    workspace: Path
    servers: tuple[Server, ...] = ()
    choice: ModelChoice | None = None


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """A window with the tools of a run; a server of this machine has them itself."""

    window: Window
    undo: UndoFolder
    workspace: Path
    problems: tuple[str, ...] = ()
    tools: list[dict[str, Any]] | None = None

    def undo_problem(self, mode: str) -> str | None:
        """Return a line on changes that a mode allows unasked and that cannot be undone; a question would say so."""
        if mode not in UNASKED:
            return None
        with Workspace(self.workspace) as workspace:
            if problem := self.undo.file_problem(workspace):
                return f"undo is off: {problem}"
            problem = self.undo.problem(workspace) if mode == "auto" else None
            return None if problem is None else f"undo is off for commands: {problem}"


@asynccontextmanager
async def open_environment(options: argparse.Namespace, store: Path, spec: RunSpec) -> AsyncIterator[RunEnvironment]:
    """Open workspace, MCP servers, store and models; fails early on an unknown model or a missing key."""
    async with AsyncExitStack() as stack:
        undo = stack.enter_context(UndoFolder(undo_path()))
        if os.environ.get("ANTIPHON_UNDO"):
            undo.create()  # a folder that a person names has to be usable
        servers = resolve_programs(spec.servers, spec.workspace)
        boxes: list[tuple[Toolbox, tuple[str, ...]]] = []

        @asynccontextmanager
        async def open_app() -> AsyncIterator[App]:
            async with AsyncExitStack() as tools:
                boxes.append(await _toolbox(tools, spec, servers, undo, store))
                yield await tools.enter_async_context(App(store, toolbox=boxes[-1][0], undo=undo))

        if options.no_server:
            await release(store)
        opening = window_opening(servers)
        opened = open_window(options, store, open_app, starts=True, opening=opening)
        window = await stack.enter_async_context(opened)
        models = models_here(window) or Models()
        for reference in models_of(spec):
            await models.check(reference)
        client = as_client(window)
        if client is not None:
            yield RunEnvironment(window, undo, spec.workspace, client.problems)
        else:
            toolbox, problems = boxes[-1]
            yield RunEnvironment(window, undo, spec.workspace, problems, tools_to_json(toolbox.tools))


async def _toolbox(
    stack: AsyncExitStack, spec: RunSpec, servers: Sequence[Server], undo: UndoFolder, store: Path
) -> tuple[Toolbox, tuple[str, ...]]:
    # Imported here because the tools are slow to load.
    from antiphon.tools import Bundle, McpTools, ShellSettings, workspace_tools

    # Tools neither read nor change the store, wherever it is.
    hidden = store_files(store)
    workspace = stack.enter_context(Workspace(spec.workspace, hidden=(*hidden, undo_path())))
    own = workspace_tools(workspace, shell=ShellSettings(hidden=(*ShellSettings().hidden, *hidden)), undo=undo)
    if not servers:
        return own, ()
    started = await stack.enter_async_context(McpTools(servers))
    problems = tuple(f"{problem.server}: {problem.message}" for problem in started.problems)
    return Bundle(own, started), problems


def models_of(spec: RunSpec) -> list[str]:
    """Return the references of all models that a run may use."""
    names = [spec.settings.get("model"), (spec.settings.get("arbiter") or {}).get("model")]
    names += spec.settings.get("fallback") or ()
    for agent in spec.agents.values():
        names += [agent.get("model"), *(agent.get("fallback") or ())]
    return [name for name in dict.fromkeys(names) if name and name != RULES]


def models_by_place(spec: RunSpec) -> list[str]:
    """Return the references of models that name an address or a file."""
    return [reference for reference in models_of(spec) if needs_naming(reference)]


def stored_workspace(config: Mapping[str, Any]) -> Path:
    """Return the workspace of a run from its stored settings."""
    folder = config.get("workspace")
    if folder is None:
        raise UsageError("this run was not started by antiphon run; its workspace is unknown")
    if not Path(folder).is_dir():
        raise ToolsError(f"{folder}: the workspace of this run no longer exists; restore it to continue")
    return Path(folder)
