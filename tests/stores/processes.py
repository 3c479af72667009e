"""Other processes that use a store, and their messages."""

import json
import subprocess
import sys
from contextlib import contextmanager

HEAD = """
import asyncio, json, os, resource, signal, sqlite3, sys
from pathlib import Path
from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.records import Commit
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, steps

path = Path(sys.argv[1])

def say(*words):
    print(json.dumps(words), flush=True)
"""

# Commits a tree for every name it reads, and says so.
OWNER = """
async def main():
    store = SqliteStore(path)
    await store.open()
    say("ready", os.getpid())
    for line in sys.stdin:
        await store.commit([first_commit(line.strip())])
        say("stored", line.strip())

asyncio.run(main())
"""


def run(script, path):
    """Run a script in another process; return its exit code and its messages, a JSON value a line."""
    done = subprocess.run([sys.executable, "-c", HEAD + script, str(path)], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


class Owner:
    """Another process that owns a file."""

    def __init__(self, process):
        self.process = process
        _, self.pid = self._read_message()

    def store(self, root):
        """Let it commit a tree."""
        self.process.stdin.write(f"{root}\n")
        self.process.stdin.flush()
        assert self._read_message() == ["stored", root]

    def kill(self):
        """Kill it."""
        self.process.kill()
        self.process.wait()

    def _read_message(self):
        return json.loads(self.process.stdout.readline())


@contextmanager
def run_script(script, path):
    """Run a script in another process."""
    command = [sys.executable, "-c", HEAD + script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def owner(path):
    """Run another process that owns a file."""
    with run_script(OWNER, path) as process:
        yield Owner(process)
