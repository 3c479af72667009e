"""Threads of a server give the client the values and errors that they give an app in the same process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from antiphon.app import App
from antiphon.client import Client, NotAuthenticated, ServerUnreachable, UnexpectedProblem
from antiphon.debate import InvalidConfig
from antiphon.providers.errors import ProviderError
from antiphon.runtime.errors import OtherHistory
from antiphon.threads import (
    Busy,
    InvalidCursor,
    NothingSaid,
    Refused,
    UnknownPermission,
    UnknownRequest,
    UnknownThread,
    WrongKind,
)
from tests.fixtures.server import CANARY, LiveServer, live_server

Use = Callable[[Any], Awaitable[Any]]
DEBATE = {"topic": "Should trams replace cars in the city?", "models": ["scripted:debate", "scripted:debate"]}


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server() as running:
        yield running


def use(server: LiveServer, work: Use, **options: Any) -> Any:
    """Run work with a client of a server."""

    async def run() -> Any:
        async with Client(server.address, CANARY, **options) as client:
            return await work(client)

    return asyncio.run(run())


async def talk(app: App | Client, text: str = "Hello") -> str:
    """Create a chat and wait for its first reply."""
    thread = await app.threads.create("chat", model="scripted:demo", title="A chat")
    receipt = await app.threads.say(thread, text)
    await app.threads.until_idle(thread, receipt.cursor)
    return thread


async def collect(source: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in source]


def test_a_permission_is_taken_back_by_its_id_and_an_unknown_one_is_refused_with_those_there_are(
    server: LiveServer,
) -> None:
    overrides = [{"decision": "allow", "pattern": pattern} for pattern in ("read_file", "fetch")]

    async def work(client: Any) -> None:
        consent = {"mode": "ask", "overrides": overrides}
        thread = await client.threads.create("chat", model="scripted:demo", consent=consent)
        await client.threads.until_idle(thread, (await client.threads.say(thread, "Hello")).cursor)
        first, second = await client.threads.permissions(thread)
        receipt = await client.threads.revoke(thread, first.id)
        with pytest.raises(UnknownPermission, match=f"has no permission {first.id!r}; it has: {second.id}") as refused:
            await client.threads.revoke(thread, first.id)

        assert (first.override, second.text, receipt.status) == (overrides[0], "fetch", "accepted")
        assert (refused.value.permission, refused.value.permissions) == (first.id, (second.id,))
        assert (await client.threads.read(thread)).permissions == (second,)

    use(server, work)


READERS: list[Callable[[Any, str], Awaitable[Any]]] = [
    lambda app, thread: app.threads.read(thread),
    lambda app, thread: app.threads.usage(thread),
    lambda app, thread: app.threads.can(thread),
    lambda app, thread: app.threads.status(thread),
    lambda app, thread: app.threads.cursor(thread),
    lambda app, thread: app.threads.config(thread),
    lambda app, thread: app.threads.has_content(thread),
    lambda app, thread: app.threads.content(thread),
    lambda app, thread: app.threads.snapshot(thread),
    lambda app, thread: app.threads.requests(thread),
    lambda app, thread: app.threads.permissions(thread),
    lambda app, thread: app.threads.history(thread),
    lambda app, thread: app.threads.activities(thread, 2, 3),
    lambda app, thread: app.threads.export(thread),
    lambda app, thread: app.threads.export(thread, "json"),
    lambda app, thread: collect(app.threads.until_idle(thread, 1)),
    lambda app, thread: app.threads.until_idle(thread),
    lambda app, thread: app.library.read(thread),
    lambda app, thread: app.library.read(thread, "chat"),
    lambda app, thread: app.library.config(thread),
    lambda app, thread: app.library.find(thread[:7]),
    lambda app, thread: app.library.find(thread, "chat"),
    lambda app, thread: app.library.latest(2, kind="chat", archived=None),
    lambda app, thread: app.library.search("script", 3),
]


def test_what_is_read_equals_that_of_the_app(server: LiveServer) -> None:
    id = use(server, talk)

    for reader in READERS:
        assert use(server, lambda client, reader=reader: reader(client, id)) == server.call(
            lambda app, reader=reader: reader(app, id)
        )


def test_the_state_of_a_thread_equals_that_of_the_app(server: LiveServer) -> None:
    id = use(server, talk)

    state = use(server, lambda client: client.threads.state(id))

    own = server.call(lambda app: app.threads.state(id))
    assert (state.seq, state.status, state.value, state.get("kind"), state.value_of("chat")) == (
        own.seq, own.status, own.value, own.get("kind"), own.value_of("chat"),
    )  # fmt: skip


ERRORS: list[tuple[type[Exception], Callable[[Any, str], Awaitable[Any]]]] = [
    (UnknownThread, lambda app, thread: app.threads.say("none", "Hello")),
    (UnknownThread, lambda app, thread: app.threads.read("none")),
    (UnknownThread, lambda app, thread: app.threads.status("none")),
    (UnknownThread, lambda app, thread: collect(app.threads.follow("none"))),
    (UnknownThread, lambda app, thread: collect(app.threads.until_idle("none"))),
    (UnknownThread, lambda app, thread: app.library.read("none", "chat")),
    (WrongKind, lambda app, thread: app.library.read(thread, "run")),
    (Refused, lambda app, thread: app.threads.resume(thread)),
    (Refused, lambda app, thread: app.threads.stop(thread)),
    (Refused, lambda app, thread: app.threads.fork(thread, 99999)),
    (Refused, lambda app, thread: app.threads.perform(thread, "rewind", turns=99)),
    (Refused, lambda app, thread: app.threads.perform(thread, "no_such_event")),
    (Refused, lambda app, thread: app.threads.export(thread, "pdf")),
    (Refused, lambda app, thread: app.threads.send(thread, {"type": "STOP", "at": 1})),
    (Refused, lambda app, thread: app.threads.send(thread, {"type": "START", "at": "never"})),
    (Refused, lambda app, thread: app.threads.create("chat", model="scripted:demo", id=thread)),
    (Refused, lambda app, thread: app.threads.say(thread, "Hello", on_busy="panic")),
    (UnknownRequest, lambda app, thread: app.threads.answer(thread, "yes")),
    (UnknownRequest, lambda app, thread: app.threads.answer(thread, "yes", request="17")),
    (InvalidCursor, lambda app, thread: app.library.latest(3, after="nowhere")),
    (OtherHistory, lambda app, thread: app.threads.activities(thread, "0000:3")),
    (OtherHistory, lambda app, thread: collect(app.threads.follow(thread, "0000:3"))),
    (OtherHistory, lambda app, thread: collect(app.threads.until_idle(thread, "0000:3"))),
    (ProviderError, lambda app, thread: app.threads.create("chat", model="openai:gpt-6.1-sol")),
    (InvalidConfig, lambda app, thread: app.threads.create("debate", **DEBATE, maxRounds=-3)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_have_the_class_and_the_message_that_the_app_raises(server: LiveServer, number: int) -> None:
    kind, work = ERRORS[number]
    id = use(server, talk)

    with pytest.raises(kind) as here:
        use(server, lambda client: work(client, id))

    with pytest.raises(kind) as there:
        server.call(lambda app: work(app, id))
    assert type(here.value) is type(there.value)
    assert str(here.value) == str(there.value)


def test_a_setting_of_the_wrong_type_is_refused_in_words_of_the_server(server: LiveServer) -> None:
    with pytest.raises(Refused, match=r"consent\.mode"):
        use(server, lambda client: client.threads.create("chat", model="scripted:demo", consent={"mode": "all"}))


def test_errors_have_the_facts_of_those_of_the_app(server: LiveServer) -> None:
    id = use(server, talk)

    with pytest.raises(UnknownRequest) as unknown:
        use(server, lambda client: client.threads.answer(id, "yes", request="17"))
    with pytest.raises(OtherHistory) as other:
        use(server, lambda client: client.threads.activities(id, "0000:3"))

    assert (unknown.value.thread, unknown.value.request, unknown.value.open) == (id, "17", ())
    assert (other.value.root, other.value.cursor, other.value.shared) == (id, "0000:3", 0)


def test_a_running_chat_is_busy(server: LiveServer) -> None:
    async def work(client: Client) -> None:
        thread = await client.threads.create("chat", model="scripted:demo")
        await client.threads.say(thread, "Hello")
        try:
            await client.threads.say(thread, "And again", on_busy="reject")
        finally:
            await client.threads.stop(thread)

    with pytest.raises(Busy, match="is busy; wait"):
        use(server, work)


def test_a_chat_without_messages_says_so(server: LiveServer) -> None:
    async def work(client: Client) -> None:
        await client.threads.perform(await client.threads.create("chat", model="scripted:demo"), "checkpoint")

    with pytest.raises(NothingSaid):
        use(server, work)


def test_a_thread_is_renamed_archived_forked_and_deleted(server: LiveServer) -> None:
    async def work(client: Client) -> tuple[str, bool, list[str]]:
        id = await talk(client)
        await client.threads.rename(id, "Greetings")
        await client.threads.archive(id)
        fork = await client.threads.fork(id)
        await client.threads.delete(id)
        page = await client.threads.read(fork)
        return page.view.title, page.view.archived, await client.library.find(id)

    assert use(server, work) == ("Greetings", True, [])


def test_a_message_that_is_repeated_with_its_id_is_taken_once(server: LiveServer) -> None:
    async def work(client: Client) -> list[str]:
        thread = await client.threads.create("chat", model="scripted:demo")
        return [(await client.threads.say(thread, "Hello", id="first")).status for _ in range(2)]

    assert use(server, work) == ["accepted", "duplicate"]


def test_many_threads_are_followed_with_the_list(server: LiveServer) -> None:
    async def work(client: Client) -> list[str]:
        id = await talk(client)
        kinds = []
        async for change in client.threads.follow_all({id: 0}):
            kinds.append(change.kind)
            if change.activity is not None and change.activity.facts.get("status") == "completed":
                return kinds
        return []

    kinds = use(server, work)
    assert kinds[0] == "behind"
    assert set(kinds[1:]) == {"activity"}


def test_a_debate_is_created_started_and_read(server: LiveServer) -> None:
    async def work(client: Client) -> tuple[str, str]:
        id = await client.threads.create("debate", **DEBATE, maxRounds=1)
        await client.threads.start(id)
        status = await client.threads.until_idle(id)
        return status, (await client.threads.read(id)).content["topic"]

    assert use(server, work) == ("completed", "Should trams replace cars in the city?")


@pytest.mark.parametrize("name", ["undo", "undo_plan"])
def test_changes_of_tools_are_undone_where_the_store_is(server: LiveServer, name: str) -> None:
    with pytest.raises(Refused, match="antiphon threads undo 17"):
        use(server, lambda client: getattr(client.threads, name)("17"))


def test_nothing_runs_outside_the_sandbox_by_an_answer(server: LiveServer) -> None:
    with pytest.raises(Refused, match="outside"):
        use(server, lambda client: client.threads.answer("17", decision="allow", outside=True))


def test_a_wrong_token_is_said(server: LiveServer) -> None:
    async def work() -> None:
        async with Client(server.address, "wrong") as client:
            await client.library.latest()

    with pytest.raises(NotAuthenticated) as error:
        asyncio.run(work())
    assert (error.value.code, error.value.status) == ("unauthenticated", 401)
    assert "wrong" not in repr(error.value).replace("missing or wrong", "")


def test_the_token_comes_from_the_environment_and_is_shown_nowhere(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_TOKEN", CANARY)

    async def work() -> str:
        async with Client(server.address) as client:
            await client.library.latest()
            return f"{client!r} {client.connection!r} {client.threads!r}"

    assert CANARY not in asyncio.run(work())


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    async def work() -> None:
        async with Client("http://127.0.0.1:9", CANARY):
            pass

    with pytest.raises(ServerUnreachable, match=r"no answer from http://127.0.0.1:9: .*; check the address"):
        asyncio.run(work())


def test_a_token_is_not_sent_to_another_machine_in_the_clear() -> None:
    with pytest.raises(Refused, match="use https://"):
        Client("http://chat.example.org", CANARY)


def test_an_answer_that_is_no_problem_is_said(server: LiveServer) -> None:
    async def work(client: Client) -> None:
        await client.connection.get("/nothing")

    with pytest.raises(UnexpectedProblem) as error:
        use(server, work)
    assert error.value.code == "unknown_route"


def test_what_is_no_json_is_refused_before_it_is_sent(server: LiveServer) -> None:
    with pytest.raises(Refused, match="not JSON"):
        use(server, lambda client: client.threads.create("chat", model=object()))
