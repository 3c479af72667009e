"""Routes of the things that threads are made of: models, agents, tools and charts."""

import asyncio
from typing import Any

from fastapi import Request, Response

from antiphon.agents.files import default_agents
from antiphon.app import own_machines
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.providers.catalog import ModelListing, list_models
from antiphon.runtime.machines import AnyMachine, chart_hash
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, json_response
from antiphon.server.problems import ProblemError
from antiphon.server.replies import AgentList, ChartList, ChartReply, ModelList, ToolList
from antiphon.server.windows.keys import ServedKeys, WindowKeys
from antiphon.server.windows.local import is_local
from antiphon.server.windows.rules import offered_tools

routes = Routes("catalog")


@routes.add("GET", "/models", "Models, and whether they can be used here", gives=ModelList)
async def read_models(context: Context) -> Response:
    """A provider that cannot be used has one row with the reason."""
    keys = ServedKeys() if context.local is None else WindowKeys(context.local.windows)
    rows = await asyncio.to_thread(list_models, keys)  # it may ask a local server
    return json_response({"items": [model_row(row) for row in rows]})


def model_row(row: ModelListing) -> dict[str, Any]:
    """Return a model of a list as JSON."""
    price = None if row.price is None else {"input": str(row.price.input), "output": str(row.price.output)}
    return {"reference": row.reference, "usable": row.usable, "why": row.why, "note": row.note, "price": price}


@routes.add("GET", "/agents", "Agents of runs that name none", gives=AgentList)
async def read_agents() -> Response:
    """As their files have them."""
    return json_response({"items": [dict(agent) for agent in default_agents().agents.values()]})


@routes.add("GET", "/tools", "Tools that threads may use", gives=ToolList)
async def read_tools(request: Request, context: Context) -> Response:
    """None of them acts on the host, unless the operator allows a workspace, or a window of the host asks."""
    rows = [
        {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters), "risk": tool.risk}
        for tool in offered_tools(context, is_window=is_local(request.scope))
    ]
    return json_response({"items": rows})


def _machine(id: str) -> AnyMachine:
    machines = {machine.id: machine for machine in own_machines()}
    if id not in machines:
        raise ProblemError("unknown_chart", f"there is no chart {id!r}; known: {', '.join(machines)}")
    return machines[id]


def _chart_row(machine: AnyMachine) -> dict[str, Any]:
    return {"id": machine.id, "version": machine.version, "hash": chart_hash(machine)}


@routes.add("GET", "/charts", "Charts of the machines", gives=ChartList)
async def list_charts() -> Response:
    """With their versions and hashes."""
    return json_response({"items": [_chart_row(machine) for machine in own_machines()]})


@routes.add("GET", "/charts/{id}", "A chart as JSON of XState, and its events", gives=ChartReply)
async def read_chart(id: str) -> Response:
    """With the JSON Schema of each event, and the names of those that may come from outside."""
    machine = _machine(id)
    types = machine.event_types
    names = () if types is None else types.names
    schemas = {name: types.json_schema(name) for name in names} if types is not None else {}
    public = [name for name in names if types is not None and types.is_public(name)]
    return json_response({**_chart_row(machine), "chart": machine.to_json(), "events": schemas, "public": public})


@routes.add("GET", "/charts/{id}/mermaid", "A chart as a Mermaid diagram", media_types=("text/plain",))
async def draw_chart(id: str) -> Response:
    """A `stateDiagram-v2`."""
    return Response(to_mermaid(_machine(id)).encode("utf-8"), media_type="text/plain; charset=utf-8")
