"""Routes of threads: create, list, search, open, rename, archive, delete, fork, export."""

import hashlib
import secrets
from typing import Annotated, Literal

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.bodies import ChangeThread, CreateChat, CreateDebate, CreateRun, ForkThread
from antiphon.server.callers import RequestCaller, check_owner, note_thread, require_own_name
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, json_response, read_body
from antiphon.server.creation import ID_BYTES, check_title, create_from_body
from antiphon.server.parameters import Query
from antiphon.server.problems import ProblemError
from antiphon.server.replies import OpenedThread, ThreadList, UsageReply
from antiphon.server.requests import Key, Limit, ThreadId, letter_id, thread_response
from antiphon.server.windows.local import is_local
from antiphon.server.windows.threads import forget_thread, join_thread
from antiphon.threads.pages import view_to_json

routes = Routes("threads")
EXPORTS = {"md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8", "json": "application/json"}
# An exported page has styles and pictures of its own, and nothing else.
EXPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOST_DELETIONS = 1000


@routes.add(
    "POST",
    "/threads",
    "Create a chat, a run or a debate",
    takes=(CreateChat, CreateRun, CreateDebate),
    gives=OpenedThread,
    status=201,
    repeated=200,
)
async def create_thread(request: Request, context: Context, caller: RequestCaller, key: Key = None) -> Response:
    """Models, agents and tools are checked before anything is stored; repeated with its key, it is created once."""
    body = await read_body(request, CreateChat, CreateRun, CreateDebate)
    if not caller.is_operator and "id" in body:
        # Whether an id is taken would say that another user has such a thread.
        raise ProblemError("not_allowed", "only the operator chooses ids; use Idempotency-Key to create a thread once")
    owner = require_own_name(caller, body.get("owner"))
    if owner is not None:
        body["owner"] = owner
    is_window = is_local(request.scope)
    if key is not None and "id" not in body:
        body["id"] = _id_of(key)
        if await _exists(context, body["id"]):
            if not is_window:  # a window may have created it with a folder
                await check_owner(context, caller, body["id"])
            return await _existing(context, body["id"], body["kind"])
    elif "id" in body and await _exists(context, body["id"]):
        raise ProblemError("exists", f"there is a thread {body['id']!r} already; choose another id, or none")
    id = await create_from_body(context, body, is_window=is_window)
    join_thread(context, id)
    note_thread(request, id)
    return await thread_response(context, id, 201)


def _id_of(letter: str) -> str:
    """Return the id of the thread that a request with a key creates."""
    return hashlib.sha256(letter.encode()).hexdigest()[: 2 * ID_BYTES]


async def _exists(context: ServerContext, id: str) -> bool:
    return await context.app.runtime.store.summary(id) is not None


async def _existing(context: ServerContext, id: str, kind: str) -> Response:
    """Return the thread that an earlier request with the same key has created."""
    if (await context.app.threads.state(id)).get("kind") != kind:
        raise ProblemError("key_reused", f"the key was used for thread {id!r}, which is no {kind}; use another key")
    return await thread_response(context, id)


@routes.add("GET", "/threads", "List threads, the latest changed first, or search their texts", gives=ThreadList)
async def list_threads(
    context: Context,
    caller: RequestCaller,
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
    prefix: Annotated[str | None, Query(max_length=200, description="beginning of the id")] = None,
) -> Response:
    """A search finds threads of all kinds, and takes `words`, `limit`, `after` and `owner` only.

    `prefix` lists the threads whose ids begin with it, at most 1,000, archived ones too; it takes `kind` only.
    """
    library = context.app.library
    owner = require_own_name(caller, owner)
    if prefix is not None:
        matching = await library.find_views(prefix, kind, None if caller.is_operator else caller.user)
        return json_response({"items": [view_to_json(view) for view in matching], "next": None})
    if words is not None:
        matches = await library.search(words, limit, after=after, owner=owner)
        rows = [{**view_to_json(match.view), "line": match.line, "matchCursor": match.cursor} for match in matches]
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
async def change_thread(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Set its title, or archive it."""
    body = await read_body(request, ChangeThread)
    check_title(body.get("title"))
    await context.app.threads.status(id)
    if "title" in body:
        await context.app.threads.rename(id, body["title"], key=letter_id(key, "/title"))
    if "archived" in body:
        await _archive(context, id, body["archived"], letter_id(key, "/archived"))
    return await thread_response(context, id, with_content=False)


@routes.add("POST", "/threads/{id}/archive", "Archive a thread", gives=OpenedThread)
async def archive_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """Lists do not show it any more."""
    await _archive(context, id, True, letter_id(key, "/archive"))
    return await thread_response(context, id, with_content=False)


@routes.add("POST", "/threads/{id}/unarchive", "Take a thread out of the archive", gives=OpenedThread)
async def unarchive_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """Lists show it again."""
    await _archive(context, id, False, letter_id(key, "/unarchive"))
    return await thread_response(context, id, with_content=False)


async def _archive(context: ServerContext, id: str, archived: bool, letter: str | None) -> None:
    if (await context.app.threads.state(id)).get("archived") != archived:
        await context.app.threads.archive(id, archived, key=letter)


@routes.add("DELETE", "/threads/{id}", "Delete a thread with all that belongs to it", status=204)
async def delete_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """Work in progress is cancelled; forks of the thread are kept. A key is remembered while the server runs."""
    letter = letter_id(key, f"/delete/{id}")
    if letter is None or letter not in context.deletions:
        await context.app.threads.delete(id)
        forget_thread(context, id)
        remember_deletion(context, letter)
    return Response(status_code=204)


def remember_deletion(context: ServerContext, letter: str | None) -> None:
    """Remember the key of a deletion: the thread, which has the keys of everything else, is gone."""
    if letter is not None:
        context.deletions[letter] = None
        if len(context.deletions) > MOST_DELETIONS:
            del context.deletions[next(iter(context.deletions))]


@routes.add(
    "POST", "/threads/{id}/fork", "Create a thread from another one", takes=ForkThread, gives=OpenedThread, status=201
)
async def fork_thread(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """It continues from the last step or from an earlier one; work in progress is interrupted in it."""
    body = await read_body(request, ForkThread)
    letter = letter_id(key, f"/fork/{id}")
    name = secrets.token_hex(ID_BYTES) if letter is None else _id_of(letter)
    if letter is not None and await _exists(context, name):
        return await thread_response(context, name)
    new = await context.app.threads.fork(id, body.get("step"), new=name)
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
