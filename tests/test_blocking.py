"""The app without an event loop: in scripts, in notebooks, from several threads, interrupted and closed."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from antiphon import BlockingApp, NotRunning, StoreBusy, WrongThread
from antiphon.blocking import BlockingThreads
from antiphon.threads import Refused, UnknownThread
from antiphon.threads.threads import Threads
from tests.paths import ROOT

NOT_WRAPPED = {"library", "runtime", "resources", "kind", "noun"}


def hello(app: BlockingApp) -> str:
    thread = app.threads.create("chat", model="scripted:demo")
    app.threads.say(thread, "Hello")
    return thread


def test_a_script_talks_to_a_model() -> None:
    with BlockingApp(":memory:") as app:
        thread = hello(app)
        idle = app.threads.until_idle(thread)
        kinds = [activity.kind for activity in idle]

        assert (kinds[-1], idle.status, app.threads.status(thread)) == ("status", "completed", "completed")
        assert app.threads.until_idle(thread).wait() == "completed"
        assert [view.id for view in app.library.latest()] == [thread]


def test_it_works_where_an_event_loop_runs() -> None:
    async def notebook() -> str:
        with BlockingApp(":memory:") as app:
            return app.threads.until_idle(hello(app)).wait()

    assert asyncio.run(notebook()) == "completed"


def test_it_is_opened_and_closed_without_a_with_statement(tmp_path: Path) -> None:
    app = BlockingApp(tmp_path / "store.db").open()
    thread = hello(app)
    app.close()

    with BlockingApp(tmp_path / "store.db") as again:
        assert again.threads.status(thread) in ("completed", "interrupted")


def test_every_method_of_the_threads_is_there_under_its_name() -> None:
    app = BlockingApp(":memory:")
    public = {name for name in dir(Threads) if not name.startswith("_")} - NOT_WRAPPED

    assert isinstance(app.threads, BlockingThreads)
    assert {name for name in public if not callable(getattr(app.threads, name, None))} == set()
    assert app.threads.create.__doc__ == Threads.create.__doc__


def test_errors_pass_unchanged() -> None:
    with BlockingApp(":memory:") as app:
        with pytest.raises(UnknownThread, match="there is no thread 'nobody'"):
            app.threads.status("nobody")
        with pytest.raises(UnknownThread):
            list(app.threads.follow("nobody"))
        with pytest.raises(Refused, match="unknown setting"):
            app.threads.create("chat", modle="scripted:demo")


def test_an_error_in_the_block_closes_the_store(tmp_path: Path) -> None:
    def fail() -> None:
        with BlockingApp(tmp_path / "store.db") as app:
            hello(app)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with BlockingApp(tmp_path / "store.db") as again:
        assert len(again.library.latest()) == 1


def test_a_store_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with BlockingApp(tmp_path / "store.db"):
        with pytest.raises(StoreBusy), BlockingApp(tmp_path / "store.db"):
            pass
        assert threading.active_count() <= before + 2  # the loop and the writer of the first
    assert threading.active_count() == before


def test_a_call_before_and_after_is_refused() -> None:
    app = BlockingApp(":memory:")
    with pytest.raises(NotRunning, match="the app is not open; use it in a with statement"):
        app.threads.status("nobody")
    with app:
        iterator = app.threads.follow(hello(app))
        next(iterator)
    with pytest.raises(NotRunning):
        app.threads.status("nobody")
    with pytest.raises(NotRunning):
        next(iterator)


def test_an_iteration_that_is_left_early_is_closed() -> None:
    with BlockingApp(":memory:") as app:
        thread = hello(app)
        for _ in app.threads.follow(thread):
            break

        assert app.threads.until_idle(thread).wait() == "completed"
        assert app.app.runtime.feeds._tails == {}


def test_all_threads_of_the_operating_system_may_call() -> None:
    statuses: list[str] = []
    with BlockingApp(":memory:") as app:
        workers = [
            threading.Thread(target=lambda: statuses.append(app.threads.until_idle(hello(app)).wait()))
            for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    assert statuses == ["completed"] * 4


def test_a_call_in_the_thread_of_the_app_is_refused_instead_of_waiting_for_itself() -> None:
    async def look(app: BlockingApp) -> None:
        app.threads.status("nobody")

    with BlockingApp(":memory:") as app, pytest.raises(WrongThread, match="would wait for itself"):
        app.call(look(app))


SCRIPT = """
import sys
from antiphon import BlockingApp

with BlockingApp(sys.argv[1]) as app:
    thread = app.threads.create("chat", model="scripted:demo")
    print("here", flush=True)
    try:
        for activity in app.threads.follow(thread):
            print("waiting", flush=True)
    except KeyboardInterrupt:
        print("interrupted", app.threads.status(thread), flush=True)
print("closed", flush=True)
"""


def test_ctrl_c_ends_the_call_that_waits_and_the_app_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "store.db")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert (process.stdout.readline(), process.stdout.readline()) == ("here\n", "waiting\n")
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()

    assert (out, err, process.returncode) == ("interrupted pending\nclosed\n", "", 0)


def test_an_app_is_opened_once_and_a_second_time_leaves_it_open() -> None:
    with BlockingApp(":memory:") as app:
        with pytest.raises(NotRunning, match="was opened before"):
            app.open()
        assert app.library.latest() == []
