"""The chunks of an HTTP/1.1 body (RFC 9112, section 7.1), as far as they are data.

The last chunk and what follows it are left to the HTTP library, which knows then that the answer is over.
"""

import re

SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?")
LONGEST_SIZE = 4096  # with extensions, which mean nothing here
LINE_END = b"\r\n"


class ChunkReader:
    """Takes bytes as they come and gives the data in them; once `ended`, `rest` is what follows the last data."""

    __slots__ = ("_left", "ended", "rest")

    def __init__(self) -> None:
        self._left = 0  # of the chunk that has begun, with the line end after it
        self.ended = False
        self.rest = b""

    def feed(self, came: bytes) -> bytes:
        """The data that these bytes add; `ValueError` when they are no chunks."""
        came = self.rest + came if self.rest else came
        found: list[bytes] = []
        at, size = 0, len(came)
        while at < size and not self.ended:
            if self._left > 2:
                found.append(came[at : at + self._left - 2])
                at += len(found[-1])
                self._left -= len(found[-1])
            elif self._left:
                if size - at < 2:
                    break
                self._end_line(came[at : at + 2])
                at += 2
            else:
                end = came.find(LINE_END, at)
                if end < 0:
                    self._check_length(size - at)
                    break
                self._begin(came[at:end])
                at = at if self.ended else end + 2
        self.rest = came[at:]
        return found[0] if len(found) == 1 else b"".join(found)

    def _begin(self, line: bytes) -> None:
        self._check_length(len(line))
        size = SIZE.fullmatch(line)
        if size is None:
            raise ValueError(f"{line[:20]!r} is not the size of a chunk")
        length = int(size[1], 16)
        self.ended = length == 0
        self._left = length + 2 if length else 0

    def _end_line(self, found: bytes) -> None:
        if found != LINE_END:
            raise ValueError(f"a chunk is followed by {found!r}, not by the end of its line")
        self._left = 0

    def _check_length(self, length: int) -> None:
        if length > LONGEST_SIZE:
            raise ValueError(f"the size of a chunk takes more than {LONGEST_SIZE} bytes")
