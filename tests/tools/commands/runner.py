"""Program that runs lines under bash in a folder and reports what each of them has changed.

It runs in a sandbox of its own, with the standard library only, as the first process there. Lines of JSON on standard
input are commands, lines of JSON on standard output lists of changes: of files, by size, mode and times; of processes
that are left; of connections to a port on the loopback address.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress

TIME_S = 10.0
PORT = 8765


def files(folders: list[str]) -> dict[str, tuple[int, ...]]:
    """Describe every file below the folders; times of access may change."""
    entries: dict[str, tuple[int, ...]] = {}
    pending = list(folders)
    while pending:
        folder = pending.pop()
        status = os.lstat(folder)
        entries[folder] = (status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
                continue
            status = os.lstat(entry.path)
            entries[entry.path] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return entries


def processes() -> list[int]:
    """List the other processes of the sandbox that have not ended."""
    left = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, os.getpid()):
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X"):
                    left.append(int(name))
    return left


def run(line: str, folder: str) -> str:
    """Run a line and return its end: a status, or "timeout"."""
    process = subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-c", line],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        return str(process.wait(TIME_S))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "timeout"


def main() -> None:
    """Run the lines of the input, one after the other."""
    folder = sys.argv[1]
    watched = [folder, os.environ["HOME"], os.environ["TMPDIR"]]
    listener = socket.create_server(("127.0.0.1", PORT))
    listener.setblocking(False)
    before = files(watched)
    for request in sys.stdin:
        end = run(json.loads(request), folder)
        changes = [f"process {number}" for number in processes()]
        for number in processes():
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        with suppress(BlockingIOError):
            listener.accept()[0].close()
            changes.append("connection")
        after = files(watched)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        # Temporary files may come and go.
        changes += sorted(changed - {os.environ["TMPDIR"]})
        before = after
        print(json.dumps({"end": end, "changes": changes}), flush=True)


if __name__ == "__main__":
    main()
