"""One call of a tool: who makes it, how its progress is reported, and how a person is asked meanwhile.

1. A call only waits. Its thread continues when the client cancels it, goes away, or has no more patience.
2. What a thread asks a person is asked by the client if it can (elicitation). A form that is not filled in answers
   nothing: the request stays open. Nothing is ever allowed without the word `allow` in a form or a call.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.server.callers import Caller, check_owner
from antiphon.server.context import ServerContext
from antiphon.server.facades.mcp.outcomes import describe_request
from antiphon.server.problems import ProblemError
from antiphon.threads import Activity, Threads
from antiphon.threads.errors import UnknownRequest
from antiphon.threads.requests import OpenRequest

Json = Mapping[str, Any]
Form = Mapping[str, Any]
ASK_ROUNDS = 8  # clients give up after ten
DECISIONS = ("allow", "deny")


class Asker(Protocol):
    """Shows forms to the person at the client."""

    async def ask(self, thread: str, requests: Sequence[OpenRequest]) -> Mapping[str, Form]:
        """Return the forms that were filled in, by the id of the request; raise `InputNeeded` if that takes a call."""
        ...


class InputNeeded(Exception):
    """The client has to show forms to a person, and then to repeat the call with them."""

    def __init__(self, thread: str, requests: Sequence[OpenRequest], rounds: int) -> None:
        super().__init__(f"thread {thread!r} waits for a person")
        self.thread = thread
        self.requests = requests
        self.rounds = rounds


@dataclass(frozen=True, slots=True)
class Continuation:
    """A call that is repeated with the forms that a person has filled in; what it began is not begun again."""

    thread: str
    forms: Mapping[str, Form]


@dataclass(frozen=True, slots=True)
class McpCall:
    """A call of a tool."""

    context: ServerContext
    caller: Caller
    report: Callable[[float, str], Awaitable[None]]
    asker: Asker | None = None
    continuation: Continuation | None = None
    note: Callable[[str], None] = lambda thread: None  # names the thread of the call in the audit log

    @property
    def threads(self) -> Threads:
        """The threads of the server."""
        return self.context.app.threads

    async def check(self, thread: str) -> None:
        """Raise an error if a thread does not exist or belongs to another user."""
        await check_owner(self.context, self.caller, thread)
        self.note(thread)


async def follow(call: McpCall, thread: str, after: int | str, wait_s: float) -> None:
    """Wait until a thread is idle, for some seconds at most, and report what it says and does."""
    progress = 0
    try:
        async with asyncio.timeout(wait_s):
            async for activity in call.threads.until_idle(thread, after):
                words = progress_text(activity)
                if words:
                    progress += len(words)
                    await call.report(progress, words)
    except TimeoutError:
        return


def progress_text(activity: Activity) -> str:
    """Return an activity as a person may read it while it happens, or nothing."""
    facts = activity.facts
    if activity.kind == "tool_called":
        return f"calls {facts['name']}"
    text = facts.get("text")
    return text if isinstance(text, str) and activity.kind != "thinking" else ""


async def settle(call: McpCall, thread: str, after: int | str, wait_s: float) -> None:
    """Wait until a thread is idle, and let the person at the client answer what it asks meanwhile."""
    await follow(call, thread, after, wait_s)
    for _ in range(ASK_ROUNDS):
        requests = await call.threads.requests(thread)
        if call.asker is None or not requests:
            return
        forms = await call.asker.ask(thread, requests)
        place = await answer_forms(call, thread, forms)
        if place is None:
            return
        await follow(call, thread, place, wait_s)


async def answer_forms(call: McpCall, thread: str, forms: Mapping[str, Form]) -> str | None:
    """Answer open requests by forms; return the cursor of the last answer, or None if nothing was answered."""
    place = None
    for request in await call.threads.requests(thread):
        answer = answer_of(request, forms.get(request.id) or {})
        if answer is None:
            continue
        try:
            place = (await call.threads.answer(thread, request=request.id, **answer)).cursor
        except UnknownRequest:  # it was answered elsewhere
            continue
    return place


def answer_of(request: OpenRequest, form: Form) -> dict[str, Any] | None:
    """Return the answer to a request in a form, or None if it has none."""
    if request.calls or request.limit is not None:
        decision = form.get("decision")
        if decision not in DECISIONS:
            return None
        reason = form.get("reason")
        return {"decision": decision, **({"reason": reason} if isinstance(reason, str) and request.calls else {})}
    text = form.get("answer")
    return {"text": text} if isinstance(text, str) and text else None


def form_of(request: OpenRequest) -> tuple[str, dict[str, Any]]:
    """Return the words of a form for a request, and its schema."""
    message = describe_request(request)
    if request.calls or request.limit is not None:
        keys: dict[str, Any] = {"decision": {"type": "string", "title": "Decision", "enum": list(DECISIONS)}}
        if request.calls:
            keys["reason"] = {"type": "string", "title": "Reason, which the model is told"}
        return message, {"type": "object", "properties": keys, "required": ["decision"]}
    options = [option for option in request.options if isinstance(option, str)]
    answer = {"type": "string", "title": "Answer", **({"enum": options} if options else {})}
    return message, {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}


def parse_continuation(state: Any, forms: Mapping[str, Form]) -> tuple[Continuation, int]:
    """Return the continuation of a call, and how often a person was asked; raise `ProblemError` for another state."""
    if not (isinstance(state, dict) and isinstance(state.get("thread"), str) and isinstance(state.get("rounds"), int)):
        raise ProblemError("bad_body", "requestState is not one of this server; repeat the call without it")
    return Continuation(state["thread"], forms), state["rounds"]
