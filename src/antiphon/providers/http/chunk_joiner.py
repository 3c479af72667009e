"""Chunks of an HTTP/1.1 body that arrive together, joined to one, before the HTTP library parses them.

The library needs several microseconds for a chunk, and a streamed reply has one for each delta. Joining changes where
chunks begin, never the body: only complete chunks in the usual form are joined, and everything else is passed on as it
came, for the library to accept or refuse.
"""

import re

SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
LONGEST_SIZE = 10
PARTIAL_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}\r?")


class ChunkJoiner:
    """Joins the chunks of one body; once it has lost track of them, it changes nothing."""

    __slots__ = ("_has_lost_track", "_left", "_partial_size")

    def __init__(self) -> None:
        self._has_lost_track = False
        # Bytes of a chunk that are still to come, including the line end after it.
        self._left = 0
        # Beginning of a line with a size, whose end is still to come.
        self._partial_size = b""

    def join(self, received: bytes) -> bytes:
        """Return these bytes, with complete chunks joined."""
        if self._partial_size:
            self._begin(received)
        first = min(self._left, len(received))
        self._left -= first
        if self._has_lost_track or self._partial_size or first == len(received):
            return received
        pieces: list[bytes] = []
        at = first
        while (size := SIZE.match(received, at)) is not None:
            begin = size.end()
            end = begin + int(size[1], 16)
            if end == begin or received[end : end + 2] != b"\r\n":
                break
            pieces.append(received[begin:end])
            at = end + 2
        if at < len(received):
            self._begin(received[at:])
            self._left -= len(received) - at
            # A chunk that is here in whole, but was not joined, has another form.
            self._has_lost_track = self._has_lost_track or (self._left <= 0 and not self._partial_size)
        if len(pieces) < 2:
            return received
        data = b"".join(pieces)
        return b"%b%x\r\n%b\r\n%b" % (received[:first], len(data), data, received[at:])

    def _begin(self, received: bytes) -> None:
        """Take note of the chunk that begins with these bytes, of whose size a part may have come before."""
        line = self._partial_size + received[:LONGEST_SIZE]
        if PARTIAL_SIZE.fullmatch(line):
            self._left = len(received)
            self._partial_size = line
            return
        size = SIZE.match(line)
        length = 0 if size is None else int(size[1], 16)
        # A chunk without length is the last one.
        self._has_lost_track = size is None or not length
        self._left = 0 if size is None else size.end() - len(self._partial_size) + length + 2
        self._partial_size = b""
