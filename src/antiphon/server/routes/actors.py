"""Routes of actors, for an inspector: trees, snapshots at any step, journals, events, forks."""

import secrets

from starlette.requests import Request
from starlette.responses import Response

from antiphon.runtime.index.rows import RowCursor, RowFilter
from antiphon.runtime.records import TreeSummary
from antiphon.server.actor_rows import actor_rows, read_observed
from antiphon.server.bodies import ForkThread, SendEvent
from antiphon.server.callers import Caller, RequestCaller
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import JSON, Routes, json_response, read_body
from antiphon.server.problems import ProblemError
from antiphon.server.replies import ActorTree, EntryList, EventReply, ForkReply, RootList, SnapshotReply, StepReply
from antiphon.server.requests import (
    Accept,
    After,
    AfterStep,
    Key,
    LastEventId,
    Limit,
    RootId,
    Step,
    check_cursor,
    choose_media_type,
    letter_id,
)
from antiphon.server.streams import MEDIA_TYPE, EventStream, entry_row, follow_tree
from antiphon.threads.service import possible

routes = Routes("actors")
THREAD = "thread"
PAGE = 1000
FORK_ID_BYTES = 12


@routes.add("GET", "/actors", "Trees of actors, in the order of their ids", gives=RootList)
async def list_roots(
    context: Context,
    caller: RequestCaller,
    limit: Limit = 100,
    after: After = "",
) -> Response:
    """Threads, and trees of other machines of the app, which are those of the operator."""
    if caller.is_operator:
        roots = await context.app.runtime.roots(after, limit)
    else:
        roots = await _own_roots(context, caller, after, limit)
    rows = [
        {"id": root.root, "machine": root.machine, "status": root.status, "seq": root.seq, "updated": root.updated}
        for root in roots
    ]
    return json_response({"items": rows, "next": roots[-1].root if len(roots) == limit else None})


async def _own_roots(context: ServerContext, caller: Caller, after: str, limit: int) -> list[TreeSummary]:
    """Return the trees of a user's threads after an id; an id of another user is no place in the list."""
    index = context.app.library.index
    filter = RowFilter(owner=caller.user)
    ids: list[str] = []
    page = await index.page(filter, None, PAGE)
    while page:
        ids += [tree.root for tree in page if tree.root > after]
        page = await index.page(filter, RowCursor(page[-1].updated, page[-1].root), PAGE)
    summaries = [await context.app.runtime.store.summary(id) for id in sorted(ids)[:limit]]
    return [summary for summary in summaries if summary is not None]


@routes.add("GET", "/actors/{root}", "The actors of a tree", gives=ActorTree)
async def read_tree(context: Context, root: RootId) -> Response:
    """With the states they are in, their charts, and the events that they take."""
    runtime = context.app.runtime
    origin = await runtime.origin(root)
    snapshot = await runtime.snapshot(root)
    cursor = await runtime.cursor(root)
    rows = actor_rows(snapshot, runtime.machines.of(origin))
    for row in rows:
        row["can"] = list(await runtime.can(root, row["address"]))
    tree = {
        "id": root,
        "machine": origin.machine,
        "version": origin.version,
        "hash": origin.hash,
        "seq": int(cursor.rpartition(":")[2]),
        "cursor": cursor,
        "forkedFrom": origin.forked_from,
        "forkedStep": origin.forked_seq,
        "actors": rows,
        "can": rows[0]["can"],
    }
    return json_response(tree)


@routes.add(
    "GET", "/actors/{root}/snapshot", "The snapshot of a tree, now or after an earlier step", gives=SnapshotReply
)
async def read_snapshot(context: Context, root: RootId, step: Step = None) -> Response:
    """All actors with their contexts."""
    last = await _last_step(context, root)
    _check_step(root, step, last)
    snapshot = await context.app.runtime.snapshot(root, step)
    return json_response({"id": root, "step": step or last, "snapshot": snapshot})


async def _last_step(context: ServerContext, root: str) -> int:
    await context.app.runtime.origin(root)
    return (await context.app.runtime.store.history(root))[1]


def _check_step(root: str, step: int | None, last: int) -> None:
    if step is not None and not 1 <= step <= last:
        raise ProblemError("unknown_step", f"{root!r} has no step {step}; it has the steps 1 to {last}")


@routes.add("GET", "/actors/{root}/step", "A step of a tree, with the transitions that it took", gives=StepReply)
async def read_step(context: Context, root: RootId, step: Step = None) -> Response:
    """The last one, or an earlier one: its event, the actors with their contexts after it, and what led there."""
    last = await _last_step(context, root)
    _check_step(root, step, last)
    return json_response(await read_observed(context.app.runtime, root, step or last))


@routes.add(
    "GET",
    "/actors/{root}/journal",
    "The journal of a tree, or follow it",
    gives=EntryList,
    media_types=(MEDIA_TYPE, JSON),
)
async def read_journal(
    context: Context,
    root: RootId,
    limit: Limit = 100,
    after: AfterStep = 0,
    accept: Accept = "*/*",
    last_event_id: LastEventId = "",
) -> Response:
    """Its steps, the oldest first: as JSON a page of them, as `text/event-stream` all and then new ones.

    The last event of a tree that has ended is `ended`.
    """
    await _last_step(context, root)
    if choose_media_type(accept, JSON, MEDIA_TYPE) == MEDIA_TYPE:
        return EventStream(context, follow_tree(context.app.runtime, root, check_cursor(last_event_id) or after))
    entries = await context.app.runtime.store.entries(root, after, limit)
    next = entries[-1].seq if len(entries) == limit else None
    return json_response({"items": [entry_row(entry) for entry in entries], "next": next})


@routes.add("POST", "/actors/{root}/events", "Send an event to an actor", takes=SendEvent, gives=EventReply, status=202)
async def send_event(request: Request, context: Context, root: RootId, key: Key = None) -> Response:
    """One that its machine declares, and that may come from outside; what is refused changes nothing."""
    body = await read_body(request, SendEvent)
    origin = await context.app.runtime.origin(root)
    receipt = await context.app.runtime.send(root, body["event"], id=letter_id(key), to=body.get("to", ""))
    if receipt.problem is not None:
        raise ProblemError("bad_event", receipt.problem.text, path=receipt.problem.path)
    if receipt.status == "failed":
        raise ProblemError("not_taken", "the step raised an exception; the event is kept as a dead letter")
    if receipt.status == "rejected":
        to = body.get("to", "")
        type = body["event"].get("type")
        detail = f"actor {to!r} of {root!r} does not take {type} now"
        if origin.machine == THREAD:
            status = await context.app.threads.status(root)
            detail = f"{type} is not possible now: thread {root!r} is {status}; {possible(receipt)}"
        raise ProblemError("refused", detail, can={to: list(await context.app.runtime.can(root, to))})
    return json_response({"status": receipt.status, "seq": receipt.seq, "cursor": receipt.cursor}, 202)


@routes.add("POST", "/actors/{root}/fork", "Fork a tree from a step", takes=ForkThread, gives=ForkReply, status=201)
async def fork_tree(request: Request, context: Context, root: RootId) -> Response:
    """From the last step, or from an earlier one."""
    body = await read_body(request, ForkThread)
    last = await _last_step(context, root)
    _check_step(root, body.get("step"), last)
    step = body.get("step") or last
    if (await context.app.runtime.origin(root)).machine == THREAD:
        return json_response(
            {"id": await context.app.threads.fork(root, step, new=secrets.token_hex(FORK_ID_BYTES))}, 201
        )
    return json_response({"id": await context.app.runtime.fork(root, step)}, 201)
