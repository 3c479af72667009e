"""The command in a terminal of its own, as a person has it: typed at, and looked at until something is there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

DEADLINE_S = 60
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>()][A-Z0-9]?")
# A terminal sends Ctrl-C to the session it belongs to, so the command must own it.
OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"


class Screen:
    """A terminal with the command in it; what was waited for is done with."""

    def __init__(self, *arguments, columns=80, **environment):
        self._screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        known = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN, sys.executable, "-m", "antiphon", *map(str, arguments)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**known, "TERM": "xterm", **environment},
            start_new_session=True,
        )
        os.close(terminal)
        self._bytes = b""
        self._at = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=DEADLINE_S)
        os.close(self._screen)

    def type(self, text):
        """Type a line."""
        os.write(self._screen, text.encode() + b"\r")

    def press(self, key):
        """Press a key."""
        os.write(self._screen, key)

    def until(self, text):
        """What is shown up to a text, which must come."""
        deadline = time.monotonic() + DEADLINE_S
        while (place := self._shown().find(text, self._at)) < 0:
            if not self._more(deadline):
                raise AssertionError(f"{text!r} did not come; there is:\n{self._shown()[self._at :]}")
        shown = self._shown()[self._at : place + len(text)]
        self._at = place + len(text)
        return shown

    def end(self):
        """What is shown until the command ends, and its exit code."""
        deadline = time.monotonic() + DEADLINE_S
        while self._more(deadline):
            pass
        return self._shown()[self._at :], self.process.wait(timeout=DEADLINE_S)

    @property
    def raw(self):
        """All that was written, with what makes a terminal do things."""
        return self._bytes.decode("utf-8", "ignore")

    def _shown(self):
        return ESCAPES.sub("", self.raw).replace("\r", "")

    def _more(self, deadline):
        if not select.select([self._screen], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # the last process that used the terminal has ended
            return False
        self._bytes += piece
        return bool(piece)
