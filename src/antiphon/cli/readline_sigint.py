"""Delivery of Ctrl-C at a readline prompt.

Python's readline notices a signal only while it waits for a key. A signal that arrives between the display of the
prompt and that wait would take effect only at the next key, so it is sent again if the same prompt is still shown
a moment later.
"""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

RESEND_S = 0.05


@contextmanager
def watch_sigint(prompt: Callable[[], int | None]) -> Iterator[None]:
    """Send a SIGINT again that the current prompt missed; `prompt` returns the number of the prompt that is shown.

    Must be used on the main thread.
    """
    if not hasattr(signal, "pthread_kill") or threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    main_thread = threading.get_ident()

    def watch() -> None:
        while reader.recv(1):
            current = prompt()
            time.sleep(RESEND_S)
            if current is not None and prompt() == current:
                signal.pthread_kill(main_thread, signal.SIGINT)

    watcher = threading.Thread(target=watch, name="interrupts", daemon=True)
    watcher.start()
    previous_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous_fd)
        writer.close()
        watcher.join()
        reader.close()
