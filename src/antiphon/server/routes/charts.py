"""Routes of charts: those of the machines of the server, as JSON and as diagrams."""

from typing import Annotated, Any

from starlette.responses import Response

from antiphon.chart.definition import written_chart
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.runtime.machines import AnyMachine, chart_hash, descendants, is_hash_of
from antiphon.server.callers import Caller, RequestCaller
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, json_response
from antiphon.server.parameters import Query
from antiphon.server.problems import ProblemError
from antiphon.server.replies import ChartList, ChartReply

routes = Routes("catalog")
THREAD = "thread"


def _machines(context: ServerContext, caller: Caller) -> dict[str, list[AnyMachine]]:
    """Return the machines of the server and those of their children by their ids, the current version of each last.

    Machines that are not those of threads are the operator's, as their trees are.
    """
    machines: dict[str, list[AnyMachine]] = {}
    for registered in context.app.runtime.machines.all():
        if caller.is_operator or registered.id == THREAD:
            for machine in descendants(registered):
                machines.setdefault(machine.id, []).append(machine)
    return machines


def _machine(context: ServerContext, caller: Caller, id: str, hash: str | None = None) -> AnyMachine:
    machines = _machines(context, caller)
    versions = machines.get(id, [])
    fitting = [machine for machine in versions if hash is None or is_hash_of(hash, machine)]
    if fitting:
        return fitting[-1]
    which = f"no version of the chart {id!r} has the hash {hash!r}" if versions else f"there is no chart {id!r}"
    raise ProblemError("unknown_chart", f"{which}; known: {', '.join(machines)}")


def _chart_row(machine: AnyMachine) -> dict[str, Any]:
    return {"id": machine.id, "version": machine.version, "hash": chart_hash(machine)}


@routes.add("GET", "/charts", "Charts of the machines", gives=ChartList)
async def list_charts(context: Context, caller: RequestCaller) -> Response:
    """With their versions and hashes."""
    return json_response({"items": [_chart_row(versions[-1]) for versions in _machines(context, caller).values()]})


@routes.add("GET", "/charts/{id}", "A chart as JSON of XState, and its events", gives=ChartReply)
async def read_chart(
    context: Context,
    caller: RequestCaller,
    id: str,
    hash: Annotated[str | None, Query(max_length=100, description="of a version; the current one without it")] = None,
) -> Response:
    """With the JSON Schema of each event, and the names of those that may come from outside."""
    machine = _machine(context, caller, id, hash)
    types = machine.event_types
    names = () if types is None else types.names
    schemas = {name: types.json_schema(name) for name in names} if types is not None else {}
    public = [name for name in names if types is not None and types.is_public(name)]
    charts = {"chart": machine.to_json(), "config": written_chart(machine)}
    return json_response({**_chart_row(machine), **charts, "events": schemas, "public": public})


@routes.add("GET", "/charts/{id}/mermaid", "A chart as a Mermaid diagram", media_types=("text/plain",))
async def draw_chart(context: Context, caller: RequestCaller, id: str) -> Response:
    """A `stateDiagram-v2`."""
    return Response(to_mermaid(_machine(context, caller, id)).encode("utf-8"), media_type="text/plain; charset=utf-8")
