"""Setup of a run: its settings, workspace, tools and models, and the app that runs it."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.frame import UsageError
from antiphon.paths import store_files, undo_path
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
    """An app with the tools of a run, also in the form of its settings."""

    app: App
    tools: list[dict[str, Any]]
    undo: UndoFolder
    workspace: Path
    problems: tuple[str, ...] = ()

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
async def open_environment(store: Path, spec: RunSpec) -> AsyncIterator[RunEnvironment]:
    """Open workspace, MCP servers, store and models; fails early on an unknown model or a missing key."""
    async with AsyncExitStack() as stack:
        undo = stack.enter_context(UndoFolder(undo_path()))
        if os.environ.get("ANTIPHON_UNDO"):
            undo.create()  # a folder that a person names has to be usable
        toolbox, problems = await _toolbox(stack, spec, undo, store)
        app = await stack.enter_async_context(App(store, toolbox=toolbox, undo=undo))
        for reference in models_of(spec):
            await app.models.check(reference)
        yield RunEnvironment(app, tools_to_json(toolbox.tools), undo, spec.workspace, problems)


async def _toolbox(
    stack: AsyncExitStack, spec: RunSpec, undo: UndoFolder, store: Path
) -> tuple[Toolbox, tuple[str, ...]]:
    # Imported here because the tools are slow to load.
    from antiphon.tools import Bundle, McpTools, ShellSettings, workspace_tools

    # Tools neither read nor change the store, wherever it is.
    hidden = store_files(store)
    workspace = stack.enter_context(Workspace(spec.workspace, hidden=(*hidden, undo_path())))
    own = workspace_tools(workspace, shell=ShellSettings(hidden=(*ShellSettings().hidden, *hidden)), undo=undo)
    if not spec.servers:
        return own, ()
    servers = await stack.enter_async_context(McpTools(resolve_programs(spec.servers, spec.workspace)))
    problems = tuple(f"{problem.server}: {problem.message}" for problem in servers.problems)
    return Bundle(own, servers), problems


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
