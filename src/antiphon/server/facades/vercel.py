"""The chat routes of Vercel's AI SDK: the UI message stream v1, with resuming, regenerating and tool approvals.

1. The id of the chat is the id of a thread; one that does not exist is created with the settings in `thread`.
2. One UI message is all that follows a question, tool rounds included; its id is that of its first message in the tree.
3. A reply in progress is read again from its beginning: the client replaces what it has, and nothing comes twice.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from antiphon.server.bodies import Respond
from antiphon.server.callers import Caller, RequestCaller, note_thread
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, read_body
from antiphon.server.facades.conversations import Conversation, FollowedReply, UserMessage, check_message_id, image_part
from antiphon.server.facades.failures import describe
from antiphon.server.facades.vercel_chunks import Chunk, ChunkWriter, encode_chunk, request_id
from antiphon.server.problems import ProblemError
from antiphon.server.requests import ClientId
from antiphon.server.streams import MEDIA_TYPE, EventStream
from antiphon.threads.errors import UnknownThread
from antiphon.threads.requests import Answer

Json = Mapping[str, Any]
routes = Routes("vercel")
HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
DONE = b"data: [DONE]\n\n"
STOPPING = encode_chunk({"type": "error", "errorText": "the server is stopping; resume the stream"}) + DONE
STOPS = {"waiting": "tool-calls", "completed": "stop"}


class VercelChat(TypedDict):
    """The request of `DefaultChatTransport`; `thread` has settings of a new thread, `answer` answers a request."""

    id: str
    messages: list[dict[str, Any]]
    trigger: Literal["submit-message", "regenerate-message"]
    messageId: NotRequired[str | None]
    thread: NotRequired[dict[str, Any]]
    answer: NotRequired[Respond]


@routes.add(
    "POST",
    "/vercel/chat",
    "Chat by the UI message stream of Vercel's AI SDK",
    takes=VercelChat,
    media_types=(MEDIA_TYPE,),
)
async def chat_vercel(request: Request, context: Context, caller: RequestCaller) -> Response:
    """Send the last message, answer approvals, or ask a question again; the reply is a UI message stream."""
    body = await read_body(request, VercelChat)
    last = _last_message(body)
    question = _question(last) if last.get("role") == "user" else None
    is_answer = question is None and body["trigger"] == "submit-message"
    answers = _answers(last, body.get("answer")) if is_answer else {}
    thread = await _open(context, caller, body, question)
    note_thread(request, thread.id)
    reply = await thread.follow(await _send(thread, body, question, answers))
    stream = VercelStream(thread, reply, _continued(last) if answers else None)
    return EventStream(context, stream.frames(), headers=HEADERS, closing=STOPPING)


@routes.add(
    "GET",
    "/vercel/chat/{id}/stream",
    "Resume the reply in progress; 204 if nothing is running",
    media_types=(MEDIA_TYPE,),
)
async def resume_vercel(context: Context, caller: RequestCaller, id: ClientId) -> Response:
    """The reply in progress from its beginning, and then as it goes on."""
    try:
        thread = await Conversation.find(context, caller, id)
    except UnknownThread:  # of another user: as one that does not exist
        thread = None
    after = None if thread is None else await thread.running_since()
    if thread is None or after is None:
        return Response(status_code=204)
    stream = VercelStream(thread, await thread.follow(after), None)
    return EventStream(context, stream.frames(), headers=HEADERS, closing=STOPPING)


async def _open(context: ServerContext, caller: Caller, body: Json, question: UserMessage | None) -> Conversation:
    thread = await Conversation.find(context, caller, body["id"])
    if thread is not None:
        return thread
    if question is None or body["trigger"] == "regenerate-message":
        raise ProblemError("unknown_thread", f"there is no thread {body['id']!r}; send a message to create it")
    return await Conversation.create(context, caller, body["id"], body.get("thread") or {}, question)


async def _send(
    thread: Conversation, body: Json, question: UserMessage | None, answers: Mapping[str, Answer]
) -> int | None:
    """Do what a request asks for; return the step to read the reply from."""
    if body["trigger"] == "regenerate-message":
        return await _regenerate(thread, question)
    if question is not None:
        return await _submit(thread, question, is_edit=body.get("messageId") is not None)
    return await thread.answer(answers, body["messages"][-1]["id"])


async def _submit(thread: Conversation, question: UserMessage, *, is_edit: bool) -> int | None:
    """Send a message; one that was taken before is only followed, or, if it was edited, sent in its place."""
    if is_edit and thread.kind == "chat" and question.id in await thread.nodes():
        await _rewind(thread, question.id, keep_turn=False)
        return (await thread.threads.say(thread.id, parts=list(question.parts))).seq - 1
    if await thread.is_taken(question):
        since = await thread.running_since()
        return await thread.step_of(question) if since is None else since
    return await thread.send(question)


async def _regenerate(thread: Conversation, question: UserMessage | None) -> int:
    """Ask a question again: the last one that the client has kept."""
    if question is not None and thread.kind == "chat":
        await _rewind(thread, question.id, keep_turn=True)
    return (await thread.threads.retry(thread.id)).seq - 1


async def _rewind(thread: Conversation, id: str, *, keep_turn: bool) -> None:
    """Go back to the turn of a question, or to the one before it."""
    nodes = await thread.nodes()
    chat = await thread.threads.content(thread.id)
    if chat is None or id not in nodes:
        raise ProblemError("refused", f"thread {thread.id!r} has no message {id!r}; send it as a new one")
    if await thread.threads.status(thread.id) == "running":
        raise ProblemError("busy", f"thread {thread.id!r} is busy; wait, or stop it")
    head = chat["branches"][chat["branch"]]["head"]
    turns = nodes[head]["turn"] - nodes[id]["turn"] + (0 if keep_turn else 1) if head is not None else 0
    if turns > 0:
        await thread.threads.perform(thread.id, "rewind", turns=turns)


def _last_message(body: Json) -> dict[str, Any]:
    messages: list[dict[str, Any]] = body["messages"]
    if not messages or not isinstance(messages[-1].get("id"), str):
        raise ProblemError("bad_body", "body: messages must end with a message that has an id", path="messages")
    check_message_id(messages[-1]["id"])
    return messages[-1]


def _question(message: Json) -> UserMessage:
    parts = message.get("parts")
    if not isinstance(parts, list) or not parts:
        raise ProblemError("bad_body", "body: a message has parts", path="messages")
    return UserMessage(message["id"], [_part(part) for part in parts])


def _part(part: Any) -> Json:
    match part:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "file", "url": str(url), "mediaType": str(media_type)}:
            return image_part(url, media_type)
    raise ProblemError("bad_body", "body: a part of a message is a text or a file", path="messages")


def _answers(message: Json, respond: Json | None) -> dict[str, Answer]:
    """Return the answers to requests: that of the body, and the approvals in a message of the assistant."""
    answers: dict[str, Answer] = {}
    if respond is not None:
        facts = {key: value for key, value in respond.items() if key != "requestId"}
        answers[respond["requestId"]] = Answer(**facts)
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else ():
        match part:
            case {"state": "approval-responded", "approval": {"id": str(id), "approved": bool(approved), **more}}:
                # A request is for all its calls: one that is not approved denies them all.
                earlier = answers.get(request_id(id))
                is_allowed = approved and (earlier is None or earlier.decision == "allow")
                reason = str(more["reason"]) if more.get("reason") else None
                answers[request_id(id)] = Answer(decision="allow" if is_allowed else "deny", reason=reason)
    if not answers:
        raise ProblemError("bad_body", "body: the last message is neither of the user nor an approval", path="messages")
    return answers


def _continued(message: Json) -> tuple[str, set[str]]:
    """Return the id of a message that goes on, and the ids of its calls."""
    parts = message.get("parts") or []
    return message["id"], {part["toolCallId"] for part in parts if isinstance(part, dict) and "toolCallId" in part}


class VercelStream:
    """A UI message stream: the chunks of a reply of a thread."""

    def __init__(self, thread: Conversation, reply: FollowedReply, continued: tuple[str, set[str]] | None) -> None:
        self._thread = thread
        self._reply = reply
        self._writer = ChunkWriter()
        self._id = continued[0] if continued else None
        if continued is not None:
            self._writer.continue_calls(continued[1])

    async def frames(self) -> AsyncIterator[bytes]:
        """Iterate over the frames of the stream."""
        try:
            async for chunk in self._chunks():
                yield encode_chunk(chunk)
        except Exception as error:  # the stream has begun: the protocol's own chunk tells of it
            text, code = describe(error)
            for chunk in self._writer.fail(text, {"code": code}):
                yield encode_chunk(chunk)
        yield DONE

    async def _chunks(self) -> AsyncIterator[Chunk]:
        yield {"type": "start", "messageId": await self._message_id(), "messageMetadata": {"thread": self._thread.id}}
        async for piece in self._reply.read():
            for chunk in self._writer.write(piece):
                yield chunk
        async for chunk in self._end():
            yield chunk

    async def _message_id(self) -> str:
        """Return the id of the message: of its first node in the tree of a chat, or of the run of another thread."""
        if self._id is not None:
            return self._id
        if self._thread.kind == "chat":
            return self._reply.pieces.ids.current
        return f"{self._thread.id}-{(await self._thread.threads.state(self._thread.id)).get('runId')}"

    async def _end(self) -> AsyncIterator[Chunk]:
        threads = self._thread.threads
        pieces = self._reply.pieces
        status = (self._reply.idle.status if self._reply.idle else None) or await threads.status(self._thread.id)
        usage = dict(pieces.tokens)
        cost_usd = (await threads.read(self._thread.id)).view.cost_usd
        metadata = {"thread": self._thread.id, "status": status, "usage": usage, "costUsd": cost_usd}
        if pieces.result is not None:
            yield {"type": "data-result", "data": dict(pieces.result)}
        if status == "failed":
            text = (pieces.error or {}).get("message") or "the thread has failed"
            last = self._writer.fail(text, metadata)
        else:
            if status in ("stopped", "interrupted"):
                yield {"type": "abort", "reason": f"the thread is {status}"}
            if status == "waiting":
                for request in await threads.requests(self._thread.id):
                    for chunk in self._writer.ask(request):
                        yield chunk
            last = self._writer.finish(STOPS.get(status, "other"), metadata)
        for chunk in last:
            yield chunk
