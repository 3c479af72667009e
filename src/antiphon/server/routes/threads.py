"""Routes of threads: create, list, search, open, rename, archive, delete, fork, export."""

import hashlib
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response

from antiphon.agents.files import default_agents
from antiphon.server.bodies import ChangeThread, CreateChat, CreateDebate, CreateRun, ForkThread
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, json_response, read_body
from antiphon.server.problems import ProblemError, problem_of
from antiphon.server.replies import OpenedThread, ThreadList, UsageReply
from antiphon.server.requests import Key, Limit, ThreadId, letter_id, thread_response
from antiphon.threads import Refused
from antiphon.threads.pages import view_to_json

routes = Routes("threads")
EXPORTS = {"md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/json"}
# An exported page has styles and pictures of its own, and nothing else.
EXPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST_TITLE = 500
ID_DIGITS = 24


@routes.add(
    "POST",
    "/threads",
    "Create a chat, a run or a debate",
    takes=(CreateChat, CreateRun, CreateDebate),
    gives=OpenedThread,
    status=201,
    repeated=200,
)
async def create_thread(request: Request, context: Context, key: Key = None) -> Response:
    """Models, agents and tools are checked before anything is stored; repeated with its key, it is created once."""
    body = await read_body(request, CreateChat, CreateRun, CreateDebate)
    if (name := letter_id(key)) is not None and "id" not in body:
        body["id"] = hashlib.sha256(name.encode()).hexdigest()[:ID_DIGITS]
        if await _exists(context, body["id"]):
            return await _existing(context, body["id"], body["kind"])
    elif "id" in body and await _exists(context, body["id"]):
        raise ProblemError("exists", f"there is a thread {body['id']!r}; choose another id, or none")
    id = await _create(context, body)
    return await thread_response(context, id, 201)


async def _exists(context: ServerContext, id: str) -> bool:
    return await context.app.runtime.store.summary(id) is not None


async def _existing(context: ServerContext, id: str, kind: str) -> Response:
    """Return the thread that an earlier request with the same key has created."""
    if (await context.app.threads.state(id)).get("kind") != kind:
        raise ProblemError("key_reused", f"the key was used for thread {id!r}, which is no {kind}; use another key")
    return await thread_response(context, id)


async def _create(context: ServerContext, body: dict[str, Any]) -> str:
    _check_title(body.get("title"))
    settings = {key: value for key, value in body.items() if key != "kind"}
    kind: str = body["kind"]
    if kind in ("chat", "run") and "tools" in settings:
        settings["tools"] = _select_tools(context, settings["tools"])
    if kind == "run" and "agents" not in settings:
        settings["agents"] = default_agents().agents
    if "tools" in ((settings.get("settings") or {}).get("options") or {}) or "tools" in (settings.get("options") or {}):
        raise ProblemError("bad_settings", "options.tools is not a setting; name tools of GET /tools in tools")
    try:
        return await context.app.threads.create(kind, **settings)
    except Refused as error:
        raise ProblemError("bad_settings", str(error)) from error
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        # Settings whose declared type is any object are read by the code of their kind.
        if problem_of(error) is not None:
            raise
        raise ProblemError("bad_settings", f"the settings of the {kind} cannot be read: {error}") from error


def _check_title(title: str | None) -> None:
    if title is not None and len(title) > LONGEST_TITLE:
        raise ProblemError(
            "bad_body", f"body: title has {len(title)} characters, at most {LONGEST_TITLE}", path="title"
        )


def _select_tools(context: ServerContext, names: list[str]) -> list[Any]:
    """Return the tools of the app by their names: a client cannot declare the risk of a tool."""
    toolbox = context.app.chats.resources.toolbox
    tools = {tool.name: tool for tool in (() if toolbox is None else toolbox.tools)}
    for name in names:
        if name not in tools:
            listed = ", ".join(sorted(tools)) or "none; tools on the host need `antiphon serve --workspace FOLDER`"
            raise ProblemError("not_allowed", f"this server has no tool {name!r}; it has: {listed}")
    return [tools[name] for name in names]


@routes.add("GET", "/threads", "List threads, the latest changed first, or search their texts", gives=ThreadList)
async def list_threads(
    context: Context,
    limit: Limit = 20,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before")] = None,
    words: Annotated[str | None, Query(max_length=500, description="search for texts with these words")] = None,
    kind: Literal["chat", "run", "debate"] | None = None,
    status: Annotated[str | None, Query(max_length=40)] = None,
    owner: Annotated[str | None, Query(max_length=200)] = None,
    archived: Annotated[bool | None, Query(description="archived threads, or the others; `all` selects both")] = False,
    all: Annotated[bool, Query(description="archived threads too")] = False,
    since: Annotated[
        str | None, Query(max_length=200, description="`listCursor` of a thread: those changed since")
    ] = None,
) -> Response:
    """A search finds threads of all kinds, and takes `words`, `limit` and `after` only."""
    library = context.app.library
    if words is not None:
        matches = await library.search(words, limit, after=after)
        rows = [{**view_to_json(match.view), "line": match.line} for match in matches]
        return json_response({"items": rows, "next": matches[-1].cursor if len(matches) == limit else None})
    views = await library.latest(
        limit, archived=None if all else archived, kind=kind, status=status, owner=owner, after=after, since=since
    )
    rows = [view_to_json(view) for view in views]
    return json_response({"items": rows, "next": views[-1].cursor if len(views) == limit else None})


@routes.add("GET", "/threads/{id}", "Open a thread", gives=OpenedThread)
async def open_thread(
    context: Context, id: ThreadId, content: Annotated[bool, Query(description="with its content")] = True
) -> Response:
    """Its content, its open requests, the events that it takes now, and the cursor to follow it from."""
    return await thread_response(context, id, with_content=content)


@routes.add("PATCH", "/threads/{id}", "Rename, archive or unarchive a thread", takes=ChangeThread, gives=OpenedThread)
async def change_thread(request: Request, context: Context, id: ThreadId) -> Response:
    """Set its title, or archive it."""
    body = await read_body(request, ChangeThread)
    _check_title(body.get("title"))
    await context.app.threads.status(id)
    if "title" in body:
        await context.app.threads.rename(id, body["title"])
    if "archived" in body:
        await _archive(context, id, body["archived"])
    return await thread_response(context, id, with_content=False)


@routes.add("POST", "/threads/{id}/archive", "Archive a thread", gives=OpenedThread)
async def archive_thread(context: Context, id: ThreadId) -> Response:
    """Lists do not show it any more."""
    await _archive(context, id, True)
    return await thread_response(context, id, with_content=False)


@routes.add("POST", "/threads/{id}/unarchive", "Take a thread out of the archive", gives=OpenedThread)
async def unarchive_thread(context: Context, id: ThreadId) -> Response:
    """Lists show it again."""
    await _archive(context, id, False)
    return await thread_response(context, id, with_content=False)


async def _archive(context: ServerContext, id: str, archived: bool) -> None:
    if (await context.app.threads.state(id)).get("archived") != archived:
        await context.app.threads.archive(id, archived)


@routes.add("DELETE", "/threads/{id}", "Delete a thread with all that belongs to it", status=204)
async def delete_thread(context: Context, id: ThreadId) -> Response:
    """Work in progress is cancelled; forks of the thread are kept."""
    await context.app.threads.delete(id)
    return Response(status_code=204)


@routes.add(
    "POST", "/threads/{id}/fork", "Create a thread from another one", takes=ForkThread, gives=OpenedThread, status=201
)
async def fork_thread(request: Request, context: Context, id: ThreadId) -> Response:
    """It continues from the last step or from an earlier one; work in progress is interrupted in it."""
    body = await read_body(request, ForkThread)
    new = await context.app.threads.fork(id, body.get("step"))
    return await thread_response(context, new, 201)


@routes.add(
    "GET", "/threads/{id}/export", "Export a thread", media_types=("text/markdown", "text/html", "application/json")
)
async def export_thread(context: Context, id: ThreadId, format: Literal["md", "html", "json"] = "md") -> Response:
    """As Markdown, one HTML page or JSON."""
    text = await context.app.threads.export(id, format)
    headers = {
        "content-disposition": f'attachment; filename="thread.{format}"',
        "content-security-policy": EXPORT_POLICY,
    }
    return Response(text.encode("utf-8", "replace"), 200, headers, EXPORTS[format])


@routes.add("GET", "/threads/{id}/usage", "Cost and usage of a thread", gives=UsageReply)
async def read_usage(context: Context, id: ThreadId) -> Response:
    """The cost in USD, and the figures that the kind of the thread keeps."""
    return json_response(await context.app.threads.usage(id))
