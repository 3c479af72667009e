"""The MCP server itself: its tools and resources as the MCP library serves them, and errors as results.

1. A problem is the result of a call, with `isError`, its code and its detail as text, and the whole problem in `_meta`;
   only an unknown tool, an unknown resource or a cursor that is none is an error of the protocol.
2. Clients of 2025 are asked by a request on the stream of the call. Those of 2026 are told that the call needs input,
   and repeat it with the forms; its state is the thread that it began, and gives no right to anything.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from antiphon.server.callers import CALLER, OPERATOR, Caller, note_thread
from antiphon.server.context import ServerContext
from antiphon.server.facades.mcp.actions import continue_call
from antiphon.server.facades.mcp.calls import (
    ASK_ROUNDS,
    Asker,
    Continuation,
    Form,
    InputNeeded,
    McpCall,
    form_of,
    parse_continuation,
)
from antiphon.server.facades.mcp.reading import ToolOutput
from antiphon.server.facades.mcp.resources import MEDIA_TYPE, TEMPLATE, list_resources, read_resource
from antiphon.server.facades.mcp.schemas import check_arguments, schema_of
from antiphon.server.facades.mcp.tools import BY_NAME, TOOLS, ToolKind
from antiphon.server.problems import ProblemError, problem_of
from antiphon.threads import OpenRequest
from antiphon.version import VERSION

Context = ServerRequestContext[Any, Any]
PROBLEM = "antiphon/problem"
ABOUT = (
    "Conversations with models that are kept: chats, runs of agents on a task, and debates. "
    "A call only waits for a thread, which continues without it; read_thread and read_run show how it stands. "
    "Threads ask a person before they change anything: show open requests to the user, and answer as the user says."
)
_log = logging.getLogger("antiphon.server")


def build_protocol(context: ServerContext) -> Server[Any]:
    """Return the MCP server of an app."""
    handlers = Handlers(context)
    server: Server[Any] = Server(
        "antiphon",
        version=VERSION,
        title="Antiphon",
        instructions=ABOUT,
        get_tool_input_schema=lambda name: schema_of(BY_NAME[name].takes) if name in BY_NAME else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
    server.middleware.clear()  # its spans would hold names and messages that clients make up
    return server


class Handlers:
    """The methods of the protocol."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def list_tools(
        self, request: Context, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        """Return all tools; they fit on one page."""
        toolbox = self._context.app.chats.resources.toolbox
        has_tools = toolbox is not None and bool(toolbox.tools)
        return mcp_types.ListToolsResult(tools=[_tool(tool, has_tools) for tool in TOOLS])

    async def call_tool(
        self, request: Context, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult | mcp_types.InputRequiredResult:
        """Run a tool; a problem is its result."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            names = ", ".join(BY_NAME)
            raise MCPError(mcp_types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; known: {names}")
        try:
            arguments = check_arguments(tool.takes, params.arguments or {})
            call = self._call(request, params)
            is_repeated = call.continuation is not None and not tool.is_read_only
            return _result(await (continue_call if is_repeated else tool.run)(call, arguments))
        except InputNeeded as need:
            return _input_required(need)
        except MCPError:
            raise
        except Exception as error:
            return _failure(error, tool.name)

    def _call(self, request: Context, params: mcp_types.CallToolRequestParams | None = None) -> McpCall:
        async def report(progress: float, message: str) -> None:
            await request.session.report_progress(progress, message=message)

        continuation, rounds = _continuation(params)

        def note(thread: str) -> None:
            if request.request is not None:
                note_thread(request.request, thread)

        return McpCall(self._context, caller_of(request), report, _asker(request, rounds), continuation, note)

    async def list_resources(
        self, request: Context, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourcesResult:
        """Return a page of threads."""
        try:
            items, after = await list_resources(self._call(request), None if params is None else params.cursor)
        except Exception as error:
            raise _protocol_error(error) from error
        resources = [
            mcp_types.Resource(
                uri=item.uri,
                name=item.name,
                title=item.title,
                description=item.description,
                mime_type=MEDIA_TYPE,
                annotations=mcp_types.Annotations(last_modified=item.modified),
            )
            for item in items
        ]
        return mcp_types.ListResourcesResult(resources=resources, next_cursor=after)

    async def list_templates(
        self, request: Context, params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourceTemplatesResult:
        """Return the address of a thread."""
        template = mcp_types.ResourceTemplate(
            uri_template=TEMPLATE,
            name="thread",
            title="Thread",
            description="A chat, a run or a debate as Markdown",
            mime_type=MEDIA_TYPE,
        )
        return mcp_types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, request: Context, params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        """Return a thread as Markdown."""
        uri = str(params.uri)
        try:
            text = await read_resource(self._call(request), uri)
        except Exception as error:
            raise _protocol_error(error) from error
        content = mcp_types.TextResourceContents(uri=uri, mime_type=MEDIA_TYPE, text=text)
        return mcp_types.ReadResourceResult(contents=[content])


def caller_of(request: Context) -> Caller:
    """Return the caller that the guard has authenticated; over standard input it is the operator."""
    if request.request is None:
        return OPERATOR
    caller: Caller = request.request.scope[CALLER]
    return caller


def _tool(tool: ToolKind, has_tools: bool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=schema_of(tool.takes),
        output_schema=schema_of(tool.gives),
        annotations=mcp_types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive or (tool.uses_tools and has_tools),
            idempotent_hint=tool.is_read_only or tool.is_idempotent,
            open_world_hint=tool.is_open,
        ),
    )


def _result(output: ToolOutput) -> mcp_types.CallToolResult:
    content = [mcp_types.TextContent(text=output.text)]
    return mcp_types.CallToolResult(content=[*content], structured_content=output.data, is_error=output.has_failed)


def _problem(error: Exception, place: str) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    problem = problem_of(error)
    if problem is None:
        _log.error("%s of MCP failed", place, exc_info=error)
    return problem or ProblemError("internal", "see the log of the server")


def _failure(error: Exception, place: str) -> mcp_types.CallToolResult:
    """Return a problem as the result of a call."""
    problem = _problem(error, place)
    content = [mcp_types.TextContent(text=f"{problem.code}: {problem.detail}")]
    return mcp_types.CallToolResult(content=[*content], is_error=True, _meta={PROBLEM: problem.to_json()})


def _protocol_error(error: Exception) -> MCPError:
    """Return a problem with a resource as an error of the protocol."""
    problem = _problem(error, "resources")
    code = mcp_types.INTERNAL_ERROR if problem.kind.status >= 500 else mcp_types.INVALID_PARAMS
    return MCPError(code, f"{problem.code}: {problem.detail}", problem.to_json())


def _asker(request: Context, rounds: int) -> Asker | None:
    """Return how the person at the client is asked, or None if the client cannot show forms."""
    session = request.session
    elicitation = None if session.client_capabilities is None else session.client_capabilities.elicitation
    # A client that names no mode shows forms.
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return None
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return RepeatedCall(rounds) if rounds < ASK_ROUNDS else None
    return Elicitation(request) if session.can_send_request else None


class Elicitation:
    """Asks by requests on the stream of the call."""

    def __init__(self, request: Context) -> None:
        self._request = request

    async def ask(self, thread: str, requests: Sequence[OpenRequest]) -> Mapping[str, Form]:
        """Return the forms that were filled in; one that was declined or dismissed is left out."""
        forms: dict[str, Form] = {}
        for item in requests:
            message, schema = form_of(item)
            try:
                answer = await self._request.session.elicit_form(message, schema, self._request.request_id)
            except MCPError as error:  # the client has no answer
                _log.info("elicitation failed: %s", error.message)
                break
            if answer.action == "accept":
                forms[item.id] = answer.content or {}
        return forms


class RepeatedCall:
    """Asks by a result that needs input: the client repeats the call with the forms."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds

    async def ask(self, thread: str, requests: Sequence[OpenRequest]) -> Mapping[str, Form]:
        """Raise `InputNeeded`."""
        raise InputNeeded(thread, requests, self._rounds + 1)


def _input_required(need: InputNeeded) -> mcp_types.InputRequiredResult:
    forms: dict[str, Any] = {}
    for item in need.requests:
        message, schema = form_of(item)
        params = mcp_types.ElicitRequestFormParams(message=message, requested_schema=schema)
        forms[item.id] = mcp_types.ElicitRequest(params=params)
    state = json.dumps({"thread": need.thread, "rounds": need.rounds})
    return mcp_types.InputRequiredResult(input_requests=forms, request_state=state)


def _continuation(params: mcp_types.CallToolRequestParams | None) -> tuple[Continuation | None, int]:
    """Return the forms that a repeated call brings, and how often a person was asked."""
    if params is None or params.request_state is None:
        return None, 0
    try:
        state = json.loads(params.request_state)
    except (ValueError, RecursionError):
        state = None
    forms = {
        id: answer.content or {}
        for id, answer in (params.input_responses or {}).items()
        if isinstance(answer, mcp_types.ElicitResult) and answer.action == "accept"
    }
    return parse_continuation(state, forms)
