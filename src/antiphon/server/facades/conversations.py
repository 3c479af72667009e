"""Threads as the facades use them: found or created by the id of a client, spoken to, answered, and read again."""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.runtime.records import Receipt
from antiphon.server.bodies import CreateChat, CreateDebate, CreateRun
from antiphon.server.callers import Caller, check_owner
from antiphon.server.context import ServerContext
from antiphon.server.contracts import check_body
from antiphon.server.creation import create_from_body
from antiphon.server.facades.pieces import Piece, PieceReader, node_ids
from antiphon.server.problems import ProblemError
from antiphon.server.requests import KEY_PREFIX
from antiphon.threads import Activity, UnknownThread
from antiphon.threads.following import UntilIdle
from antiphon.threads.requests import PERMISSION, Answer, OpenRequest, unknown_request

Json = Mapping[str, Any]
MESSAGE_ID = re.compile(r"[!-~]{1,200}")
PAGE = 500
NO_ANSWER = "The person gave no answer."


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of a person, with the id that its client has given it."""

    id: str
    parts: Sequence[Json]

    @property
    def text(self) -> str:
        """The text of its parts."""
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def letter(self) -> str:
        """The id of the letter: a message that is sent twice is taken once."""
        return f"{KEY_PREFIX}message/{self.id}"


@dataclass(frozen=True, slots=True)
class FollowedReply:
    """A reply to follow: the pieces that are read, and the source of the activities.

    It is read from the beginning of its run, because ids and calls of pieces depend on those before them.
    """

    pieces: PieceReader
    idle: UntilIdle | None = None  # None if there is nothing to read
    after: int = 0  # the pieces of the steps after this one are for the client

    async def read(self) -> AsyncIterator[Piece]:
        """Iterate over the pieces until the thread is idle."""
        if self.idle is None:
            return
        async for activity in self.idle:
            for piece in self.pieces.read(activity):
                if activity.seq > self.after:
                    yield piece
            if activity.seq <= self.after:
                self.pieces.tokens.clear()


def own_id(caller: Caller, name: str) -> str:
    """Return the id of the thread that a client names: names of users are their own, and say nothing about others."""
    if caller.is_operator:
        return name
    return hashlib.sha256(f"{caller.user}/{name}".encode("utf-8", "surrogatepass")).hexdigest()[:ID_DIGITS]


ID_DIGITS = 24


class Conversation:
    """A thread that a request of a facade is about."""

    def __init__(self, context: ServerContext, id: str, kind: str, is_new: bool = False) -> None:
        self.id = id
        self.kind = kind
        self.is_new = is_new
        self.threads = context.app.threads
        self._store = context.app.runtime.store

    @classmethod
    async def find(cls, context: ServerContext, caller: Caller, id: str) -> "Conversation | None":
        """Return the thread of the caller that a client names; None if there is none."""
        for name in dict.fromkeys((id, own_id(caller, id))):
            if await context.app.runtime.store.summary(name) is None:
                continue
            try:
                await check_owner(context, caller, name)
            except UnknownThread:
                continue  # of another user
            return cls(context, name, (await context.app.threads.state(name)).get("kind") or "chat")
        return None

    @classmethod
    async def create(
        cls, context: ServerContext, caller: Caller, id: str, settings: Json, question: UserMessage | None
    ) -> "Conversation":
        """Create a thread: a chat, unless the settings say otherwise; a debate is on the question, without a topic."""
        body = {"kind": "chat", **settings}
        if body["kind"] != "chat" and not (question and question.text.strip()):
            raise ProblemError("bad_body", f"body: a {body['kind']!s:.20} begins with a text", path="messages")
        if body["kind"] == "debate" and question is not None and "topic" not in body:
            body["topic"] = question.text
        if reserved := {"id", "owner"} & settings.keys():
            raise ProblemError("bad_body", f"body: {min(reserved)} is not a setting of a thread", path=min(reserved))
        name = own_id(caller, id)
        checked = check_body({**body, "id": name}, (CreateChat, CreateRun, CreateDebate))
        await create_from_body(context, {**checked, "owner": caller.user})
        return cls(context, name, body["kind"], is_new=True)

    async def send(self, question: UserMessage) -> int:
        """Send a message; return the step before the one that took it, now or earlier."""
        if self.kind == "debate" and (self.is_new or await self.threads.status(self.id) == "pending"):
            return (await self.threads.start(self.id, id=question.letter)).seq - 1
        if self.kind == "debate":
            return (await self.threads.say(self.id, question.text, id=question.letter)).seq - 1
        message: dict[str, Any] = {"at": self.threads.runtime.now(), "parts": list(question.parts)}
        if self.kind == "run":
            message = {"at": message["at"], "text": question.text}
        elif question.id not in await self.nodes():
            message["id"] = question.id
        return (await self.threads.begin(self.id, id=question.letter, message=message)).seq - 1

    async def is_taken(self, question: UserMessage) -> bool:
        """Return whether a message was taken before, by this protocol or as a node of the chat."""
        receipt = await self._store.outcome(self.id, question.letter)
        return (receipt is not None and receipt.status == "accepted") or question.id in await self.nodes()

    async def step_of(self, question: UserMessage) -> int | None:
        """Return the step before the one that took a message; None if this protocol has not sent it."""
        receipt = await self._store.outcome(self.id, question.letter)
        return None if receipt is None or receipt.status != "accepted" else receipt.seq - 1

    async def nodes(self) -> Mapping[str, Any]:
        """Return the messages of a chat, by id."""
        chat = await self.threads.content(self.id) if self.kind == "chat" else None
        messages: Mapping[str, Any] = {} if chat is None else chat["messages"]
        return messages

    async def answer(self, answers: Mapping[str, Answer], key: str) -> int:
        """Answer open requests, all or none; return the step before the first answer.

        `key` makes an answer that is sent twice be taken once.
        """
        snapshot = await self.threads.snapshot(self.id)
        is_open = {request.id: request for request in await self.threads.requests(self.id)}
        receipts: list[Receipt] = []
        for id, answer in answers.items():
            receipt = await self._store.outcome(self.id, _answer_key(key, id))
            if receipt is not None and receipt.status == "accepted":
                receipts.append(receipt)
            elif id not in is_open:
                raise unknown_request(snapshot, id)
            else:
                _fit(answer, is_open[id]).to_event(is_open[id], 0)  # raises an error if it does not fit the request
        for id, answer in answers.items():
            fitting = _fit(answer, is_open[id]) if id in is_open else answer
            receipts.append(await self._answer(id, fitting, _answer_key(key, id)))
        return min(receipt.seq for receipt in receipts) - 1

    async def _answer(self, id: str, answer: Answer, key: str) -> Receipt:
        return await self.threads.answer(
            self.id,
            answer.text,
            decision=answer.decision,
            scope=answer.scope,
            reason=answer.reason,
            limit=answer.limit,
            request=id,
            key=key,
        )

    async def follow(self, after: int | None) -> FollowedReply:
        """Return the reply after a step, until the thread is idle; without a step there is nothing to read."""
        chat = await self.threads.content(self.id) if self.kind == "chat" else None
        pieces = PieceReader(self.kind, node_ids(chat))
        if after is None:
            return FollowedReply(pieces)
        start = min(await self._run_start(), after)
        return FollowedReply(pieces, self.threads.until_idle(self.id, start), after)

    async def running_since(self) -> int | None:
        """Return the step before the one that began the run in progress; None if nothing is running."""
        is_running = await self.threads.status(self.id) == "running"
        return await self._run_start() if is_running else None

    async def _run_start(self) -> int:
        """Return the step before the one that began the last run."""
        run = (await self.threads.state(self.id)).get("runId")
        last = (await self._store.history(self.id))[1]
        while last > 0:
            first = max(last - PAGE, 0)
            page = await self.threads.activities(self.id, first, PAGE)
            starts = [item.seq for item in page.activities if _is_start(item, run)]
            if starts:
                return max(starts) - 1
            last = first
        return 0


def _is_start(activity: Activity, run: str) -> bool:
    """Return whether a run of a thread begins with an activity; after an answer it goes on."""
    facts = activity.facts
    is_running = activity.kind == "status" and facts["status"] == "running" and facts["runId"] == run
    return is_running and facts["resumeReason"] != "waiting-response"


def image_part(url: str, media_type: str | None) -> Json:
    """Return the part for an image in a `data:` URL; raise `ProblemError` for any other file."""
    head, _, data = url.partition(";base64,")
    kind = head.removeprefix("data:")
    if not (url.startswith("data:") and data and (media_type or kind).startswith("image/")):
        raise ProblemError("bad_body", "body: a file must be an image in a data: URL, as base64", path="messages")
    return {"type": "image", "mediaType": media_type or kind, "data": data}


def _fit(answer: Answer, request: OpenRequest) -> Answer:
    """Return an answer as a request takes it: a question is not denied, but left without an answer."""
    is_question = bool(request.address) and request.reason != PERMISSION and request.limit is None
    return Answer(NO_ANSWER) if is_question and answer.decision == "deny" and answer.text is None else answer


def _answer_key(key: str, request: str) -> str:
    return f"{KEY_PREFIX}answer/{key}/{request}"


def check_message_id(id: str) -> str:
    """Return the id of a message; raise `ProblemError` if it cannot be one."""
    if not MESSAGE_ID.fullmatch(id):
        raise ProblemError(
            "bad_body", "body: the id of a message has 1 to 200 visible ASCII characters", path="messages"
        )
    return id
