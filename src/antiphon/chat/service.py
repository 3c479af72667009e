"""Threads as they are run: begun, spoken to, answered, stopped, forked and followed."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from antiphon.chat.activity import Happening, happenings
from antiphon.chat.machine.history import problem_with_history
from antiphon.chat.machine.settings import problem_with
from antiphon.chat.machine.validation import refusal
from antiphon.runtime.errors import RootExists, UnknownRoot
from antiphon.runtime.records import Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.threads.errors import Busy, NothingSaid, Refused, UnknownThread
from antiphon.threads.library import Library
from antiphon.threads.machine.thread import start_event
from antiphon.threads.views import chat_of

ATTEMPTS = 3  # a status may change between looking and sending
ID_BYTES = 4
NOT_SETTINGS = ("history",)


class Attempt(NamedTuple):
    """An attempt at a reply that is to come."""

    number: int
    most: int
    delay_ms: float


class Threads:
    """Runs the threads of a runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.library = Library(runtime)

    async def create(self, *, kind: str = "chat", title: str | None = None, **config: Any) -> str:
        """A new thread with the settings of its chat, and maybe the `history` it goes on from; gives its id."""
        problem = problem_with({key: value for key, value in config.items() if key not in NOT_SETTINGS})
        if problem is None and config.get("history") is not None:
            problem = problem_with_history(config["history"])
        if problem:
            raise Refused(problem)
        while True:
            id = secrets.token_hex(ID_BYTES)
            try:
                given = {"threadId": id, "kind": kind, "title": title, "config": config}
                return await self._runtime.create("thread", root=id, input=given)
            except RootExists:
                continue

    async def say(self, id: str, text: str = "", *, parts: Sequence[Mapping[str, Any]] | None = None) -> Receipt:
        """A person's message; whether it starts, goes on, answers or restarts is for the status to say."""
        message: dict[str, Any] = {"at": self._runtime.now()}
        message |= {"text": text} if parts is None else {"parts": list(parts)}
        return await self._begin(id, message=message)

    async def answer(self, id: str, decision: str, *, scope: str = "once", reason: str | None = None) -> Receipt:
        """A person's answer to a request for permission: `allow` or `deny`, `once` or for the `thread`."""
        given = {"decision": decision, "scope": scope, **({"reason": reason} if reason else {})}
        return await self._begin(id, only="waiting", answer=given)

    async def resume(self, id: str) -> Receipt:
        """Go on where a reply was lost."""
        return await self._send(id, {"type": "RESTART"})

    async def retry(self, id: str) -> Receipt:
        """Ask the last question again."""
        return await self._begin(id, retry=True)

    async def stop(self, id: str) -> Receipt:
        """Stop what runs."""
        return await self._send(id, {"type": "STOP", "at": self._runtime.now()})

    async def archive(self, id: str, archived: bool = True) -> Receipt:
        """Put a thread away, or take it out again."""
        return await self._send(id, {"type": "ARCHIVE" if archived else "UNARCHIVE"})

    async def rename(self, id: str, title: str | None) -> Receipt:
        """Call a thread something else; without a title, it is called by its words."""
        return await self._send(id, {"type": "RENAME", "title": title})

    async def perform(self, id: str, action: str, **payload: Any) -> Mapping[str, Any]:
        """Do something with the conversation itself: fork, rewind, checkpoint, merge; gives the chat afterwards."""
        event = {"type": action, "at": self._runtime.now(), **payload}
        snapshot = await self._snapshot(id)
        if not snapshot["children"].get("chat"):
            raise NothingSaid(f"nothing was said in thread {id!r} yet, at least not here; say something first")
        chat = chat_of(snapshot)
        receipt = await self._runtime.send(id, event, to="chat")
        if receipt.status == "rejected":
            allowed = ", ".join(sorted(receipt.can)) or "nothing"
            reason = refusal(chat, event)  # type: ignore[arg-type]  # a context from JSON
            raise Refused(reason or f"{action!r} cannot be done now; what can: {allowed}")
        return (await self.library.read(id)).chat

    async def status(self, id: str) -> str:
        """The status of a thread."""
        return str((await self._snapshot(id))["value"])

    async def position(self, id: str) -> int:
        """The last step of a thread's journal, to be followed from."""
        saved = await self._runtime.store.load(id)
        if saved is None:
            raise UnknownThread(f"there is no thread {id!r}")
        return saved.seq

    async def next_attempt(self, id: str) -> Attempt | None:
        """The attempt that a failed reply waits for; nothing if it waits for none."""
        chat = (await self._snapshot(id))["children"].get("chat")
        reply = chat["snapshot"]["children"].get("reply") if chat else None
        context = reply["snapshot"]["context"] if reply else {}
        if context.get("retryDelayMs") is None:
            return None
        # The first one is no attempt that the machine made by itself, and counts for people.
        return Attempt(context["attempt"] + 2, context["settings"]["maxAttempts"] + 1, context["retryDelayMs"])

    async def settled(self, id: str, after: int) -> None:
        """Wait until nothing is in flight, as a stopped thread soon is: what was said is kept by then."""
        if not chat_of(await self._snapshot(id)).get("reply"):
            return
        async for _ in self._runtime.feed(id, after):
            if not chat_of(await self._snapshot(id)).get("reply"):
                return

    async def _snapshot(self, id: str) -> Any:
        try:
            return await self._runtime.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no thread {id!r}") from None

    async def follow(self, id: str, after: int = 0) -> AsyncIterator[Happening]:
        """Everything that happened after a step, and then everything that happens."""
        async for entry in self._runtime.feed(id, after):
            for happening in happenings(entry):
                yield happening

    async def until_idle(self, id: str, after: int = 0) -> AsyncIterator[Happening]:
        """What happens after a step, until the thread needs a person, or has ended."""
        async for entry in self._runtime.feed(id, after):
            found = list(happenings(entry))
            for happening in found:
                yield happening
            statuses = [one.facts["status"] for one in found if one.kind == "status"]
            if statuses and statuses[-1] != "running":
                return

    async def _begin(self, id: str, only: str | None = None, **given: Any) -> Receipt:
        for _ in range(ATTEMPTS):
            status = await self.status(id)
            if only is not None and status != only:
                raise Refused(f"thread {id!r} asks nothing: it is {status}")
            event = {"type": start_event(status), "at": self._runtime.now(), **given}  # type: ignore[arg-type]
            receipt = await self._runtime.send(id, event)
            if receipt.status != "rejected":
                return receipt
            if status == "running" == await self.status(id):
                raise Busy(f"thread {id!r} is busy; wait, stop it, or set onBusy to queue or interrupt")
        raise Refused(f"thread {id!r} changes faster than it can be spoken to; try again")

    async def _send(self, id: str, event: dict[str, Any]) -> Receipt:
        status = await self.status(id)
        receipt = await self._runtime.send(id, event)
        if receipt.status == "rejected":
            raise Refused(f"thread {id!r} is {status}: {event['type']} cannot be done now")
        return receipt
