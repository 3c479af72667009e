"""Decoder for the data of a chunked HTTP/1.1 body (RFC 9112, section 7.1).

The last chunk and what follows it are left to the HTTP library, which then knows that the response is complete.
"""

import re

SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?")
LONGEST_SIZE = 4096  # including chunk extensions, which are ignored
LINE_END = b"\r\n"


class ChunkReader:
    """Extracts the data from the bytes of a body; once `ended`, `buffer` holds what follows the last data."""

    __slots__ = ("_remaining", "buffer", "ended")

    def __init__(self) -> None:
        self._remaining = 0  # bytes of the current chunk, including the line end after it
        self.ended = False
        self.buffer = b""

    def feed(self, received: bytes) -> bytes:
        """Return the data in these bytes; raise `ValueError` if they are not chunks."""
        received = self.buffer + received if self.buffer else received
        pieces: list[bytes] = []
        at = 0
        size = len(received)
        while at < size and not self.ended:
            if self._remaining > 2:
                pieces.append(received[at : at + self._remaining - 2])
                at += len(pieces[-1])
                self._remaining -= len(pieces[-1])
            elif self._remaining:
                if size - at < 2:
                    break
                self._end_line(received[at : at + 2])
                at += 2
            else:
                end = received.find(LINE_END, at)
                if end < 0:
                    self._check_length(size - at)
                    break
                self._begin(received[at:end])
                at = at if self.ended else end + 2
        self.buffer = received[at:]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _begin(self, line: bytes) -> None:
        self._check_length(len(line))
        size = SIZE.fullmatch(line)
        if size is None:
            raise ValueError(f"{line[:20]!r} is not a chunk size")
        length = int(size[1], 16)
        self.ended = length == 0
        self._remaining = length + 2 if length else 0

    def _end_line(self, line_end: bytes) -> None:
        if line_end != LINE_END:
            raise ValueError(f"a chunk is followed by {line_end!r} instead of a line end")
        self._remaining = 0

    def _check_length(self, length: int) -> None:
        if length > LONGEST_SIZE:
            raise ValueError(f"a chunk size line is longer than {LONGEST_SIZE} bytes")
