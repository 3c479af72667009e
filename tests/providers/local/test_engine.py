"""The child process: started once, when needed; replaced when it died; gone with its parent."""

import asyncio
import os
import subprocess
import sys

import pytest

from antiphon.messages import user
from antiphon.providers.base import Request, TextDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.local import engine as engines
from antiphon.providers.local.engine import KINDS, kinds_here
from tests.fixtures.providers import read, run
from tests.providers.local.tiny import CONTENT, ROOT, engine, kind, voice


def asked(text):
    return Request((user(text),))


def test_nothing_starts_before_it_is_needed_and_everyone_shares_one_child(tmp_path):
    async def work():
        async with voice(tmp_path, kind(slots=2)) as (model, running):
            before = running.kind
            replies = await asyncio.gather(*(read(model, asked(f"number {number}")) for number in range(5)))
            async with running.slot() as child, running.slot() as same:
                return before, [reply.text for reply in replies], child is same

    before, texts, shared = run(work())
    assert before is None
    assert texts == [f"number {number} " for number in range(5)]
    assert shared


def test_more_conversations_than_slots_wait_and_can_be_cancelled_while_they_wait(tmp_path):
    async def work():
        async with voice(tmp_path) as (model, running):
            async with running.slot() as child:
                waiting = asyncio.create_task(read(model, asked("hello")))
                while not child.slots._waiters:
                    await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            return waiting.cancelled(), (await read(model, asked("hello"))).text

    assert run(work()) == (True, "hello ")


def test_a_child_that_dies_is_an_error_worth_another_try_and_the_next_request_has_a_new_one(tmp_path):
    async def work():
        async with voice(tmp_path) as (model, _):
            return await read(model, asked("be killed")), await read(model, asked("hello"))

    died, after = run(work())
    assert died.text == "be killed "
    assert (died.error.code, died.error.recoverable) == ("1001", True)
    assert "the embedded model stopped (SIGKILL)" in died.error.message
    assert after.text == "hello "


@pytest.mark.parametrize("mode", ["broken", "illegal"])
def test_an_engine_that_does_not_start_leaves_the_place_to_the_next(tmp_path, mode):
    async def work():
        async with voice(tmp_path, kind(mode), kind()) as (model, running):
            return (await read(model, asked("hello"))).text, running.kind

    assert run(work()) == ("hello ", "ok")


def test_when_no_engine_starts_each_says_why(tmp_path):
    async def work():
        async with voice(tmp_path, kind("broken"), kind("illegal")) as (model, _):
            return (await read(model, asked("hello"))).error

    error = run(work())
    assert (error.code, error.recoverable) == ("9005", False)
    assert "broken: exit code 1, libgomp.so.1: cannot open" in error.message
    assert "illegal: SIGILL" in error.message


def test_damaged_weights_never_reach_a_child(tmp_path):
    async def work():
        async with voice(tmp_path) as (model, _):
            (tmp_path / "tiny.gguf").write_bytes(CONTENT[::-1])
            damaged = await read(model, asked("hello"))
            (tmp_path / "tiny.gguf").unlink()
            return damaged.error, (await read(model, asked("hello"))).error

    damaged, missing = run(work())
    assert "SHA-256" in damaged.message
    assert "antiphon models install local:tiny" in missing.message


def test_closing_ends_the_child(tmp_path):
    async def work():
        running = engine(tmp_path)
        async with running.slot() as child:
            pid = child.process.pid
        await running.close()
        return pid, running.kind

    pid, kind_after = run(work())
    assert kind_after is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_cancelling_the_start_leaves_no_child(tmp_path):
    async def work():
        async with voice(tmp_path) as (model, running):
            starting = asyncio.create_task(read(model, asked("hello")))
            while not running._starting.locked():
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return running.kind, (await read(model, asked("hello"))).text

    assert run(work()) == (None, "hello ")


def test_a_child_does_not_outlive_its_parent(tmp_path):
    program = f"""
import asyncio, os
from pathlib import Path
from tests.providers.local.tiny import engine
async def main():
    running = engine(Path({str(tmp_path)!r}))
    async with running.slot() as child:
        print(child.base_url.split(":")[2][:-3], flush=True)
        os._exit(1)
asyncio.run(main())
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, cwd=ROOT)

    async def listened_to_the_end():
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", int(printed.stdout))
            except ConnectionRefusedError:
                return True
            except ConnectionResetError:  # it ends this very moment: what waited to be accepted is cut off
                continue
            writer.close()
            await asyncio.sleep(0.01)

    assert run(listened_to_the_end())


def test_an_interruption_from_the_terminal_does_not_reach_the_child(tmp_path):
    async def work():
        async with voice(tmp_path) as (_, running), running.slot() as child:
            return os.getpgid(child.process.pid)

    assert run(work()) != os.getpgid(0)


def test_the_key_is_the_childs_own_and_needed(tmp_path):
    async def work():
        async with voice(tmp_path) as (_, running), running.slot() as child:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(child.base_url.split(":")[2][:-3]))
            writer.write(b"POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer guess\r\n\r\n")
            answer = await reader.read()
            writer.close()
            return answer, repr(child)

    answer, shown = run(work())
    assert b"401" in answer.splitlines()[0]
    assert "Secret(hidden)" in shown


def test_the_stream_of_a_reader_who_leaves_ends_in_the_child_too(tmp_path):
    async def work():
        async with voice(tmp_path) as (model, _):
            stream = model.stream(asked("go on for ever"))
            async for delta in stream:
                if isinstance(delta, TextDelta):
                    break
            await stream.aclose()
            # The child has one slot: it answers again only when it has noticed.
            return (await read(model, asked("hello"))).text

    assert run(work()) == "hello "


def test_an_engine_can_be_named_and_only_an_installed_one_is_used(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda module: None if module == "xllamacpp" else module)

    assert [each.name for each in KINDS] == ["xllamacpp", "numpy"]
    assert [each.name for each in kinds_here({})] == ["numpy"]
    assert kinds_here({"ANTIPHON_LOCAL_ENGINE": "xllamacpp"}) == ()
    with pytest.raises(ProviderError, match="known: xllamacpp, numpy"):
        kinds_here({"ANTIPHON_LOCAL_ENGINE": "magic"})


def test_without_any_engine_one_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda module: None)

    async def work():
        async with voice(tmp_path) as (model, running):
            running._kinds = None
            return (await read(model, asked("hello"))).error

    assert "pip install 'antiphon[local]'" in run(work()).message
