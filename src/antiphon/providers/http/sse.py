"""Frames out of bytes: server-sent events and JSON lines, however the network cuts them.

1. A line ends with LF, CR LF or CR; a frame ends with an empty line (WHATWG event streams).
2. Only complete lines are decoded, so a character cut in two is whole again before anyone looks at it.
3. A line that is a JSON object by itself is a frame too: some servers fall back to that for errors.
4. Whatever else is not a field is kept, up to a limit, because it may say why the stream broke.
5. A line that never ends is an error, not a reason to fill the memory; its cost is linear in its length.
"""

from collections.abc import Iterator

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

LONGEST_LINE = 4 * 1024 * 1024
MOST_STRAY = 64 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FrameDecoder:
    """Takes bytes as they come and gives the data of each complete frame."""

    __slots__ = ("_begun", "_data", "_held", "_held_size", "_longest", "_open_size", "_stray", "_swallow", "_title")

    def __init__(self, longest_line: int = LONGEST_LINE) -> None:
        self._title = b""
        self._longest = longest_line
        self._held: list[bytes] = []
        self._held_size = 0
        self._data: list[bytes] = []
        self._open_size = 0
        self._stray = bytearray()
        self._swallow = False
        self._begun = False

    @property
    def event(self) -> str:
        """The name of the frame that was given last."""
        return self._title.decode("utf-8", "replace")

    @property
    def stray(self) -> str:
        """What came that belongs to no frame."""
        return self._stray.decode("utf-8", "replace")

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of the frames that these bytes complete."""
        if b"\r" in chunk or self._swallow:
            chunk = self._with_line_feeds(chunk)
        if b"\n" not in chunk:
            self._hold(chunk)
            return
        lines = chunk.split(b"\n")
        if self._held:
            self._held.append(lines[0])
            lines[0] = b"".join(self._held)
            self._held.clear()
            self._held_size = 0
        tail = lines.pop()
        if not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        for line in lines:
            if line.startswith(b"data: "):
                self._data.append(line[6:])
            elif line.startswith(b"event: "):
                self._title = line[7:]
            elif line:
                if (data := self._field(line)) is not None:
                    yield data
            else:
                if self._data:
                    yield self._joined()
                self._title = b""
        # A frame of many short lines is bounded like one long line.
        self._open_size = self._open_size + len(chunk) if self._data else 0
        if self._open_size > self._longest:
            raise self._too_long()
        if tail:
            self._hold(tail)

    def _joined(self) -> str:
        data = self._data
        whole = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        return whole.decode("utf-8", "replace")

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_size += len(piece)
        if self._held_size > self._longest:
            raise self._too_long()

    def _too_long(self) -> ProviderError:
        return ProviderError(Code.MALFORMED, f"the server sent a frame of more than {self._longest} bytes")

    def _field(self, line: bytes) -> str | None:
        name, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._title = value
        elif name == b"data":
            self._data.append(value)
        elif name == b"error" and colon:
            # llama.cpp names the field itself "error".
            self._title = b"error"
            self._data.append(value)
        elif line.startswith(b"{") and line.endswith(b"}"):
            return line.decode("utf-8", "replace")
        elif not (line.startswith(b":") or name in (b"id", b"retry")) and len(self._stray) < MOST_STRAY:
            self._stray += line[:MOST_STRAY] + b"\n"
        return None

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        # A chunk may end between the CR and the LF of one line end.
        if self._swallow and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._swallow = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
