"""The proxy of litellm, in an environment of its own; it ends with its standard input."""

import os
import sys
import threading


def end_with_input() -> None:
    """End this process when its parent has closed the standard input."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    from litellm import run_server

    run_server()
