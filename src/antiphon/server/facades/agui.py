"""AG-UI 1.0: a run of a thread as a stream of events, with interrupts and their answers.

1. `threadId` is the id of a thread; one that does not exist is created with the settings in `forwardedProps`.
2. The last message, if it is of the user and new, is sent to the thread. Without one the thread is only followed: its
   messages come first, then the run in progress from its beginning.
3. A run ends where the thread has nothing left to do. Open requests are its interrupts, and `resume` answers them.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.callers import Caller, RequestCaller, note_thread
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, check_body, read_body
from antiphon.server.facades.agui_events import AguiWriter, Event, history_of, interrupt_of, usage_of
from antiphon.server.facades.conversations import Conversation, FollowedReply, UserMessage, check_message_id, image_part
from antiphon.server.facades.failures import describe
from antiphon.server.frames import frame
from antiphon.server.problems import ProblemError
from antiphon.server.streams import MEDIA_TYPE, EventStream
from antiphon.threads.requests import Answer

Json = Mapping[str, Any]
routes = Routes("ag-ui")
STOPPING = frame({"type": "RUN_ERROR", "message": "the server is stopping; connect again", "code": "stopping"})
# Fields of the input that a thread has no use for.
UNUSED = ("tools", "context", "state")


class AguiResume(TypedDict):
    """The answer to an interrupt; `payload` has `approved`, `reason`, `scope`, `limit` or `text`, or is a text."""

    interruptId: str
    status: Literal["resolved", "cancelled"]
    payload: NotRequired[Any]
    metadata: NotRequired[dict[str, Any]]


class AguiPayload(TypedDict, total=False):
    """The answer to a request: whether it is approved, or a text."""

    approved: bool
    text: str
    reason: str
    scope: str
    limit: float


class AguiInput(TypedDict):
    """The input of a run (`RunAgentInput`); `forwardedProps` has the settings of a thread that is created."""

    threadId: str
    runId: str
    messages: list[dict[str, Any]]
    tools: NotRequired[list[dict[str, Any]]]
    context: NotRequired[list[dict[str, Any]]]
    state: NotRequired[Any]
    forwardedProps: NotRequired[Any]
    protocolVersion: NotRequired[str]
    parentRunId: NotRequired[str]
    resume: NotRequired[list[AguiResume]]


@routes.add("POST", "/agui", "Run a thread, or follow it, by AG-UI", takes=AguiInput, media_types=(MEDIA_TYPE,))
async def run_agui(request: Request, context: Context, caller: RequestCaller) -> Response:
    """A stream of AG-UI events, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`."""
    body = await read_body(request, AguiInput)
    question = _question(body["messages"])
    answers = _answers(body.get("resume") or [])
    thread = await _open(context, caller, body, question, is_answer=bool(answers))
    note_thread(request, thread.id)
    after, is_new = await _send(thread, question, answers, body["runId"])
    events = AguiRun(thread, body, await thread.follow(after), is_attached=not is_new).events()
    return EventStream(context, _frames(events), closing=STOPPING)


async def _open(
    context: ServerContext, caller: Caller, body: Json, question: UserMessage | None, *, is_answer: bool
) -> Conversation:
    """Return the thread of a run; it is created if there is none, and a question."""
    thread = await Conversation.find(context, caller, body["threadId"])
    if thread is not None:
        return thread
    if question is None or is_answer:
        raise ProblemError("unknown_thread", f"there is no thread {body['threadId']!r}; send a message to create it")
    settings = body.get("forwardedProps") or {}
    if not isinstance(settings, dict):
        raise ProblemError("bad_body", "body: forwardedProps must be an object", path="forwardedProps")
    return await Conversation.create(context, caller, body["threadId"], settings, question)


async def _send(
    thread: Conversation, question: UserMessage | None, answers: Mapping[str, Answer], run: str
) -> tuple[int | None, bool]:
    """Answer, or send the question; return the step to read from, and whether the client has read all before it."""
    if answers:
        return await thread.answer(answers, run), True
    if question is not None and not await thread.is_taken(question):
        return await thread.send(question), True
    return await thread.running_since(), False


def _question(messages: list[dict[str, Any]]) -> UserMessage | None:
    """Return the last message, if it is one of the user; raise `ProblemError` if it cannot be read."""
    if not messages or messages[-1].get("role") != "user":
        return None
    message = messages[-1]
    content = message.get("content")
    if not isinstance(message.get("id"), str):
        raise ProblemError("bad_body", "body: a message has an id, which is a text", path="messages")
    if not isinstance(content, str | list) or not content:
        raise ProblemError("bad_body", "body: the content of a message is a text, or parts", path="messages")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [_part(part) for part in content]
    return UserMessage(check_message_id(message["id"]), parts)


def _part(part: Any) -> Json:
    match part:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "image", "source": {"type": "data", "value": str(data), "mimeType": str(media_type)}}:
            return image_part(f"data:{media_type};base64,{data}", media_type)
    raise ProblemError("bad_body", "body: a part is a text, or an image with its data", path="messages")


def _answers(resume: list[Any]) -> dict[str, Answer]:
    """Return the answers by the ids of their requests."""
    answers = {entry["interruptId"]: _answer(entry) for entry in resume}
    if len(answers) < len(resume):
        raise ProblemError("bad_body", "body: an interrupt is answered once", path="resume")
    return answers


def _answer(entry: Json) -> Answer:
    if entry["status"] == "cancelled":
        return Answer(decision="deny")
    payload = entry.get("payload")
    if isinstance(payload, str):
        return Answer(payload)
    if not isinstance(payload, dict):
        raise ProblemError("bad_body", "body: the payload of an answer is a text or an object", path="resume")
    check_body(payload, (AguiPayload,))
    decision = {True: "allow", False: "deny", None: None}[payload.get("approved")]
    more = {key: payload[key] for key in ("scope", "reason", "limit") if key in payload}
    return Answer(payload.get("text"), decision, **more)


class AguiRun:
    """One run of AG-UI: the events of a reply of a thread."""

    def __init__(self, thread: Conversation, body: Json, reply: FollowedReply, *, is_attached: bool) -> None:
        self._thread = thread
        self._body = body
        self._reply = reply
        self._is_attached = is_attached  # the client may not know what was said
        self._writer = AguiWriter(body["threadId"], body["runId"])

    async def events(self) -> AsyncIterator[Event]:
        """Iterate over the events of the run."""
        yield self._writer.start(self._body.get("parentRunId"))
        try:
            async for event in self._events():
                yield event
        except Exception as error:  # the stream has begun: the protocol's own event tells of it
            for event in self._writer.fail(*describe(error)):
                yield event

    async def _events(self) -> AsyncIterator[Event]:
        yield await self._state(with_status=self._reply.idle is None)
        unused = [name for name in UNUSED if self._body.get(name)]
        if unused:
            yield {"type": "CUSTOM", "name": "antiphon.unused", "value": {"fields": unused}}
        if self._is_attached and self._thread.kind == "chat":
            yield await self._messages(is_whole=self._reply.idle is None)
        async for piece in self._reply.read():
            for event in self._writer.write(piece):
                yield event
        if not self._reply.pieces.ids.is_exact:
            yield await self._messages(is_whole=True)
        yield await self._state()
        async for event in self._end():
            yield event

    async def _state(self, *, with_status: bool = True) -> Event:
        """Return the state of the thread; while it is followed, its status comes with the events of the journal."""
        view = (await self._thread.threads.read(self._thread.id)).view
        names = {"kind": view.kind, "title": view.title, "model": view.model, "branch": view.branch}
        now = {"status": view.status, "costUsd": view.cost_usd} if with_status else {}
        return {"type": "STATE_SNAPSHOT", "snapshot": {**names, **now}}

    async def _messages(self, *, is_whole: bool) -> Event:
        """Return the messages of the current branch; those of the run in progress come as events."""
        chat = await self._thread.threads.content(self._thread.id)
        path = [] if chat is None else branch_messages(chat)
        while path and not is_whole and path[-1]["role"] != "user":
            path.pop()
        return {"type": "MESSAGES_SNAPSHOT", "messages": history_of(path)}

    async def _end(self) -> AsyncIterator[Event]:
        threads = self._thread.threads
        pieces = self._reply.pieces
        status = await threads.status(self._thread.id) if self._reply.idle is None else self._reply.idle.status
        usage = usage_of(pieces.tokens, (await threads.config(self._thread.id)).get("model"))
        requests = await threads.requests(self._thread.id)
        if status == "failed":
            error = pieces.error or {}
            last = self._writer.fail(error.get("message") or "the thread has failed", error.get("code"), usage)
        elif status == "waiting" and requests:
            outcome = {"type": "interrupt", "interrupts": [interrupt_of(request) for request in requests]}
            last = self._writer.finish(outcome, usage)
        else:
            is_cut = status in ("stopped", "interrupted")
            last = self._writer.finish({"type": "cancelled" if is_cut else "success"}, usage, pieces.result)
        for event in last:
            yield event


def branch_messages(chat: Json) -> list[Json]:
    """Return the messages of the current branch of a chat, the first one first."""
    messages = chat["messages"]
    path: list[Json] = []
    node = chat["branches"][chat["branch"]]["head"]
    while node is not None:
        path.insert(0, messages[node])
        node = messages[node]["parent"]
    return path


async def _frames(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    async for event in events:
        yield frame(event)
