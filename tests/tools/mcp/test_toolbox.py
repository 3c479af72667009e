"""Tools of MCP servers are listed, called, and never in the way of a run: against real servers as child processes."""

import asyncio
import logging
import os
import select
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from antiphon.messages import Image, ToolCall, ToolResult
from antiphon.tools.errors import NotInstalled
from antiphon.tools.mcp import process
from antiphon.tools.mcp.config import CommandServer, ServerLimits
from tests.fixtures.mcp_server import PIXEL
from tests.fixtures.mcp_tools import CANARY, PATIENT, QUICK, ask, call, run, server, toolbox, until, words


@pytest.fixture(scope="module")
def shared():
    """One healthy server for all tests that do it no harm, asked as `shared(name, **arguments)`."""
    with asyncio.Runner() as runner:
        mcp = runner.run(toolbox(replace(server("ok"), trust="hints"), server("chatty")).__aenter__())

        def asked(name, /, **arguments):
            return runner.run(ask(mcp, name, **arguments))

        asked.mcp = mcp
        yield asked
        runner.run(mcp.__aexit__(None, None, None))


@pytest.fixture
def short_grace(monkeypatch):
    monkeypatch.setattr(process, "GRACE_S", 0.2)


def test_tools_have_the_name_of_their_server_and_the_schema_they_were_given(shared):
    tools = {tool.name: tool for tool in shared.mcp.tools}

    assert tools["ok__echo"].description == "Says it again."
    assert tools["ok__echo"].parameters["properties"]["text"]["type"] == "string"
    assert tools["ok__echo"].parameters["type"] == "object"
    assert "chatty__echo" in tools
    assert shared.mcp.problems == ()


def test_a_tool_is_as_risky_as_its_server_says_and_else_as_any(shared):
    risks = {tool.name: tool.risk for tool in shared.mcp.tools}

    assert [risks[f"ok__{name}"] for name in ("peek", "note", "wipe", "echo")] == [
        "read", "write", "destructive", "destructive",
    ]  # fmt: skip


def test_a_call_gives_the_words_of_the_tool(shared):
    assert shared("ok__echo", text="Grüezi 👋") == ToolResult.of(call("ok__echo"), "Grüezi 👋")


def test_a_name_that_no_provider_takes_is_called_by_another(shared):
    assert words(shared("ok__what_s_up_")) == "all is well"


def test_a_tool_that_fails_says_so(shared):
    result = shared("ok__fail")

    assert result.is_error
    assert "fail" in words(result)


def test_arguments_that_do_not_fit_are_an_error_of_the_tool(shared):
    assert shared("ok__echo", wrong=1).is_error


@pytest.mark.parametrize("arguments", ["{", "[1]", '"text"'])
def test_arguments_that_are_no_object_never_reach_the_server(shared, arguments):
    result = asyncio.run(shared.mcp.call(ToolCall("1", "ok__echo", arguments)))

    assert result.is_error
    assert "arguments" in words(result)


def test_a_tool_that_nobody_has_is_an_error(shared):
    result = shared("ok__fly")

    assert result.is_error
    assert "'ok__fly'" in words(result)


def test_a_picture_is_a_picture(shared):
    (part,) = shared("ok__picture").parts

    assert isinstance(part, Image)
    assert part.media_type == "image/png"


def test_data_is_told_as_text(shared):
    assert '"sum": 3' in words(shared("ok__add", a=1, b=2))


def test_what_is_no_text_and_no_picture_is_described(shared):
    text = words(shared("ok__everything"))

    assert text.startswith("words|(picture)|")
    assert f"[audio (audio/wav, {len(PIXEL)} bytes), not supported]" in text
    assert "[link to report: https://x.example/r (text/html)]" in text
    assert "[note://1]\na note" in text
    assert f"[file: file:///x.bin (application/x, {len(PIXEL)} bytes)]" in text


def test_a_huge_result_is_cut(shared):
    text_part, note = shared("ok__huge", characters=5_000_000).parts

    assert len(text_part.text) == PATIENT.most_characters
    assert "4,900,000 more characters" in note.text


def test_what_is_no_message_is_passed_over(shared):
    assert words(shared("chatty__echo", text="still here")) == "still here"


def test_only_what_is_needed_of_the_environment_is_passed_on(shared):
    assert words(shared("ok__environment", name="HOME")) == "/"
    assert words(shared("ok__environment", name="THE_TOKEN")) == "(not set)"


def test_a_secret_that_a_server_repeats_is_hidden(shared, caplog):
    caplog.set_level(logging.DEBUG)
    visible = words(shared("ok__environment", name="SERVER_SECRET")) + repr(shared("chatty__echo", text="a"))
    visible += words(shared("ok__fail")) + repr(shared.mcp) + repr(shared.mcp._servers) + repr(shared.mcp._settings[0])

    assert "[hidden]" in visible
    assert CANARY not in visible + caplog.text


def test_calls_run_at_the_same_time_and_are_cancelled_at_the_server():
    async def work():
        async with toolbox(server("ok")) as mcp:

            def are_three(what):
                async def asked():
                    return words(await ask(mcp, "ok__waited", what=what)) == "3"

                return asked

            waiting = [asyncio.create_task(ask(mcp, "ok__wait")) for _ in range(3)]
            await until(are_three("begun"))
            for task in waiting:
                task.cancel()
            await until(are_three("cancelled"))
            return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(outcome) for outcome in run(work())] == [asyncio.CancelledError] * 3


def test_a_call_that_takes_too_long_is_an_error_and_cancelled_at_the_server():
    async def work():
        async with toolbox(server("ok", limits=QUICK)) as mcp:
            before = words(await ask(mcp, "ok__pid"))
            late = await ask(mcp, "ok__wait")
            cancelled = await ask(mcp, "ok__waited", what="cancelled")
            return late, words(cancelled), before == words(await ask(mcp, "ok__pid"))

    late, cancelled, same_process = run(work())
    assert late.is_error
    assert "1000 ms" in words(late)
    assert cancelled == "1"
    assert same_process


def test_a_server_that_hangs_is_started_again_at_the_next_call(short_grace):
    async def work():
        async with toolbox(server("ok", limits=QUICK)) as mcp:
            before = words(await ask(mcp, "ok__pid"))
            frozen = await ask(mcp, "ok__freeze")
            return frozen, before, words(await ask(mcp, "ok__pid"))

    frozen, before, after = run(work())
    assert frozen.is_error
    assert before != after
    assert after.isdigit()


def test_a_server_that_dies_is_an_error_and_is_started_again_at_the_next_call():
    async def work():
        async with toolbox(server("ok")) as mcp:
            died, meanwhile = await asyncio.gather(ask(mcp, "ok__die"), ask(mcp, "ok__wait"))
            after = await asyncio.gather(ask(mcp, "ok__echo", text="a"), ask(mcp, "ok__echo", text="b"))
            return died, meanwhile, after, mcp.problems

    died, meanwhile, after, problems = run(work())
    assert died.is_error
    assert meanwhile.is_error
    assert "out of memory, and [hidden]" in words(died)
    assert "unknown whether the call had an effect" in words(died)
    assert [words(result) for result in after] == ["a", "b"]
    assert problems == ()


def test_a_server_that_died_while_nobody_called_is_started_again_without_an_error():
    async def work():
        async with toolbox(server("old")) as mcp:
            before = words(await ask(mcp, "old__pid"))
            os.kill(int(before), signal.SIGKILL)
            while not mcp._servers[0]._connection.gone:
                await asyncio.sleep(0)
            return before, await ask(mcp, "old__pid")

    before, after = run(work())
    assert not after.is_error
    assert words(after) != before


def test_a_line_without_end_ends_the_server_and_not_the_memory():
    async def work():
        async with toolbox(server("ok")) as mcp:
            flood = await ask(mcp, "ok__huge", characters=17 * 1024 * 1024)
            return flood, await ask(mcp, "ok__echo", text="after")

    flood, after = run(work())
    assert flood.is_error
    assert "more than 16 MiB" in words(flood)
    assert words(after) == "after"


def test_a_server_that_speaks_the_protocol_of_before_is_understood():
    async def work():
        async with toolbox(server("old")) as mcp:
            return [tool.name for tool in mcp.tools], words(await ask(mcp, "old__echo", text="two"))

    assert run(work()) == (["old__echo", "old__pid", "old__die"], "two")


def test_closing_while_a_server_is_started_again_leaves_nothing(short_grace):
    async def work():
        async with toolbox(server("old")) as mcp:
            await ask(mcp, "old__die")
            waiting = asyncio.create_task(ask(mcp, "old__pid"))
            for _ in range(5):
                await asyncio.sleep(0)
        return await waiting

    assert run(work()).is_error


def test_a_server_that_keeps_dying_is_given_up():
    async def work():
        async with toolbox(server("old", limits=ServerLimits(start_ms=20_000, restarts=1))) as mcp:
            text = [words(await ask(mcp, "old__die")) for _ in range(3)]
            return text, mcp.problems

    text, problems = run(work())
    assert ["ended during the call" in text_line for text_line in text] == [True, True, False]
    assert "given up after 1 restart" in text[2]
    assert [problem.server for problem in problems] == ["old"]


def test_a_server_that_does_not_start_leaves_the_others_usable(short_grace, caplog):
    caplog.set_level(logging.DEBUG)
    missing = CommandServer("missing", "/nowhere/mcp-server")
    unset = CommandServer("unset", "true", ("${NO_SUCH_VARIABLE}",))
    quits = CommandServer("quits", "true")
    mute = server("mute", limits=ServerLimits(start_ms=200))

    async def work():
        async with toolbox(server("slow"), server("dies"), mute, missing, unset, quits) as mcp:
            return {problem.server: problem.message for problem in mcp.problems}, await ask(mcp, "slow__echo", text="a")

    problems, result = run(work())
    assert words(result) == "a"
    assert problems == {
        "dies": "it ended before it responded; its last output: 'no licence found for [hidden]'",
        "mute": "it did not start within 200 ms",
        "missing": "No such file or directory: /nowhere/mcp-server",
        "unset": "the environment variable 'NO_SUCH_VARIABLE' is not set",
        "quits": "it ended before it responded",
    }
    assert CANARY not in caplog.text


def test_restarts_are_counted_until_a_call_goes_well():
    async def work():
        async with toolbox(server("old", limits=ServerLimits(start_ms=20_000, restarts=1))) as mcp:
            text = []
            for _ in range(3):
                text += [(await ask(mcp, "old__die")).is_error, words(await ask(mcp, "old__echo", text="well"))]
            return text

    assert run(work()) == [True, "well"] * 3


def test_starting_can_be_cancelled(short_grace):
    async def work():
        starting = asyncio.create_task(toolbox(server("mute"), server("mute", name="other")).__aenter__())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    run(work())


def test_closing_ends_a_frozen_server_and_what_it_started(short_grace, tmp_path):
    fifo = tmp_path / "held-open"
    os.mkfifo(fifo)
    held = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    async def work():
        async with toolbox(server("ok", limits=QUICK)) as mcp:
            await ask(mcp, "ok__leave_a_child", fifo=str(fifo))
            process_id = int(words(await ask(mcp, "ok__pid")))
            await ask(mcp, "ok__freeze")
            return process_id

    process_id = run(work())
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)
    # A reader is woken when the last writer has gone.
    assert select.select([held], [], [], 10)[0] == [held]
    assert os.read(held, 1) == b""
    os.close(held)


def test_a_child_of_a_server_that_ended_by_itself_is_ended_too(tmp_path):
    fifo = tmp_path / "held-open"
    os.mkfifo(fifo)
    held = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    async def work():
        async with toolbox(server("ok")) as mcp:
            await ask(mcp, "ok__leave_a_child", fifo=str(fifo))

    run(work())
    assert select.select([held], [], [], 10)[0] == [held]
    assert os.read(held, 1) == b""
    os.close(held)


def test_a_call_after_the_end_is_an_error():
    async def work():
        async with toolbox(server("old")) as mcp:
            pass
        return await ask(mcp, "old__echo", text="a")

    assert "closed" in words(run(work()))


def test_the_library_is_loaded_only_when_servers_are_started():
    script = "import sys, antiphon.tools.mcp.toolbox; print('mcp' in sys.modules, 'anyio' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["False", "False"]


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "antiphon.tools.mcp.connection", None)

    with pytest.raises(NotInstalled, match=r"antiphon\[mcp\]"):
        run(toolbox().__aenter__())
