"""The gate to a terminal: everything that a command writes passes it, and control characters become visible.

1. `install_gates` puts a gate in the place of standard output and standard error, if they are terminals.
   Whatever writes there passes it: commands, help, tracebacks, warnings, logs.
2. Views that draw write to a `Drawing`, which also takes the sequences that they need: colours, cursor, erasing.
   Their texts are cleaned before, piece by piece; no other sequence passes, not even from a view.
"""

import io
import re
import sys
from typing import TextIO

from antiphon.cli.render.text_width import escape_controls

SEQUENCE = re.compile(r"(\r|\x1b\[(?:[0-9;]{0,40}[ABCDGHJKm]|\?25[lh])|\x1b[78])")


class OutputGate(io.TextIOWrapper):
    """Stream to a terminal, in which control characters but newline and tab are written as `‹U+001B›`."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(
            stream.buffer, encoding=stream.encoding, errors="replace", line_buffering=stream.line_buffering
        )

    def write(self, text: str) -> int:
        """Write text without control characters."""
        super().write(escape_controls(text))
        return len(text)

    def draw(self, text: str) -> None:
        """Write text with sequences for colours, the cursor and erasing."""
        super().write(clean_drawing(text))


class Drawing:
    """Output of a view that draws."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding or "utf-8"

    def write(self, text: str) -> int:
        """Write text and the sequences of a view."""
        if isinstance(self._stream, OutputGate):
            self._stream.draw(text)
        else:
            self._stream.write(clean_drawing(text).encode(self.encoding, "replace").decode(self.encoding))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._stream.fileno()


def clean_drawing(text: str) -> str:
    """Return a text in which only the sequences of views are left."""
    pieces = SEQUENCE.split(text)
    return "".join(piece if number % 2 else escape_controls(piece) for number, piece in enumerate(pieces))


def draw(stream: TextIO, text: str) -> None:
    """Write text with the sequences of views, and flush."""
    drawing = Drawing(stream)
    drawing.write(text)
    drawing.flush()


def install_gates() -> None:
    """Put gates in the place of the standard streams that are terminals."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, OutputGate) and stream.isatty():
            stream.flush()
            setattr(sys, name, OutputGate(stream))
