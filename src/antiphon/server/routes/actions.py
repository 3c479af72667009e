"""Routes of actions on threads: messages, answers, stop, resume, and the actions of chats, runs and debates."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.bodies import (
    ChooseAgent,
    Interject,
    MergeBranch,
    NewBranch,
    NewCheckpoint,
    NewLimits,
    Perform,
    ResolveMerge,
    Respond,
    RewindChat,
    SendMessage,
    StartThread,
    TakeBack,
)
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, json_response, read_body
from antiphon.server.problems import ProblemError
from antiphon.server.replies import Checkpoints, OpenedThread, PlanReply, ReceiptReply, UsageReply
from antiphon.server.requests import Key, ThreadId, letter_id, receipt_response, require_kind, thread_response
from antiphon.server.windows.local import is_local
from antiphon.server.windows.rules import NO_SOCKET

routes = Routes("actions")


@routes.add("POST", "/threads/{id}/start", "Start a thread", takes=StartThread, gives=ReceiptReply, status=202)
async def start_thread(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """A chat with its first message, a run with its task and maybe a plan, a debate with the topic of its settings."""
    body = await read_body(request, StartThread)
    letter = letter_id(key)
    if "plan" in body:
        await require_kind(context, id, "run")
        return receipt_response(id, await context.app.runs.start(id, body.get("text"), id=letter, plan=body["plan"]))
    return receipt_response(id, await context.app.threads.start(id, body.get("text"), id=letter))


@routes.add("POST", "/threads/{id}/messages", "Send a message", takes=SendMessage, gives=ReceiptReply, status=202)
async def send_message(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """It starts, continues, answers or restarts the thread; in a debate it is an interjection."""
    body = await read_body(request, SendMessage)
    if ("text" in body) == ("parts" in body):
        raise ProblemError("bad_body", "body: send either text or parts", path="text")
    receipt = await context.app.threads.say(
        id,
        body.get("text", ""),
        parts=body.get("parts"),
        options=body.get("options"),
        id=letter_id(key),
        on_busy=body.get("onBusy"),
    )
    return receipt_response(id, receipt)


@routes.add("POST", "/threads/{id}/respond", "Answer an open request", takes=Respond, gives=ReceiptReply, status=202)
async def respond(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """A question in words, a permission by a decision, a limit by a decision and maybe the new limit."""
    body = await read_body(request, Respond)
    if body.get("outside") and not is_local(request.scope):
        raise ProblemError("not_allowed", f"outside: {NO_SOCKET}")
    answer = {name: value for name, value in body.items() if name not in ("requestId", "text")}
    receipt = await context.app.threads.answer(
        id, body.get("text"), request=body["requestId"], key=letter_id(key), **answer
    )
    return receipt_response(id, receipt)


@routes.add(
    "POST",
    "/threads/{id}/revoke",
    "Take back a permission",
    takes=TakeBack,
    gives=ReceiptReply,
    status=202,
)
async def revoke_permission(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """One of the `permissions` of the thread; the calls that it covered are asked about again."""
    body = await read_body(request, TakeBack)
    return receipt_response(id, await context.app.threads.revoke(id, body["permission"], key=letter_id(key)))


@routes.add("POST", "/threads/{id}/stop", "Stop the work of a thread", gives=ReceiptReply, status=202)
async def stop_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """The text so far is kept."""
    return receipt_response(id, await context.app.threads.stop(id, key=letter_id(key, "/stop")))


@routes.add("POST", "/threads/{id}/pause", "Pause a debate", gives=ReceiptReply, status=202)
async def pause_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """Until it is resumed."""
    await require_kind(context, id, "debate")
    return receipt_response(id, await context.app.threads.pause(id, key=letter_id(key, "/pause")))


@routes.add("POST", "/threads/{id}/resume", "Resume a thread", gives=ReceiptReply, status=202)
async def resume_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """Continue where a process was lost, or where the thread was stopped or paused."""
    return receipt_response(id, await context.app.threads.resume(id, key=letter_id(key, "/resume")))


@routes.add("POST", "/threads/{id}/retry", "Repeat what failed", gives=ReceiptReply, status=202)
async def retry_thread(context: Context, id: ThreadId, key: Key = None) -> Response:
    """A request, or the turn of an agent."""
    return receipt_response(id, await context.app.threads.retry(id, key=letter_id(key, "/retry")))


async def _performed(context: ServerContext, id: str, action: str, key: str | None, **payload: Any) -> Response:
    await context.app.threads.perform(id, action, id=letter_id(key, f"/{action}"), **payload)
    return await thread_response(context, id)


@routes.add(
    "POST", "/threads/{id}/perform", "Send an event to a chat, run or debate", takes=Perform, gives=OpenedThread
)
async def perform(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Any event that may come from outside, such as `use_model`, `switch` or `ACKNOWLEDGE_WARNING`."""
    body = await read_body(request, Perform)
    payload = body.get("payload", {})
    if reserved := {"type", "thread", "action", "id", "at"} & payload.keys():
        raise ProblemError("bad_body", f"body: payload.{min(reserved)} is set by the server", path="payload")
    return await _performed(context, id, body["action"], key, **payload)


@routes.add("POST", "/threads/{id}/branches", "Create a branch of a chat", takes=NewBranch, gives=OpenedThread)
async def create_branch(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """From a message, from a turn, or from the end of the current branch; it is the current one then."""
    body = await read_body(request, NewBranch)
    await require_kind(context, id, "chat")
    await context.app.threads.perform(id, "fork", id=letter_id(key, "/fork"), **body)
    return await _performed(context, id, "confirm_fork", key)


@routes.add("POST", "/threads/{id}/rewind", "Go back in a chat", takes=RewindChat, gives=OpenedThread)
async def rewind_chat(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Some turns, or to a checkpoint."""
    body = await read_body(request, RewindChat)
    await require_kind(context, id, "chat")
    return await _performed(context, id, "rewind", key, **body)


@routes.add("GET", "/threads/{id}/checkpoints", "Checkpoints of a chat", gives=Checkpoints)
async def list_checkpoints(context: Context, id: ThreadId) -> Response:
    """Places that `rewind` goes back to."""
    await require_kind(context, id, "chat")
    content = (await context.app.library.read(id)).content
    return json_response({"items": content["checkpoints"]})


@routes.add("POST", "/threads/{id}/checkpoints", "Mark where a chat stands", takes=NewCheckpoint, gives=OpenedThread)
async def create_checkpoint(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """A checkpoint of the current branch."""
    body = await read_body(request, NewCheckpoint)
    await require_kind(context, id, "chat")
    return await _performed(context, id, "checkpoint", key, **body)


@routes.add("POST", "/threads/{id}/merge", "Begin to merge a branch", takes=MergeBranch, gives=OpenedThread)
async def merge_branch(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """`content.merge` has its conflicts; they are resolved, then the merge is confirmed."""
    body = await read_body(request, MergeBranch)
    await require_kind(context, id, "chat")
    return await _performed(context, id, "merge", key, **body)


@routes.add("POST", "/threads/{id}/merge/resolve", "Resolve a conflict", takes=ResolveMerge, gives=OpenedThread)
async def resolve_merge(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Pick a side for one conflict, or choose the turns of a manual merge."""
    body = await read_body(request, ResolveMerge)
    await require_kind(context, id, "chat")
    return await _performed(context, id, "resolve_conflict", key, **body)


@routes.add("POST", "/threads/{id}/merge/confirm", "Confirm a merge", gives=OpenedThread)
async def confirm_merge(context: Context, id: ThreadId, key: Key = None) -> Response:
    """All its conflicts are resolved."""
    await require_kind(context, id, "chat")
    return await _performed(context, id, "confirm_merge", key)


@routes.add("POST", "/threads/{id}/merge/cancel", "Cancel a merge", gives=OpenedThread)
async def cancel_merge(context: Context, id: ThreadId, key: Key = None) -> Response:
    """The branches stay as they are."""
    await require_kind(context, id, "chat")
    return await _performed(context, id, "cancel_merge", key)


@routes.add("GET", "/threads/{id}/limits", "Limits of a thread, and what was spent", gives=UsageReply)
async def read_limits(context: Context, id: ThreadId) -> Response:
    """The same figures as the usage of the thread."""
    return json_response(await context.app.threads.usage(id))


@routes.add("POST", "/threads/{id}/limits", "Change limits", takes=NewLimits, gives=OpenedThread)
async def change_limits(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Those of a chat, or the cost limit of a debate; a thread that waits at one of them may continue."""
    body = await read_body(request, NewLimits)
    kind = await require_kind(context, id, "chat", "debate")
    if ("costLimit" in body) != (kind == "debate") or not body:
        names = "costLimit" if kind == "debate" else "limits such as maxCostUsd"
        raise ProblemError("bad_body", f"body: thread {id!r} is a {kind}; send {names}", path="")
    return await _performed(context, id, "RAISE_LIMIT" if kind == "debate" else "raise_limit", key, **body)


@routes.add("POST", "/threads/{id}/agent", "Let an agent of a run work next", takes=ChooseAgent, gives=OpenedThread)
async def force_agent(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """Instead of the arbiter's choice."""
    body = await read_body(request, ChooseAgent)
    await require_kind(context, id, "run")
    return await _performed(context, id, "FORCE_AGENT", key, agentName=body["name"])


@routes.add("POST", "/threads/{id}/skip", "Skip the current step of a run's plan", gives=OpenedThread)
async def skip_step(context: Context, id: ThreadId, key: Key = None) -> Response:
    """The next step is worked on."""
    await require_kind(context, id, "run")
    return await _performed(context, id, "SKIP_STEP", key)


@routes.add("GET", "/threads/{id}/plan", "Plan of a run", gives=PlanReply)
async def read_plan(context: Context, id: ThreadId) -> Response:
    """With the status of its steps."""
    await require_kind(context, id, "run")
    return json_response({"plan": (await context.app.library.read(id)).content["plan"]})


@routes.add("POST", "/threads/{id}/interject", "Interject in a debate", takes=Interject, gives=ReceiptReply, status=202)
async def interject(request: Request, context: Context, id: ThreadId, key: Key = None) -> Response:
    """The debaters hear it from now on; a paused debate stays paused."""
    body = await read_body(request, Interject)
    await require_kind(context, id, "debate")
    return receipt_response(id, await context.app.threads.say(id, body["text"], id=letter_id(key)))


@routes.add("POST", "/threads/{id}/judge", "Let the judge of a debate decide now", gives=OpenedThread)
async def judge_now(context: Context, id: ThreadId, key: Key = None) -> Response:
    """The remaining rounds are skipped."""
    await require_kind(context, id, "debate")
    return await _performed(context, id, "JUDGE_NOW", key)
