"""Other processes that use a store, and what they say."""

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
    """Run a script in another process; gives its exit code and what it said, a value a line."""
    done = subprocess.run([sys.executable, "-c", HEAD + script, str(path)], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


class Owner:
    """Another process that owns a file."""

    def __init__(self, process):
        self.process = process
        _, self.pid = self._heard()

    def store(self, root):
        """Have it commit a tree."""
        self.process.stdin.write(f"{root}\n")
        self.process.stdin.flush()
        assert self._heard() == ["stored", root]

    def kill(self):
        """Let it die at once."""
        self.process.kill()
        self.process.wait()

    def _heard(self):
        return json.loads(self.process.stdout.readline())


@contextmanager
def running(script, path):
    """A script that runs in another process for a while."""
    command = [sys.executable, "-c", HEAD + script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def owner(path):
    """Another process that owns a file, for a while."""
    with running(OWNER, path) as process:
        yield Owner(process)
