"""A disk that really fails to flush stops the store; what was acknowledged before is there afterwards."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from antiphon.stores.checks import check
from antiphon.stores.sqlite import SqliteStore
from tests.stores.open_store import use
from tests.stores.processes import HEAD

FAILING_CALL = 20  # more than it takes to open the store
COMMITS = 60
WRITER = (
    HEAD
    + f"""
async def main():
    store = SqliteStore(path)
    await store.open()
    for n in range({COMMITS}):
        try:
            await store.commit([first_commit(f"t{{n:02}}")])
            say("stored", f"t{{n:02}}")
        except RuntimeFault as error:
            say(type(error).__name__, f"t{{n:02}}")
    say("read", [tree.root for tree in await store.roots()])
    os._exit(0)  # as if it was killed

asyncio.run(main())
"""
)
SHIM = """
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>
static int calls;
static int fails(void) { return __sync_add_and_fetch(&calls, 1) == FAILING_CALL ? (errno = EIO) : 0; }
int fsync(int file) { return fails() ? -1 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails() ? -1 : syscall(SYS_fdatasync, file); }
"""


def strace_command(folder):
    """Return the prefix of a command that lets one flush fail, by strace; the calls of each thread are counted."""
    strace = shutil.which("strace")
    if strace is None or subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True).returncode:
        pytest.skip("there is no strace that works here")
    calls = f"fsync,fdatasync:error=EIO:when={FAILING_CALL}"
    return [strace, "-f", "-o", os.devnull, "-e", "trace=fsync,fdatasync", "-e", f"inject={calls}"]


def shim_command(folder):
    """Return the prefix of a command that lets one flush fail, by a library that is loaded first."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler")
    (folder / "shim.c").write_text(SHIM)
    library = folder / "shim.so"
    options = [f"-DFAILING_CALL={FAILING_CALL}", "-shared", "-fPIC", "-o", library]
    subprocess.run([compiler, *options, folder / "shim.c"], check=True)
    return ["env", f"LD_PRELOAD={library}"]


@pytest.mark.parametrize("prefix", [strace_command, shim_command])
def test_one_failed_flush_stops_the_store_although_the_disk_seems_to_work_again(tmp_path, prefix):
    path = tmp_path / "store.db"
    use(SqliteStore(path), lambda store: store.roots())  # so that opening it takes few flushes
    command = [*prefix(tmp_path), sys.executable, "-c", WRITER, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    messages = [json.loads(line) for line in done.stdout.splitlines()]

    stored = [root for kind, root in messages if kind == "stored"]
    stopped = [root for kind, root in messages if kind == "StoreStopped"]
    assert len(stored) > 0 < len(stopped), done.stderr
    assert stored + stopped == [f"t{n:02}" for n in range(COMMITS)]
    assert messages[-1] == ["read", stored]
    roots = [tree.root for tree in use(SqliteStore(path), lambda store: store.roots())]
    assert roots in (stored, [*stored, stopped[0]])  # the outcome of the commit that failed is unknown
    assert check(path, lambda done, total: None) == []
