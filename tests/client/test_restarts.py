"""A feed goes on over the death of its server: nothing is missed and nothing comes twice."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from antiphon.app import open_library
from antiphon.client import Client
from antiphon.threads import Activity
from tests.fixtures.server import CANARY

SCRIPT = """
pace_ms = 30
[[replies]]
steps = [ { text = "one two three four five six seven eight nine ten eleven twelve" }, { delay_ms = 60000 } ]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(store: Path, port: int) -> subprocess.Popen[str]:
    """A server in a process of its own, which answers."""
    command = [sys.executable, "-m", "antiphon", "serve", "--any-model", "--port", str(port), "--store", str(store)]
    environment = {**os.environ, "ANTIPHON_SERVER_TOKEN": CANARY}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def test_a_killed_server_that_is_started_again_leaves_no_gap_and_no_repeat(tmp_path: Path) -> None:
    store = tmp_path / "threads.db"
    (tmp_path / "slow.toml").write_text(SCRIPT, "utf-8")
    port = free_port()
    servers = [serve(store, port)]

    async def follow() -> tuple[str, list[Activity], list[Activity]]:
        activities = []
        async with Client(f"http://127.0.0.1:{port}", CANARY) as client:
            thread = await client.threads.create("chat", model=f"scripted:{tmp_path / 'slow.toml'}")
            await client.threads.say(thread, "Count")
            async for activity in client.threads.follow(thread):
                activities.append(activity)
                if activity.kind == "text" and len(servers) == 1:
                    servers[0].send_signal(signal.SIGKILL)
                    servers[0].communicate()
                    servers.append(await asyncio.to_thread(serve, store, port))
                if activity.facts.get("status") == "interrupted":
                    break
            journal, _ = await client.threads.history(thread)
        return thread, activities, journal

    try:
        thread, activities, journal = asyncio.run(follow())
    finally:
        servers[-1].terminate()
        servers[-1].communicate()

    assert activities == journal[: len(activities)]
    assert activities[-1].facts["status"] == "interrupted"
    assert asyncio.run(stored_status(store, thread)) == "interrupted"


async def stored_status(store: Path, thread: str) -> str:
    async with open_library(store) as library:
        return (await library.read(thread)).view.status
