"""The child process: started once, when needed; replaced when it died; gone with its parent."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from antiphon.messages import user
from antiphon.providers.base import Request, TextDelta
from antiphon.providers.local.library import installation_problem
from tests.fixtures.providers import read, run
from tests.providers.local.tiny import CONTENT, ROOT, encoder, engine, program


def asked(text):
    return Request((user(text),))


def test_nothing_starts_before_it_is_needed_and_everyone_shares_one_child(tmp_path):
    async def work():
        async with encoder(tmp_path, program(slots=2)) as (model, running):
            before = running.is_running
            replies = await asyncio.gather(*(read(model, asked(f"number {number}")) for number in range(5)))
            async with running.slot() as child, running.slot() as same:
                return before, [reply.text for reply in replies], child is same

    before, texts, shared = run(work())
    assert not before
    assert texts == [f"number {number} " for number in range(5)]
    assert shared


def test_more_conversations_than_slots_wait_and_can_be_cancelled_while_they_wait(tmp_path):
    async def work():
        async with encoder(tmp_path) as (model, running):
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
        async with encoder(tmp_path) as (model, _):
            return await read(model, asked("be killed")), await read(model, asked("hello"))

    died, after = run(work())
    assert died.text == "be killed "
    assert (died.error.code, died.error.recoverable) == ("1001", True)
    assert "local:tiny stopped (SIGKILL)" in died.error.message
    assert after.text == "hello "


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("broken", "exit code 1, libgomp.so.1: cannot open shared object file"),
        ("illegal", "SIGILL: this processor lacks a required instruction"),
    ],
)
def test_a_child_that_does_not_start_is_one_line_that_says_why(tmp_path, mode, reason):
    async def work():
        async with encoder(tmp_path, program(mode)) as (model, _):
            return (await read(model, asked("hello"))).error

    error = run(work())
    assert (error.code, error.recoverable) == ("9005", False)
    assert error.message == f"local:tiny: it needs json, which does not start here ({reason}); use another model"


def test_a_file_that_the_library_cannot_load_is_one_line_that_says_why(tmp_path):
    async def work():
        async with encoder(tmp_path, program("unloadable")) as (model, _):
            return (await read(model, asked("hello"))).error

    error = run(work())
    assert (error.code, error.recoverable) == ("9005", False)
    assert error.message == "local:tiny cannot be loaded: unknown model architecture: 'x'; use another file"


def test_a_program_that_does_not_exist_is_one_line_that_says_why(tmp_path):
    async def work():
        async with encoder(tmp_path, replace(program(), command=("/nowhere/python",))) as (model, _):
            return (await read(model, asked("hello"))).error

    assert "does not start here (No such file or directory)" in run(work()).message


def test_damaged_weights_never_reach_a_child(tmp_path):
    async def work():
        async with encoder(tmp_path) as (model, _):
            (tmp_path / "tiny.gguf").write_bytes(CONTENT[::-1])
            damaged = await read(model, asked("hello"))
            (tmp_path / "tiny.gguf").unlink()
            return damaged.error, (await read(model, asked("hello"))).error

    damaged, missing = run(work())
    assert "SHA-256" in damaged.message
    assert "antiphon models install local:tiny" in missing.message


def test_nobody_is_told_to_fetch_weights_for_a_library_that_does_not_load(tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def work():
        async with encoder(tmp_path, program(library="broken_library")) as (model, _):
            (tmp_path / "tiny.gguf").unlink()
            return (await read(model, asked("hello"))).error

    error = run(work())
    assert error.code == "9005"
    assert error.message.startswith(
        "local:tiny: it needs broken_library, which does not load here (exit code 1, Import"
    )


def test_closing_ends_the_child(tmp_path):
    async def work():
        running = engine(tmp_path)
        async with running.slot() as child:
            pid = child.process.pid
        await running.close()
        return pid, running.is_running

    pid, is_running = run(work())
    assert not is_running
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_cancelling_the_start_leaves_no_child(tmp_path):
    async def work():
        async with encoder(tmp_path) as (model, running):
            starting = asyncio.create_task(read(model, asked("hello")))
            while not running._starting.locked():
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return running.is_running, (await read(model, asked("hello"))).text

    assert run(work()) == (False, "hello ")


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
        async with encoder(tmp_path) as (_, running), running.slot() as child:
            return os.getpgid(child.process.pid)

    assert run(work()) != os.getpgid(0)


def test_the_key_is_the_childs_own_and_needed(tmp_path):
    async def work():
        async with encoder(tmp_path) as (_, running), running.slot() as child:
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
        async with encoder(tmp_path) as (model, _):
            stream = model.stream(asked("go on for ever"))
            async for delta in stream:
                if isinstance(delta, TextDelta):
                    break
            await stream.aclose()
            # The child has one slot: it answers again only when it has noticed.
            return (await read(model, asked("hello"))).text

    assert run(work()) == "hello "


def test_without_the_library_one_is_told_what_to_install_before_anything_else(tmp_path):
    async def work():
        async with encoder(tmp_path, program(library="no_such_library")) as (model, _):
            (tmp_path / "tiny.gguf").unlink()
            return (await read(model, asked("hello"))).error

    error = run(work())
    assert (error.code, error.recoverable) == ("9005", False)
    assert error.message == f"local:tiny: {installation_problem('no_such_library')}"
