"""Tools that read: models, lists, searches, and threads as text."""

import asyncio
from typing import Any, NamedTuple

from antiphon.providers.catalog import list_models
from antiphon.server.facades.mcp.calls import McpCall
from antiphon.server.facades.mcp.outcomes import describe_request
from antiphon.server.facades.mcp.schemas import check_range
from antiphon.threads.pages import view_to_json

PAGE = 20
MOST_ITEMS = 100
CHARACTERS = 20_000
FEWEST_CHARACTERS = 1_000
MOST_CHARACTERS = 100_000


class ToolOutput(NamedTuple):
    """Output of a tool: words for a model, the same as data, and whether what was asked for has failed."""

    text: str
    data: dict[str, Any]
    has_failed: bool = False


async def read_models(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Return the models that can be used, or all."""
    rows = await asyncio.to_thread(list_models)  # it may ask a local server
    items = [row.to_json() for row in rows if row.usable or not arguments.get("usable", True)]
    lines = [f"{item['reference']}  {item['note']}".rstrip() for item in items]
    return ToolOutput("\n".join(lines) or "No model can be used here.", {"items": items})


async def list_threads(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Return a page of threads."""
    limit = int(check_range(arguments, "limit", PAGE, 1, MOST_ITEMS))
    views = await call.context.app.library.latest(
        limit,
        archived=arguments.get("archived", False),
        kind=arguments.get("kind"),
        status=arguments.get("status"),
        owner=None if call.caller.is_operator else call.caller.user,
        after=arguments.get("after"),
    )
    return _page([view_to_json(view) for view in views], views[-1].cursor if len(views) == limit else None)


async def search_threads(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Return a page of the threads that a search finds, each with the line that matches."""
    limit = int(check_range(arguments, "limit", PAGE, 1, MOST_ITEMS))
    matches = await call.context.app.library.search(
        arguments["words"],
        limit,
        after=arguments.get("after"),
        owner=None if call.caller.is_operator else call.caller.user,
    )
    rows = [{**view_to_json(match.view), "line": match.line} for match in matches]
    return _page(rows, matches[-1].cursor if len(matches) == limit else None)


def _page(rows: list[dict[str, Any]], next: str | None) -> ToolOutput:
    lines = [f"{row['id']}  {row['kind']}  {row['status']}  {row['title']}" for row in rows]
    lines += [f'There are more: pass after="{next}".'] if next is not None else []
    return ToolOutput("\n".join(lines) or "There are no threads.", {"items": rows, "next": next})


async def read_thread(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Return the end of a thread as Markdown, or the part before a place."""
    thread: str = arguments["thread"]
    limit = int(check_range(arguments, "limit", CHARACTERS, FEWEST_CHARACTERS, MOST_CHARACTERS))
    await call.check(thread)
    page = await call.threads.read(thread)
    text = await call.threads.export(thread)
    end = int(check_range(arguments, "before", len(text), 0, len(text)))
    start = max(0, end - limit)
    requests = "".join(f"\n\nOpen request {request.id}: {describe_request(request)}" for request in page.requests)
    head = f"(the text before character {start} is read with before={start})\n\n" if start else ""
    data = {
        **view_to_json(page.view),
        "cursor": page.cursor,
        "requests": [request.to_json() for request in page.requests],
        "start": start,
        "end": end,
        "characters": len(text),
    }
    return ToolOutput(f"{head}{text[start:end]}{requests if end == len(text) else ''}", data)
