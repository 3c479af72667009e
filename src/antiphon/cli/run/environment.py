"""What a run in the terminal needs: its agents, folder, tools, models, and the app to run it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.cli.default_model import Choice
from antiphon.cli.frame import Misuse
from antiphon.threads.toolbox import Toolbox, tools_to_json
from antiphon.tools.errors import ToolsError

RULES = "rules"
# A tool that is at work when the run is cancelled may come to its end for so long.
GRACE_MS = 2_000


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What a run works with: agents and settings, the folder, the file of MCP servers, and how its model was chosen."""

    agents: Mapping[str, Any]
    settings: Mapping[str, Any]
    workspace: Path
    mcp: Path | None = None
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """An app with the tools of a run, and these as the run's settings list them."""

    app: App
    tools: list[dict[str, Any]]
    problems: tuple[str, ...] = ()


@asynccontextmanager
async def open_environment(store: Path, spec: RunSpec) -> AsyncIterator[RunEnvironment]:
    """Open the folder, the servers and the store; a model that does not exist is found before any work."""
    async with AsyncExitStack() as stack:
        toolbox, problems = await _toolbox(stack, spec)
        app = await stack.enter_async_context(App(store, toolbox=toolbox))
        for reference in models_of(spec):
            app.models.open(reference)
        yield RunEnvironment(app, tools_to_json(toolbox.tools), problems)


async def _toolbox(stack: AsyncExitStack, spec: RunSpec) -> tuple[Toolbox, tuple[str, ...]]:
    # Loading the tools takes a while, which only those pay who work with them.
    from antiphon.tools import Bundle, McpTools, Workspace, load_servers, workspace_tools

    own = workspace_tools(stack.enter_context(Workspace(spec.workspace)))
    if spec.mcp is None:
        return own, ()
    servers = await stack.enter_async_context(McpTools(load_servers(spec.mcp)))
    problems = tuple(f"{problem.server}: {problem.message}" for problem in servers.problems)
    return Bundle(own, servers), problems


def models_of(spec: RunSpec) -> list[str]:
    """Every model that a run may ask."""
    names = [spec.settings.get("model"), (spec.settings.get("arbiter") or {}).get("model")]
    names += [agent.get("model") for agent in spec.agents.values()]
    return [name for name in dict.fromkeys(names) if name and name != RULES]


def stored_spec(config: Mapping[str, Any]) -> RunSpec:
    """What a run was begun with, from the settings that are stored with it."""
    folder = config.get("workspace")
    if folder is None:
        raise Misuse("this run was not begun by antiphon run: nobody knows in which folder it works")
    if not Path(folder).is_dir():
        raise ToolsError(f"{folder}: the folder of this run is not there any more; put it back to go on")
    mcp = config.get("mcp")
    return RunSpec(config["agents"], config, Path(folder), Path(mcp) if mcp else None)
