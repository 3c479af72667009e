"""Routes of the things that threads are made of: models, agents and tools."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from antiphon.agents.files import default_agents
from antiphon.providers.catalog import list_models
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, json_response
from antiphon.server.replies import AgentList, ModelList, ToolList
from antiphon.server.windows.keys import ServedKeys, WindowKeys
from antiphon.server.windows.local import is_local
from antiphon.server.windows.rules import offered_tools

routes = Routes("catalog")


@routes.add("GET", "/models", "Models, and whether they can be used here", gives=ModelList)
async def read_models(context: Context) -> Response:
    """A provider that cannot be used has one row with the reason."""
    keys = ServedKeys() if context.local is None else WindowKeys(context.local.windows)
    rows = await asyncio.to_thread(list_models, keys)  # it may ask a local server
    return json_response({"items": [row.to_json() for row in rows]})


@routes.add("GET", "/agents", "Agents of runs that name none", gives=AgentList)
async def read_agents() -> Response:
    """As their files have them."""
    return json_response({"items": [dict(agent) for agent in default_agents().agents.values()]})


@routes.add("GET", "/tools", "Tools that threads may use", gives=ToolList)
async def read_tools(request: Request, context: Context) -> Response:
    """None of them acts on the host, unless the operator allows a workspace, or a window of the host asks."""
    rows = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters), "risk": tool.risk}
        for tool in offered_tools(context, has_folder=is_local(request.scope))
    ]
    return json_response({"items": rows})
