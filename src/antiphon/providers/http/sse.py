"""Decoder of server-sent events and JSON lines, independent of how the bytes are split.

1. A line ends with LF, CR LF or CR; a frame ends with an empty line (WHATWG event streams).
2. Only complete lines are decoded, so a character split between two chunks is decoded correctly.
3. A line that is a JSON object is a frame too: some servers send errors that way.
4. Other lines that are not fields are kept, up to a limit, because they may be a reply that is not a stream, or
   explain why the stream broke.
5. A line that does not end is an error after a limited size; its cost is linear in its length.
"""

from collections.abc import Iterator

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

LONGEST_LINE = 4 * 1024 * 1024
MAX_STRAY = 64 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FrameDecoder:
    """Decodes bytes to the data of each complete frame."""

    __slots__ = (
        "_data",
        "_event_name",
        "_longest",
        "_open_size",
        "_pending",
        "_pending_size",
        "_skip_line_feed",
        "_started",
        "_stray",
    )

    def __init__(self, longest_line: int = LONGEST_LINE) -> None:
        self._event_name = b""
        self._longest = longest_line
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._data: list[bytes] = []
        self._open_size = 0
        self._stray = bytearray()
        self._skip_line_feed = False
        self._started = False

    @property
    def event(self) -> str:
        """Event name of the last frame."""
        return self._event_name.decode("utf-8", "replace")

    @property
    def stray(self) -> str:
        """Lines that belong to no frame."""
        return self._stray.decode("utf-8", "replace")

    def take_stray(self) -> str:
        """Return the lines that belong to no frame, and forget them."""
        stray = self.stray
        self._stray.clear()
        return stray

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yield the data of the frames that these bytes complete."""
        if b"\r" in chunk or self._skip_line_feed:
            chunk = self._normalize_line_ends(chunk)
        if b"\n" not in chunk:
            self._add_pending(chunk)
            return
        lines = chunk.split(b"\n")
        if self._pending:
            self._pending.append(lines[0])
            lines[0] = b"".join(self._pending)
            self._pending.clear()
            self._pending_size = 0
        tail = lines.pop()
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        for line in lines:
            if line.startswith(b"data: "):
                self._data.append(line[6:])
            elif line.startswith(b"event: "):
                self._event_name = line[7:]
            elif line:
                if (data := self._field(line)) is not None:
                    yield data
            else:
                if self._data:
                    yield self._join_data()
                self._event_name = b""
        # A frame of many short lines is limited like one long line.
        self._open_size = self._open_size + len(chunk) if self._data else 0
        if self._open_size > self._longest:
            raise self._too_long()
        if tail:
            self._add_pending(tail)

    def _join_data(self) -> str:
        data = self._data
        whole = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        return whole.decode("utf-8", "replace")

    def _add_pending(self, piece: bytes) -> None:
        self._pending.append(piece)
        self._pending_size += len(piece)
        if self._pending_size > self._longest:
            raise self._too_long()

    def _too_long(self) -> ProviderError:
        return ProviderError(Code.MALFORMED, f"the server sent a frame of more than {self._longest} bytes")

    def _field(self, line: bytes) -> str | None:
        name, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._event_name = value
        elif name == b"data":
            self._data.append(value)
        elif name == b"error" and colon:
            # llama.cpp uses "error" as the name of the field.
            self._event_name = b"error"
            self._data.append(value)
        elif line.startswith(b"{") and line.endswith(b"}"):
            return line.decode("utf-8", "replace")
        elif not (line.startswith(b":") or name in (b"id", b"retry")):
            self._keep_stray(line)
        return None

    def _keep_stray(self, line: bytes) -> None:
        # A body that begins like JSON may be a whole reply.
        is_json = (self._stray or line).lstrip().startswith((b"{", b"["))
        limit = self._longest if is_json else MAX_STRAY
        if len(self._stray) < limit:
            self._stray += line[:limit] + b"\n"

    def _normalize_line_ends(self, chunk: bytes) -> bytes:
        # A chunk may end between the CR and the LF of one line end.
        if self._skip_line_feed and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._skip_line_feed = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
