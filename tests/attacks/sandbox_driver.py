"""Program that runs in the sandbox and makes attacks: each in a process of its own, with its output as a line of JSON.

A text that begins with `#!py` is Python, any other is for bash.
An attack that has worked prints WON or the secret.
"""

import ctypes
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
SECONDS = 10
with open(os.path.join(HERE, "plan.json"), encoding="utf-8") as file:
    PLAN = json.load(file)
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """Make a system call; return its result and its error."""
    number = name if isinstance(name, int) else PLAN["numbers"][name]
    ctypes.set_errno(0)
    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    return result, ctypes.get_errno()


def reach(name, *arguments):
    """Make a system call and print WON unless the sandbox refused it."""
    result, error = call(name, *arguments)
    print("WON" if result >= 0 or error not in REFUSALS else "refused", result, error)


def attack(payload):
    """Run an attack in a child; return what it printed."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writes, 1)
        os.dup2(writes, 2)
        os.closerange(3, 256)
        signal.alarm(SECONDS)
        if not payload.startswith("#!py"):
            os.execvp("bash", ["bash", "-c", payload])
        try:
            exec(payload, {**globals(), "env": os.environ})
        except BaseException as error:
            print(type(error).__name__, error)
        sys.stdout.flush()
        os._exit(0)
    os.close(writes)
    output = b""
    while select.select([reads], [], [], SECONDS)[0] and (data := os.read(reads, 65_536)):
        output += data
    os.close(reads)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return output.decode("utf-8", "replace")[:2_000]


if __name__ == "__main__":
    for name, payload in PLAN["attacks"].items():
        print(json.dumps({name: attack(payload)}), flush=True)
    _ = socket, subprocess
