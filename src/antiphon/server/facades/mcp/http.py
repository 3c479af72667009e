"""The route of MCP over streamable HTTP. The MCP library is imported with the first request."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.contracts import JSON, Routes
from antiphon.server.json_body import is_json, parse_json
from antiphon.server.problems import ProblemError
from antiphon.server.replies import ProblemReply
from antiphon.server.streams import MEDIA_TYPE

if TYPE_CHECKING:
    from antiphon.server.facades.mcp.sessions import McpSessions


class McpErrorReply(TypedDict):
    """An error of JSON-RPC: of the MCP library, where a problem comes from the server."""

    jsonrpc: str
    id: str | int | None
    error: dict[str, Any]


routes = Routes("mcp", errors=(ProblemReply, McpErrorReply))
PATH = "/mcp"
NOT_INSTALLED = "this server has no MCP; its operator adds it with: pip install 'antiphon[mcp]'"


@routes.add("POST", PATH, "Send a message of MCP", media_types=(JSON, MEDIA_TYPE))
async def send_mcp_message(request: Request) -> Response:
    """One message of JSON-RPC; the reply to a request is JSON or a stream."""
    return await _respond(request)


@routes.add("GET", PATH, "Follow or resume a session of MCP", media_types=(MEDIA_TYPE,))
async def follow_mcp_session(request: Request) -> Response:
    """Messages of the server that belong to no request, or those after `Last-Event-ID`."""
    return await _respond(request)


@routes.add("DELETE", PATH, "End a session of MCP")
async def end_mcp_session(request: Request) -> Response:
    """Its calls are cancelled, and its threads continue."""
    return await _respond(request)


async def _respond(request: Request) -> Response:
    body = await request.body()
    if request.method == "POST":
        _check_message(request, body)
    sessions = _sessions(request)
    from antiphon.server.facades.mcp.sessions import McpResponse

    return McpResponse(sessions, body)


def _check_message(request: Request, body: bytes) -> None:
    """Raise `ProblemError` for a message that the library would read less strictly than the other routes."""
    content_type = request.headers.get("content-type", "")
    if not is_json(content_type):
        raise ProblemError("wrong_media_type", f"the body is {content_type or 'of no type'}; send application/json")
    message = parse_json(body, request.app.state.context.settings.deepest_json)
    # The library takes a request whose id is neither a text nor a number for a notification, and never answers it.
    if isinstance(message, dict) and "method" in message and type(message.get("id", 0)) not in (str, int):
        raise ProblemError("bad_body", "body: id must be a text or a whole number", path="id")


def _sessions(request: Request) -> "McpSessions":
    """Return the sessions of the server, which begin with the first request."""
    if find_spec("mcp") is None:
        raise ProblemError("unknown_route", NOT_INSTALLED)
    from antiphon.server.facades.mcp.sessions import McpSessions

    state = request.app.state
    if not hasattr(state, "mcp"):
        state.mcp = McpSessions(state.context)
    sessions: McpSessions = state.mcp
    return sessions
