"""Tools of MCP servers at an address, over streamable HTTP: against a real server on this machine."""

import asyncio
import logging
import subprocess
import sys
from contextlib import contextmanager

import pytest

from antiphon.tools.mcp.config import AddressServer, ServerLimits
from tests.fixtures.mcp_tools import CANARY, PROGRAM, ask, run, toolbox, until, words

LIMITS = ServerLimits(start_ms=20_000, call_ms=20_000)


@contextmanager
def serving():
    """A server in a process of its own, and its address."""
    with subprocess.Popen([sys.executable, PROGRAM, "http"], stdout=subprocess.PIPE, text=True) as child:
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}/mcp", child
        finally:
            child.kill()


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch):
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def address():
    with serving() as (url, _):
        yield url


def at(url, *, limits=LIMITS, **headers):
    return AddressServer("net", url, {name.replace("_", "-"): text for name, text in headers.items()}, limits)


def test_tools_at_an_address_are_listed_and_called(address):
    async def work():
        async with toolbox(at(address)) as mcp:
            return (
                mcp.problems,
                await ask(mcp, "net__echo", text="hi"),
                await ask(mcp, "net__huge", characters=2_000_000),
            )

    problems, result, huge = run(work())
    assert problems == ()
    assert words(result) == "hi"
    assert "1,900,000 more characters" in words(huge)


def test_a_header_comes_from_the_environment_and_is_seen_by_the_server_only(address, caplog):
    caplog.set_level(logging.DEBUG)
    settings = at(address, x_token="Bearer ${THE_TOKEN}")

    async def work():
        async with toolbox(settings) as mcp:
            return words(await ask(mcp, "net__headers")), repr(mcp)

    authorization, log_text = run(work())
    assert authorization == "Bearer [hidden]"
    assert CANARY not in authorization + log_text + repr(settings) + caplog.text


def test_a_cancelled_call_is_cancelled_at_the_server(address):
    async def work():
        async with toolbox(at(address)) as mcp:
            before = [int(words(await ask(mcp, "net__waited", what=what))) for what in ("begun", "cancelled")]
            waiting = asyncio.create_task(ask(mcp, "net__wait"))

            async def begun():
                return int(words(await ask(mcp, "net__waited", what="begun"))) == before[0] + 1

            async def cancelled():
                return int(words(await ask(mcp, "net__waited", what="cancelled"))) == before[1] + 1

            await until(begun)
            waiting.cancel()
            await until(cancelled)

    run(work())


def test_a_call_that_takes_too_long_is_an_error(address):
    async def work():
        async with toolbox(at(address, limits=ServerLimits(start_ms=20_000, call_ms=1_000))) as mcp:
            return await ask(mcp, "net__wait"), await ask(mcp, "net__echo", text="after")

    late, after = run(work())
    assert "1000 ms" in words(late)
    assert late.is_error
    assert words(after) == "after"


def test_an_address_without_a_server_is_a_problem():
    async def work():
        async with toolbox(at("http://127.0.0.1:9/mcp")) as mcp:
            return mcp.problems

    (problem,) = run(work())
    assert problem.server == "net"
    assert problem.message


def test_a_page_that_is_no_server_is_a_problem(address):
    async def work():
        async with toolbox(at(address + "/elsewhere")) as mcp:
            return mcp.tools, mcp.problems

    tools, problems = run(work())
    assert tools == ()
    assert len(problems) == 1


def test_a_server_that_dies_during_a_call_is_an_error_and_stays_one():
    async def work(url, child):
        async with toolbox(at(url, limits=ServerLimits(start_ms=20_000, call_ms=20_000, restarts=1))) as mcp:
            died = await ask(mcp, "net__die")
            child.wait()
            return [died, *[await ask(mcp, "net__echo", text="a") for _ in range(3)]], mcp.problems

    with serving() as (url, child):
        results, problems = run(work(url, child))
    assert [result.is_error for result in results] == [True] * 4
    assert len(problems) == 1
