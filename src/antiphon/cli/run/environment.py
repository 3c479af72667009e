"""What a run needs before it begins: its agents, its folder, its tools, its models, and the app to run it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.agents.machine.plan import plan_of, problems_with
from antiphon.app import App
from antiphon.cli.background_app import Misuse
from antiphon.cli.default_model import Choice
from antiphon.threads.toolbox import Toolbox, tools_to_json
from antiphon.tools.errors import ToolsError

RULES = "rules"
# A tool that is at work when the run is cancelled may come to its end for so long.
GRACE_MS = 2_000
MOST_PLAN_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Order:
    """What a run works with: agents and settings, the folder, the file of MCP servers, and how its model was chosen."""

    agents: Mapping[str, Any]
    settings: Mapping[str, Any]
    workspace: Path
    mcp: Path | None = None
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class Workbench:
    """An app with the tools of a run, and these as the run's settings list them."""

    app: App
    tools: list[dict[str, Any]]
    problems: tuple[str, ...] = ()


@asynccontextmanager
async def workbench(store: Path, order: Order) -> AsyncIterator[Workbench]:
    """Everything opened: the folder, the servers, the store; a model that names nothing is found before any work."""
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"{store}: cannot be made: {error.strerror or error}; --store names another file") from error
    async with AsyncExitStack() as stack:
        box, problems = await _toolbox(stack, order)
        app = await stack.enter_async_context(App(store, toolbox=box))
        for reference in models_of(order):
            app.models.open(reference)
        yield Workbench(app, tools_to_json(box.tools), problems)


async def _toolbox(stack: AsyncExitStack, order: Order) -> tuple[Toolbox, tuple[str, ...]]:
    # Loading the tools takes a while, which only those pay who work with them.
    from antiphon.tools.toolboxes import Bundle
    from antiphon.tools.workspace import Workspace
    from antiphon.tools.workspace_tools import workspace_tools

    own = workspace_tools(stack.enter_context(Workspace(order.workspace)))
    if order.mcp is None:
        return own, ()
    from antiphon.tools.mcp.config import load_servers
    from antiphon.tools.mcp.toolbox import McpTools

    servers = await stack.enter_async_context(McpTools(load_servers(order.mcp)))
    problems = tuple(f"{problem.server}: {problem.message}" for problem in servers.problems)
    return Bundle(own, servers), problems


def models_of(order: Order) -> list[str]:
    """Every model that the run may ask."""
    named = [order.settings.get("model"), (order.settings.get("arbiter") or {}).get("model")]
    named += [agent.get("model") for agent in order.agents.values()]
    return [one for one in dict.fromkeys(named) if one and one != RULES]


def kept_order(config: Mapping[str, Any]) -> Order:
    """What a run was begun with, from what is kept with it."""
    folder = config.get("workspace")
    if folder is None:
        raise Misuse("this run was not begun by antiphon run: nobody knows in which folder it works")
    if not Path(folder).is_dir():
        raise ToolsError(f"{folder}: the folder of this run is not there any more; put it back to go on")
    mcp = config.get("mcp")
    return Order(config["agents"], config, Path(folder), Path(mcp) if mcp else None)


def plan_in(file: Path, agents: Mapping[str, Any]) -> Mapping[str, Any]:
    """The plan of a JSON file; `Misuse` says what is wrong with it."""
    try:
        text = file.read_text("utf-8") if file.stat().st_size <= MOST_PLAN_BYTES else None
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if text is None:
        raise Misuse(f"{file}: is too large for a plan")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Misuse(f"{file}: is no JSON: {error}") from error
    given = given.get("plan", given) if isinstance(given, dict) else {"steps": given}
    plan = plan_of(given)
    if plan is None:
        raise Misuse(f'{file}: holds no plan; one looks like {{"steps": ["first", "second"]}}')
    if problems := problems_with(plan, list(agents)):
        raise Misuse(f"{file}: {'; '.join(problems)}")
    found: Mapping[str, Any] = given
    return found
