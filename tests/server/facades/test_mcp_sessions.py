"""Sessions of MCP over HTTP: resumption, owners, limits, and the end of the server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import JSONRPCNotification

from antiphon.app import App
from antiphon.server.callers import CALLER, OPERATOR, Caller
from antiphon.server.context import ServerContext
from antiphon.server.facades.mcp import sessions as mcp_sessions
from antiphon.server.facades.mcp import stored_events
from antiphon.server.facades.mcp.actions import send_message, stop_thread
from antiphon.server.facades.mcp.calls import McpCall
from antiphon.server.facades.mcp.reading import list_threads, read_thread, search_threads
from antiphon.server.facades.mcp.resources import list_resources, read_resource
from antiphon.server.facades.mcp.sessions import McpSessions
from antiphon.server.facades.mcp.stored_events import StoredEvents
from antiphon.server.settings import ServerSettings
from antiphon.threads import UnknownThread
from tests.fixtures.mcp_wire import ACCEPT, OLD, McpWire, stream_messages
from tests.fixtures.scripted_team import script
from tests.fixtures.server import LiveServer, live_server


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server(app=lambda: App(":memory:")) as server:
        yield server


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model that says one thing, and another one later, or never ends."""
    endless = [{"text": "Waiting. "}, {"delay_ms": 600_000}]
    slow = [{"text": "First. "}, {"delay_ms": 300}, {"text": "Second."}]
    return script(tmp_path, {"when": "wait", "steps": endless}, {"steps": slow})


def calling(model: str, text: str = "Hi") -> dict[str, Any]:
    return {"name": "send_message", "arguments": {"text": text, "model": model}, "_meta": {"progressToken": "p"}}


def test_a_stream_that_was_cut_is_resumed_without_gap_or_repeat(server: LiveServer, model: str) -> None:
    with McpWire(server) as wire:
        with wire.stream("tools/call", calling(model)) as response:
            frames = stream_messages(response)
            assert next(frames)[1] is None  # its id comes before anything else
            last, report = next(frames)
        assert report is not None
        assert report["params"]["message"] == "First. "
        resumed = {**wire.headers(), "last-event-id": last, "accept": "text/event-stream"}
        with wire.http.stream("GET", "/mcp", headers=resumed) as response:
            rest = [message for _, message in up_to_response(stream_messages(response))]

    assert [message["params"]["message"] for message in rest[:-1]] == ["Second."]
    assert rest[-1]["result"]["structuredContent"]["text"] == "First. Second."


def up_to_response(frames: Iterator[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for id, message in frames:
        if message is not None:
            yield id, message
            if "result" in message:
                return


def test_no_session_reads_the_messages_of_another(server: LiveServer, model: str) -> None:
    with McpWire(server) as first, McpWire(server) as second:
        with first.stream("tools/call", calling(model), id="same") as response:
            last, _ = next(stream_messages(response))
        second.call("list_threads")
        foreign = {**second.headers(), "last-event-id": last or "", "accept": "text/event-stream"}
        with second.http.stream("GET", "/mcp", headers=foreign) as response:
            assert response.status_code == 200
            # The id is one of the second session's own, or of none: no word of the first one's reply is read.
            seen = next(stream_messages(response), (None, None))[1]

    assert "First" not in str(seen)


def test_the_oldest_messages_are_dropped() -> None:
    async def main() -> tuple[list[Any], str | None, str | None]:
        events = StoredEvents()
        ids = [await events.store_event("s", note(str(number))) for number in range(stored_events.MOST_EVENTS + 10)]
        sent: list[Any] = []

        async def send(event: Any) -> None:
            sent.append(event)

        return sent, await events.replay_events_after(ids[0], send), await events.replay_events_after(ids[-3], send)

    sent, dropped, stream = asyncio.run(main())
    assert (dropped, stream, len(sent)) == (None, "s", 2)


def test_long_messages_are_dropped_by_their_length() -> None:
    async def main() -> str | None:
        events = StoredEvents()
        first = await events.store_event("s", note("x" * stored_events.MOST_CHARACTERS))
        await events.store_event("s", note("y" * stored_events.MOST_CHARACTERS))
        return await events.replay_events_after(first, lambda event: asyncio.sleep(0))

    assert asyncio.run(main()) is None


def note(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"text": text})


def test_a_session_that_was_ended_is_not_found(server: LiveServer) -> None:
    with McpWire(server) as wire:
        assert wire.http.delete("/mcp", headers=wire.headers()).status_code == 200
        response = wire.http.post("/mcp", json=wire.body("tools/list", {}, 9), headers=wire.headers())

    assert response.status_code == 404


def test_the_end_of_a_session_leaves_its_threads_running(server: LiveServer, model: str) -> None:
    with McpWire(server) as wire, McpWire(server) as other:
        with wire.stream("tools/call", calling(model, "wait")) as response:
            frames = stream_messages(response)
            next(frames)
            next(frames)
            assert other.http.delete("/mcp", headers=wire.headers()).status_code == 200
        views = server.call(lambda app: app.library.latest(status="running"))
        (view,) = (view for view in views if view.title == "wait")

        assert other.data("stop_thread", thread=view.id)["status"] == "stopped"


async def post(sessions: McpSessions, caller: Caller, body: bytes, **headers: str) -> tuple[int, dict[str, str]]:
    """The status and the headers of the response to a message of a user."""
    names = {"content-type": "application/json", "accept": ACCEPT, **headers}
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in names.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": raw, "query_string": b"", CALLER: caller}
    sent: list[Any] = []
    over = asyncio.Event()

    async def receive() -> Any:
        if not sent:
            return {"type": "http.request", "body": body, "more_body": False}
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await sessions.handle(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


INITIALIZE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", '
    b'"capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}'
)
LIST = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}'


def test_a_session_belongs_to_the_user_who_began_it() -> None:
    async def main() -> list[int]:
        async with App(":memory:") as app:
            context = ServerContext(app, ServerSettings())
            sessions = McpSessions(context)
            _, headers = await post(sessions, Caller("ada"), INITIALIZE)
            more = {"mcp_session_id": headers["mcp-session-id"], "mcp_protocol_version": OLD}
            callers = (Caller("ada"), Caller("bob"), OPERATOR)
            statuses = [(await post(sessions, caller, LIST, **more))[0] for caller in callers]
            context.closing.set()
            return statuses

    assert asyncio.run(main()) == [200, 404, 404]


def test_a_user_with_many_sessions_leaves_some_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_sessions, "MOST_USER_SESSIONS", 2)

    async def main() -> list[int]:
        async with App(":memory:") as app:
            context = ServerContext(app, ServerSettings())
            sessions = McpSessions(context)
            callers = (*[Caller("ada")] * 3, Caller("bob"), *[OPERATOR] * 3)
            statuses = [(await post(sessions, caller, INITIALIZE))[0] for caller in callers]
            context.closing.set()
            return statuses

    assert asyncio.run(main()) == [200, 200, 503, 200, 200, 200, 200]


def test_users_see_their_own_threads_only(model: str) -> None:
    async def quiet(progress: float, message: str) -> None:
        return

    async def main() -> None:
        async with App(":memory:") as app:
            context = ServerContext(app, ServerSettings())
            ada = McpCall(context, Caller("ada"), quiet)
            bob = McpCall(context, Caller("bob"), quiet)
            thread = (await send_message(ada, {"text": "Hi", "model": model, "key": "k"})).data["thread"]
            other = (await send_message(bob, {"text": "Hi", "model": model, "key": "k"})).data["thread"]

            assert thread != other  # keys are those of a user
            for read in (list_threads, search_threads):
                assert [row["id"] for row in (await read(ada, {"words": "hi"})).data["items"]] == [thread]
            assert [item.name for item in (await list_resources(ada, None))[0]] == [thread]
            for attempt in (
                read_thread(bob, {"thread": thread}),
                stop_thread(bob, {"thread": thread}),
                send_message(bob, {"text": "Hi", "thread": thread}),
                read_resource(bob, f"antiphon://threads/{thread}"),
            ):
                with pytest.raises(UnknownThread):
                    await attempt
            operator = McpCall(context, OPERATOR, quiet)
            assert len((await list_threads(operator, {})).data["items"]) == 2

    asyncio.run(main())


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_server_that_stops_ends_calls_and_streams(model: str, version: str) -> None:
    with live_server(app=lambda: App(":memory:")) as server:
        wire = McpWire(server, version)
        wire.__enter__()
        call = wire.stream("tools/call", calling(model, "wait"))
        frames = stream_messages(call.__enter__())
        assert next(message for _, message in frames if message)["method"] == "notifications/progress"

    assert [message for _, message in frames if message and "result" in message] == []
    wire.http.close()


def test_streams_of_mcp_are_counted(server: LiveServer) -> None:
    with McpWire(server) as wire, wire.http.stream("GET", "/mcp", headers=wire.headers()) as response:
        assert response.status_code == 200
        assert "antiphon_streams_open 1" in wire.http.get("/metrics").text


def test_a_search_does_not_tell_whether_others_have_written_a_word(model: str) -> None:
    async def quiet(progress: float, message: str) -> None:
        return

    async def main() -> list[Any]:
        async with App(":memory:") as app:
            context = ServerContext(app, ServerSettings())
            await send_message(McpCall(context, Caller("ada"), quiet), {"text": "gooseberry", "model": model})
            bob = McpCall(context, Caller("bob"), quiet)
            return [await search_threads(bob, {"words": word, "limit": 1}) for word in ("gooseberry", "quince")]

    known, unknown = asyncio.run(main())
    assert known == unknown
    assert known.data == {"items": [], "next": None}
