"""Threads of a server, with the methods of `app.threads`: the same parameters, results and errors."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NoReturn

from antiphon.client.connection import HttpConnection, actor_path, thread_path
from antiphon.client.following import ClientUntilIdle, follow_changes, follow_steps
from antiphon.client.grants import ThreadGrants
from antiphon.client.library import export_thread
from antiphon.client.settings import to_body
from antiphon.client.values import activities_from_json, page_from_json, receipt_from_json, state_from_json
from antiphon.runtime.errors import JournalCompacted
from antiphon.runtime.records import Receipt, RootState
from antiphon.threads import (
    Activity,
    ActivityPage,
    OpenRequest,
    Refused,
    StandingPermission,
    ThreadChange,
    ThreadPage,
    UnknownRequest,
)
from antiphon.threads.errors import ON_BUSY
from antiphon.threads.kinds import Json, content_of

PAGE = 1000
KEY_BYTES = 16
NO_CONTENT = {"content": "false"}
# Members of an answer as the server names them.
ANSWER = ("text", "decision", "scope", "reason", "limit", "arguments")


class ClientThreads:
    """All threads of a server that the token may use, whatever their kind."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self.grants = ThreadGrants(connection)

    async def create(self, kind: str, *, title: str | None = None, owner: str = "", **settings: Any) -> str:
        """Create a chat, a run or a debate with its settings; return its id.

        Models, agents and tools are checked before anything is stored; `owner` is a text of the caller's own, and `id`
        a name that no other thread has.
        """
        body = to_body(kind, title, owner, settings)
        # The id that was asked for is taken once the first request was taken, so it cannot be repeated.
        page = await self._connection.post("/threads", body, key=None if "id" in body else _new_key())
        return str(page["id"])

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a thread, depending on its status; raise `Busy` if it takes no message."""
        message = payload.get("message")
        if payload.keys() == {"message"} and isinstance(message, Mapping):
            return await self.say(thread, message.get("text", ""), parts=message.get("parts"), id=id)
        if payload == {"retry": True}:
            return await self.retry(thread)
        raise Refused(f"a server takes a message or a retry, not {', '.join(payload) or 'nothing'}; use send")

    async def say(
        self,
        thread: str,
        text: str = "",
        *,
        parts: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
        on_busy: str | None = None,
    ) -> Receipt:
        """Send a person's message: to a chat, to a run, whose first one is its task, or as interjection in a debate.

        `on_busy` says what happens if the thread is running: `reject` raises `Busy`, `interrupt` stops it first;
        `queue` and `merge` need a thread that was created with that setting, which is the default.
        `options` of the model, such as `temperature`, hold for the reply to this message of a chat alone.
        """
        if on_busy is not None and on_busy not in ON_BUSY:
            raise Refused(f"onBusy is {on_busy!r}; known: {', '.join(ON_BUSY)}")
        body: dict[str, Any] = {"text": text} if parts is None else {"parts": list(parts)}
        if options:
            body["options"] = dict(options)
        return await self._send(thread, "messages", body if on_busy is None else {**body, "onBusy": on_busy}, id)

    async def start(
        self, thread: str, text: str | None = None, *, id: str | None = None, plan: Mapping[str, Any] | None = None
    ) -> Receipt:
        """Start a thread: with its first message, with its task and maybe a plan, or, a debate, with its topic."""
        body = {} if text is None else {"text": text}
        return await self._send(thread, "start", body if plan is None else {**body, "plan": dict(plan)}, id)

    async def send(self, thread: str, event: Mapping[str, Any], *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event to a thread, or to an actor in it; raise `Refused` with the events it takes instead.

        An event whose `id` was taken before is not taken again: the receipt is a `duplicate`.
        """
        key = id or _new_key()
        body = {"event": dict(event), "to": to}
        return receipt_from_json(
            await self._connection.post(actor_path(thread, "events"), body, key=key, thread=thread), key
        )

    async def perform(self, thread: str, action: str, *, id: str | None = None, **payload: Any) -> Json:
        """Send an event to the content of a thread, such as `rewind` of a chat; return the content afterwards."""
        body = {"action": action, "payload": payload}
        path = thread_path(thread, "perform")
        page = await self._connection.post(path, body, key=id or _new_key(), thread=thread)
        content: Json = page["content"]
        return content

    async def answer(
        self,
        id: str,
        text: str | None = None,
        *,
        decision: str | None = None,
        scope: str = "once",
        outside: bool = False,
        reason: str | None = None,
        request: str | None = None,
        limit: float | None = None,
        arguments: Mapping[str, Mapping[str, Any]] | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Answer a question in words, or a request for permission: `allow` or `deny`.

        An allowance holds `once`, or for a `scope` that the request offers (`OpenRequest.scopes`).
        `arguments` changes those of calls, by their ids, once.
        A chat at one of its limits is allowed to go on up to `limit`, or up to the one that it offers.
        `request` is the id of the request, and may be left out where only one is open. `UnknownRequest` says that it
        is not open any more, or never was. An answer whose `key` was taken before is a `duplicate`.
        Only a window of the server's machine lets a command run `outside` its sandbox.
        """
        if outside and not self._connection.is_local:
            raise Refused("a server runs no command outside its sandbox; answer without outside=True")
        values = {
            "text": text,
            "decision": decision,
            "scope": scope,
            "reason": reason,
            "limit": limit,
            "arguments": arguments,
        }
        body: dict[str, Any] = {name: values[name] for name in ANSWER if values[name] is not None}
        body |= {"outside": True} if outside else {}
        name = request if request is not None else (await self._only_request(id)).id
        return await self._send(id, "respond", {**body, "requestId": name}, key, request=name)

    async def _only_request(self, id: str) -> OpenRequest:
        page = await self._page(id)
        if len(page.requests) != 1:
            state = f"the thread is {page.view.status}"
            raise UnknownRequest(id, None, [request.id for request in page.requests], state)
        return page.requests[0]

    async def set_mode(self, id: str, mode: str) -> None:
        """Let a mode of permission hold for a thread as long as the server runs; only over the socket of a machine."""
        if not self._connection.is_local:
            raise Refused("the mode of a thread is changed on the machine of the store: antiphon chat --mode")
        await self.grants.give(id, mode=mode)

    async def allow_model(self, id: str, reference: str) -> None:
        """Let a thread that was imported or restored ask a model by address or file, as long as the server runs.

        Models that are named by their provider need no such permission, and neither do other threads. Only over the
        socket of a machine.
        """
        if not self._connection.is_local:
            raise Refused("models by address or file are allowed on the machine of the store: antiphon chat --model")
        await self.grants.give(id, models=[reference])

    async def requests(self, id: str) -> list[OpenRequest]:
        """Return the open requests of a thread to a person, the oldest first."""
        return list((await self._page(id)).requests)

    async def permissions(self, id: str) -> list[StandingPermission]:
        """Return what was allowed in a thread for more than one call, by its settings or by a person."""
        return list((await self._page(id)).permissions)

    async def revoke(self, id: str, permission: str, *, key: str | None = None) -> Receipt:
        """Take back a permission that lasts, by its id: the calls that it covered are asked about again.

        It holds at once, for agents at work too; a call that was made already is not stopped.
        Raise `UnknownPermission` if the thread does not have it.
        """
        return await self._send(id, "revoke", {"permission": permission}, key)

    async def stop(self, id: str, *, key: str | None = None) -> Receipt:
        """Stop the work of a thread."""
        return await self._act(id, "stop", key)

    async def pause(self, id: str, *, key: str | None = None) -> Receipt:
        """Pause a debate until it is resumed."""
        return await self._act(id, "pause", key)

    async def resume(self, id: str, *, key: str | None = None) -> Receipt:
        """Continue where a process was lost, or where the thread was stopped or paused."""
        return await self._act(id, "resume", key)

    async def retry(self, id: str, *, key: str | None = None) -> Receipt:
        """Repeat what failed: a request, or the turn of an agent."""
        return await self._act(id, "retry", key)

    async def archive(self, id: str, archived: bool = True, *, key: str | None = None) -> Receipt:
        """Archive a thread, or take it out of the archive; an archived one that does not run leaves the memory."""
        return await self._change(id, key, archived=archived)

    async def rename(self, id: str, title: str | None, *, key: str | None = None) -> Receipt:
        """Set the title of a thread; without one, its kind derives one."""
        return await self._change(id, key, title=title)

    async def export(self, id: str, format: str = "md") -> str:
        """Export a thread as Markdown (`md`), one HTML page (`html`), or JSON (`json`)."""
        return await export_thread(self._connection, id, format)

    async def fork(self, id: str, step: int | None = None, *, new: str | None = None) -> str:
        """Create a thread that continues from another one, as it is or as it was after a step; return its id.

        Work in progress is not shared: in the fork it is interrupted. A server chooses the id, and refuses `new`.
        """
        if new is not None:
            raise Refused("a server chooses the ids of forks; leave new out")
        body = {} if step is None else {"step": step}
        return str((await self._connection.post(thread_path(id, "fork"), body, key=_new_key(), thread=id))["id"])

    async def delete(self, id: str) -> None:
        """Delete a thread with all that belongs to it, for ever; work in progress is stopped first. Forks are kept."""
        await self._connection.request("DELETE", thread_path(id), thread=id)

    async def undo_plan(self, id: str, *, redo: bool = False) -> NoReturn:
        """Raise `Refused`: what tools changed is undone on the machine of the store."""
        _refuse_undo(id)

    async def undo(self, id: str, *, force: bool = False, redo: bool = False) -> NoReturn:
        """Raise `Refused`: what tools changed is undone on the machine of the store."""
        _refuse_undo(id)

    async def read(self, id: str) -> ThreadPage:
        """Read a thread with its content, its open requests, what it takes now, and the cursor to follow it from."""
        return page_from_json(await self._connection.get(thread_path(id), thread=id))

    async def usage(self, id: str) -> dict[str, Any]:
        """Return the cost of a thread in USD, and the figures that its kind keeps about tokens, costs and limits."""
        usage: dict[str, Any] = await self._connection.get(thread_path(id, "usage"), thread=id)
        return usage

    async def can(self, id: str) -> dict[str, tuple[str, ...]]:
        """Return the events that have transitions now, by the address of the actor: the thread, and its content."""
        return dict((await self._page(id)).can)

    async def status(self, id: str) -> str:
        """Return the status of a thread."""
        return (await self._page(id)).view.status

    async def cursor(self, id: str) -> str:
        """Return the cursor of the last step of a thread, to follow from."""
        return (await self._page(id)).cursor

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        config: Json = (await self.snapshot(id))["context"]["config"]
        return config

    async def has_content(self, id: str) -> bool:
        """Return whether a thread has content now: it has begun, and its content has not ended."""
        return (await self.state(id)).get("content") is not None

    async def content(self, id: str) -> Json | None:
        """Return the context of a thread's content, or None if it has ended."""
        return content_of(await self.snapshot(id))

    async def snapshot(self, id: str, step: int | None = None) -> Any:
        """Return a thread's snapshot as JSON, now or after an earlier step."""
        return (await self._snapshot(id, step))["snapshot"]

    async def state(self, id: str) -> RootState:
        """Return the state of a thread without its content."""
        reply = await self._snapshot(id)
        return state_from_json(reply["step"], reply["snapshot"])

    async def steps(
        self, id: str, after: int | str = 0, *, wait_for_release: bool = False
    ) -> AsyncIterator[list[Activity]]:
        """Iterate over the activities of each step after a step or cursor, and then of each new step."""
        steps = follow_steps(self._connection, id, after, wait_for_release=wait_for_release)
        async with aclosing(steps) as opened:
            async for step in opened:
                yield step

    async def follow(self, id: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[Activity]:
        """Iterate over the activities after a step or cursor, and then over new ones until the thread has ended.

        A connection that is lost is opened again, and continues after the last activity.
        `OtherHistory` says that the cursor is of another past; its `resume` is the cursor to continue from.
        `Quarantined` is raised after the last activity, unless the release of the thread is waited for.
        """
        steps = follow_steps(self._connection, id, after, wait_for_release=wait_for_release)
        async with aclosing(steps) as opened:
            async for step in opened:
                for activity in step:
                    yield activity

    def follow_all(self, cursors: Mapping[str, int | str] | None = None) -> AsyncIterator[ThreadChange]:
        """Iterate over the activities of some threads, each after its cursor, and over changes of all threads."""
        return follow_changes(self._connection, dict(cursors or {}))

    def until_idle(self, id: str, after: int | str = 0) -> ClientUntilIdle:
        """Iterate over the activities after a step or cursor, until the thread has nothing left to do now.

        Awaited, it waits for that and returns the status of the thread.
        """
        return ClientUntilIdle(self._connection, id, after)

    async def activities(self, id: str, after: int | str = 0, limit: int = PAGE, *, words: bool = True) -> ActivityPage:
        """Return a page of the activities after a step or cursor that the journal has, at least `limit` if it has more.

        Without `words`, the activities `text` and `thinking` are left out.
        Raise `OtherHistory` if the cursor is of another past, `JournalCompacted` if the steps after it were removed.
        """
        params: dict[str, str | int] = {"limit": limit, **({"after": str(after)} if after else {})}
        if not words:
            params["words"] = "false"
        path = thread_path(id, "events")
        return activities_from_json(await self._connection.get(path, params, thread=id, cursor=str(after)))

    async def history(self, id: str) -> tuple[list[Activity], str]:
        """Return all activities that the journal has, and the cursor to follow from."""
        past: list[Activity] = []
        after: int | str = 0
        while True:
            try:
                page = await self.activities(id, after)
            except JournalCompacted as error:
                after = error.first - 1
                continue
            past += page.activities
            after = page.cursor
            if not page.has_more:
                return past, page.cursor

    async def _page(self, id: str) -> ThreadPage:
        return page_from_json(await self._connection.get(thread_path(id), NO_CONTENT, thread=id))

    async def _snapshot(self, id: str, step: int | None = None) -> Any:
        params = None if step is None else {"step": step}
        return await self._connection.get(actor_path(id, "snapshot"), params, thread=id)

    async def _send(self, id: str, action: str, body: Json, key: str | None, request: str | None = None) -> Receipt:
        letter = key or _new_key()
        path = thread_path(id, action)
        reply = await self._connection.post(path, dict(body), key=letter, thread=id, request=request)
        return receipt_from_json(reply, letter)

    async def _act(self, id: str, action: str, key: str | None) -> Receipt:
        letter = key or _new_key()
        return receipt_from_json(await self._connection.post(thread_path(id, action), key=letter, thread=id), "")

    async def _change(self, id: str, key: str | None, **change: Any) -> Receipt:
        letter = key or _new_key()
        response = await self._connection.request("PATCH", thread_path(id), body=change, key=letter, thread=id)
        cursor = response.json()["cursor"]
        return receipt_from_json({"status": "accepted", "seq": int(cursor.rpartition(":")[2]), "cursor": cursor}, "")


def _new_key() -> str:
    """Return a key of its own, so that the request can be repeated."""
    return secrets.token_hex(KEY_BYTES)


def _refuse_undo(id: str) -> NoReturn:
    raise Refused(f"what tools changed is undone where the store is: antiphon threads undo {id}")
