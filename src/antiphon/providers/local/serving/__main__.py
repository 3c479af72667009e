"""The child process: loads weights, reports its port, and serves until its standard input ends."""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Load the library, then the weights that the standard input names, and serve them."""
    # Libraries may write to the standard output, which is reserved for the line that reports readiness.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Loading the library takes longest; it happens while the parent verifies the weights.
    from antiphon.providers.local.serving.native import start

    task = json.loads(sys.stdin.buffer.readline() or b"null")
    if task is not None:
        # Referenced until the end: the server stops when it is garbage-collected.
        server, ready = start(task)
        output.write(json.dumps(ready) + "\n")
        output.flush()
        # Nobody reads its messages from now on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.dup2(2, 1)
        _wait_for_end_of_input(server)


def _wait_for_end_of_input(_: Any) -> None:
    sys.stdin.buffer.read()
    # A regular exit would wait for threads in native code, which may never end.
    os._exit(0)


if __name__ == "__main__":
    main()
