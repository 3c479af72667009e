"""Sessions of models: opened when first named, and what they kept is released with the last one of a server."""

import pytest

from antiphon.providers.local.engines import Engines
from antiphon.providers.sessions import Sessions
from tests.fixtures.providers import read, run, stand, until
from tests.providers.local.tiny import engine

pytestmark = pytest.mark.requirement("S1-109", "S1-83")
TEXT = "openai:fake-text"


def test_a_session_opens_its_model_once():
    async def work():
        async with stand() as here:
            sessions = Sessions(here.models)
            first = sessions.open("s1", TEXT)
            return sessions.ids, sessions.open("s1", TEXT) is first, sessions.open("s1", "openai:fake-ok") is first

    assert run(work()) == (["s1"], True, False)


def test_closing_the_last_session_of_a_server_closes_its_idle_connections():
    async def work():
        async with stand() as here:
            sessions = Sessions(here.models)
            for id in ("s1", "s2"):
                assert (await read(sessions.open(id, TEXT))).error is None
            await sessions.close("s1")
            between = here.fake.connections
            sessions.close_soon("s2")
            await sessions.wait_closed()
            await until(lambda: here.fake.connections == 0)
            return between, sessions.ids

    assert run(work()) == (1, [])


def test_connections_that_are_also_used_without_a_session_stay():
    async def work():
        async with stand() as here:
            sessions = Sessions(here.models)
            await read(here.open("openai", "text"))
            await read(sessions.open("s1", TEXT))
            await sessions.close("s1")
            return here.fake.connections, (await read(here.open("openai", "text"))).error

    assert run(work()) == (1, None)


def test_a_session_that_is_not_open_is_closed_already():
    async def work():
        async with stand() as here:
            await Sessions(here.models).close("never")

    run(work())


@pytest.mark.parametrize("is_used", [False, True])
def test_the_child_of_a_local_model_ends_unless_a_request_uses_it(tmp_path, is_used):
    async def work():
        engines = Engines()
        running = engines._by_reference["local:tiny"] = engine(tmp_path)
        async with running.slot():
            await engines.release("tiny")
            while_used = running.is_running
        if not is_used:
            await engines.release("tiny")
        after = running.is_running
        await engines.close()
        return while_used, after

    assert run(work()) == (True, is_used)
