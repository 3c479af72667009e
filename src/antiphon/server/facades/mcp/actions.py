"""Tools that make threads work: send, start, answer, stop, and wait for what comes of it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from antiphon.runtime.records import Receipt
from antiphon.server.creation import create_from_body
from antiphon.server.facades.mcp.calls import McpCall, answer_forms, follow, settle
from antiphon.server.facades.mcp.outcomes import describe_request, outcome_of
from antiphon.server.facades.mcp.reading import ToolOutput
from antiphon.server.facades.mcp.schemas import check_range
from antiphon.server.problems import ProblemError
from antiphon.server.requests import KEY, KEY_PREFIX, require_kind
from antiphon.threads import Record, ThreadPage

REPLY_S = 50.0  # less than the minute after which many clients give up
MOST_WAIT_S = 600.0
STOP_S = 10.0
NEW_CHAT = ("model", "system", "title", "tools")
RUN_SETTINGS = ("model", "title", "agents", "plan", "tools", "maxIterations", "maxCostUsd")
DEBATE_SETTINGS = ("topic", "models", "title", "format", "maxRounds", "costLimit")
ID_DIGITS = 24
LOG_LINES = 50
# Threads that clients of this protocol create ask a person before each change; no argument says otherwise.
CONSENT = {"mode": "ask"}


async def send_message(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Send a message in a new chat or in a thread, and wait for the reply."""
    wait_s = check_range(arguments, "waitSeconds", REPLY_S, 0, MOST_WAIT_S)
    settings = {key: arguments[key] for key in NEW_CHAT if key in arguments}
    letter = _letter(call, arguments)
    if "thread" in arguments:
        thread: str = arguments["thread"]
        if settings:
            key = next(iter(settings))
            raise ProblemError("bad_body", f"arguments: {key} is for a new chat; leave out thread, or {key}", path=key)
        await call.check(thread)
    elif "model" not in settings:
        raise ProblemError(
            "bad_body", "arguments: model is missing; a new chat needs one, a thread has one", path="model"
        )
    else:
        thread = await _create(call, "chat", settings, letter)
    receipt = await call.threads.say(thread, arguments["text"], id=letter, on_busy=arguments.get("onBusy"))
    return await _settled(call, thread, receipt, wait_s)


async def start_run(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Create a run, start it with its task, and wait if the call says so."""
    wait_s = check_range(arguments, "waitSeconds", 0, 0, MOST_WAIT_S)
    letter = _letter(call, arguments)
    settings = {key: arguments[key] for key in RUN_SETTINGS if key in arguments}
    thread = await _create(call, "run", settings, letter)
    return await _settled(call, thread, await call.threads.say(thread, arguments["task"], id=letter), wait_s)


async def start_debate(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Create a debate, start it, and wait if the call says so."""
    wait_s = check_range(arguments, "waitSeconds", 0, 0, MOST_WAIT_S)
    letter = _letter(call, arguments)
    settings = {key: arguments[key] for key in DEBATE_SETTINGS if key in arguments}
    thread = await _create(call, "debate", settings, letter)
    return await _settled(call, thread, await call.threads.start(thread, id=letter), wait_s)


async def answer_request(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Answer an open request, and wait for what comes of it."""
    wait_s = check_range(arguments, "waitSeconds", REPLY_S, 0, MOST_WAIT_S)
    thread: str = arguments["thread"]
    await call.check(thread)
    answer = {key: arguments[key] for key in ("decision", "scope", "reason", "limit") if key in arguments}
    receipt = await call.threads.answer(
        thread, arguments.get("text"), request=arguments["requestId"], key=_letter(call, arguments), **answer
    )
    return await _settled(call, thread, receipt, wait_s)


async def stop_thread(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Stop the work of a thread, and return how it stands then."""
    thread: str = arguments["thread"]
    await call.check(thread)
    receipt = await call.threads.stop(thread)
    await follow(call, thread, receipt.cursor, STOP_S)
    return await read_result(call, thread)


async def read_run(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Return how far a run is, after a wait if the call says so."""
    wait_s = check_range(arguments, "waitSeconds", 0, 0, MOST_WAIT_S)
    thread: str = arguments["thread"]
    await call.check(thread)
    await require_kind(call.context, thread, "run")
    if wait_s:
        await follow(call, thread, await call.threads.cursor(thread), wait_s)
    page = await call.threads.read(thread)
    output = _output(page)
    run = page.content
    keys = ("task", "plan", "iterations", "failures", "limits", "outcome")
    more = {**{key: run[key] for key in keys}, "log": run["log"][-LOG_LINES:]}
    lines = "".join(f"\n{line['text']}" for line in more["log"])
    return ToolOutput(f"{output.text}\n{lines}".strip(), {**output.data, **more})


async def _create(call: McpCall, kind: str, settings: Mapping[str, Any], letter: str | None) -> str:
    """Create a thread, or return the one that an earlier call with the same key has created."""
    body: dict[str, Any] = {"kind": kind, **settings, "owner": call.caller.user}
    if kind == "run" or settings.get("tools"):
        body["consent"] = CONSENT
    if letter is not None:
        body["id"] = hashlib.sha256(f"mcp {call.caller.user} {letter}".encode()).hexdigest()[:ID_DIGITS]
        if await call.context.app.runtime.store.summary(body["id"]) is not None:
            await call.check(body["id"])
            await require_kind(call.context, body["id"], kind)
            return str(body["id"])
    thread = await create_from_body(call.context, body)
    call.note(thread)
    return thread


def _letter(call: McpCall, arguments: Mapping[str, Any]) -> str | None:
    """Return the id of the letter for the key of a call; raise `ProblemError` if the key cannot be used."""
    key = arguments.get("key")
    if key is not None and not KEY.fullmatch(key):
        raise ProblemError("bad_body", "arguments: key must have 1 to 128 visible ASCII characters", path="key")
    return None if key is None else f"{KEY_PREFIX}{key}"


async def continue_call(call: McpCall, arguments: dict[str, Any]) -> ToolOutput:
    """Answer requests by the forms that a person has filled in, and wait on; what the call began is not begun again."""
    assert call.continuation is not None
    wait_s = check_range(arguments, "waitSeconds", REPLY_S, 0, MOST_WAIT_S)
    thread = call.continuation.thread
    await call.check(thread)
    place = await answer_forms(call, thread, call.continuation.forms)
    if place is not None:
        await settle(call, thread, place, wait_s)
    return await read_result(call, thread)


async def _settled(call: McpCall, thread: str, receipt: Receipt, wait_s: float) -> ToolOutput:
    if wait_s:
        await settle(call, thread, receipt.cursor, wait_s)
    return await read_result(call, thread)


async def read_result(call: McpCall, thread: str) -> ToolOutput:
    """Return how a thread stands: its last words, its open requests, and what it has cost."""
    return _output(await call.threads.read(thread))


def _output(page: ThreadPage) -> ToolOutput:
    outcome = outcome_of(Record(page.view, page.content, page.is_transcript))
    view = page.view
    data = {
        "thread": view.id,
        "kind": view.kind,
        "status": view.status,
        "title": view.title,
        "model": view.model,
        "text": outcome.text,
        "usage": {"input": outcome.input, "output": outcome.output},
        "costUsd": float(outcome.cost_usd),
        "threadCostUsd": float(view.cost_usd),
        "requests": [request.to_json() for request in page.requests],
        "cursor": page.cursor,
        "error": view.error,
    }
    lines = [outcome.text] if outcome.text else []
    lines += [f"Open request {request.id}: {describe_request(request)}" for request in page.requests]
    has_failed = view.status == "failed"
    state = f"[{view.kind} {view.id} is {view.status}{f': {view.error}' if has_failed else ''}]"
    return ToolOutput("\n\n".join([*lines, state]), data, has_failed)
