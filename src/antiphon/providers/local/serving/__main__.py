"""The child process: loads the weights it is told to, says its port, and serves until its standard input ends."""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Load the library, then the weights that the standard input names, and serve them."""
    # Libraries may write to the standard output, which belongs to the one line that says we are ready.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Loading the library is the longest part of a start; it happens while our parent checks the weights.
    from antiphon.providers.local.serving.native import start

    order = json.loads(sys.stdin.buffer.readline() or b"null")
    if order is not None:
        # Kept until the end: what is started stops when nobody holds it.
        running, ready = start(order["weights"], order["key"], order["name"])
        answer.write(json.dumps(ready) + "\n")
        answer.flush()
        _wait_for_the_end(running)


def _wait_for_the_end(_: Any) -> None:
    sys.stdin.buffer.read()
    # Leaving in the ordinary way waits for threads in native code, which may not come back.
    os._exit(0)


if __name__ == "__main__":
    main()
