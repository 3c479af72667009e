"""Immutable text that grows by small chunks in constant time.

A `GrowingText` is a view of the first `length` characters of a shared, append-only buffer. The newest view
appends in place; adding to an older one copies its characters into a new buffer. So a reply
streamed in a million chunks costs one pass, and keeping every snapshot of it costs no copies.
"""

from typing import Any

# Chunks are joined into blocks of this many: each string object costs 49 bytes beside its characters.
BLOCK = 256


class _Buffer:
    """Blocks of joined text, then the chunks that have not been joined yet."""

    __slots__ = ("blocks", "chunks", "length")

    def __init__(self, text: str) -> None:
        self.blocks: list[str] = [text] if text else []
        self.chunks: list[str] = []
        self.length = len(text)

    def append(self, chunk: str) -> None:
        self.chunks.append(chunk)
        self.length += len(chunk)
        if len(self.chunks) == BLOCK:
            self._fold()

    def join(self) -> str:
        self._fold()
        if len(self.blocks) != 1:
            first, *others = self.blocks or [""]
            self.blocks = []
            # If nobody else holds the first block, CPython extends it in place, so that reading often stays cheap.
            first += "".join(others)
            self.blocks = [first]
        return self.blocks[0]

    def _fold(self) -> None:
        if self.chunks:
            self.blocks.append("".join(self.chunks))
            self.chunks.clear()


class GrowingText:
    """An immutable string whose `+` is O(1) amortised; `str(text)` joins it."""

    __slots__ = ("_buffer", "_length")
    _buffer: _Buffer
    _length: int

    def __new__(cls, text: "str | GrowingText" = "") -> "GrowingText":
        """Return the text; a `GrowingText` is returned as it is."""
        return text if isinstance(text, GrowingText) else _view(_Buffer(text), len(text))

    def __add__(self, chunk: "str | GrowingText") -> "GrowingText":
        text = str(chunk) if isinstance(chunk, GrowingText) else chunk
        if not isinstance(text, str):
            return NotImplemented
        buffer = self._buffer
        if buffer.length != self._length:
            buffer = _Buffer(str(self))
        buffer.append(text)
        return _view(buffer, buffer.length)

    def __radd__(self, before: str) -> "GrowingText":
        return GrowingText(before) + str(self) if isinstance(before, str) else NotImplemented

    def __str__(self) -> str:
        joined = self._buffer.join()
        return joined if len(joined) == self._length else joined[: self._length]

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int | slice) -> str:
        return str(self)[index]

    def __contains__(self, part: str) -> bool:
        return part in str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | GrowingText) and len(self) == len(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"GrowingText({str(self)!r})"

    def __copy__(self) -> "GrowingText":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "GrowingText":
        return self


def _view(buffer: _Buffer, length: int) -> GrowingText:
    text = object.__new__(GrowingText)
    text._buffer = buffer
    text._length = length
    return text


def join_texts(context: Any) -> Any:
    """Return a context in which every `GrowingText` is a `str`; the same one if there is none."""
    if not isinstance(context, dict) or not any(type(value) is GrowingText for value in context.values()):
        return context
    return {key: str(value) if type(value) is GrowingText else value for key, value in context.items()}
