"""Ctrl-C at a prompt, heard whenever it is pressed.

Python's readline notices a signal only while it waits for a key. One that comes in the moment between the prompt and
that wait would be lost until the next key, so whoever still stands at the same prompt a little later is nudged.
"""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NUDGE_S = 0.05


@contextmanager
def heard(prompt: Callable[[], int | None]) -> Iterator[None]:
    """Watch over prompts, by the number of the one that is shown; to be used on the main thread."""
    if not hasattr(signal, "pthread_kill") or threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    main = threading.get_ident()

    def watch() -> None:
        while reader.recv(1):
            shown = prompt()
            time.sleep(NUDGE_S)
            if shown is not None and prompt() == shown:
                signal.pthread_kill(main, signal.SIGINT)

    watching = threading.Thread(target=watch, name="interrupts", daemon=True)
    watching.start()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        watching.join()
        reader.close()
