"""Frames of server-sent events, encoded once for all readers of a thread.

1. A frame depends on the journal alone: its cursor names a step of one past of one thread. So its bytes can be shared.
2. Only the latest frames are kept, of threads that have several readers. A reader that is behind has its frames encoded
   from the journal, as those of a single reader are.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from antiphon.runtime.encoding import encode
from antiphon.threads import Activity

JOINED_BYTES = 16 * 1024  # frames that are there together are sent together, up to about this size
KEPT_FRAMES = 256  # of a thread
KEPT_BYTES = 256 * 1024
EncodeStep = Callable[[list[Activity]], bytes]
# The first and the last cursor of the activities of a step, and the offset of its words, which not every reader knows.
FrameKey = tuple[str, str, int | None]


def frame(value: Any, id: str | None = None, event: str | None = None) -> bytes:
    """Return one frame; a JSON text has no line break, so it is one line of data."""
    lines = [f"id: {id}\n" if id else "", f"event: {event}\n" if event else "", f"data: {encode(value)}\n\n"]
    return "".join(lines).encode("utf-8")


def activity_frames(activities: Iterable[Activity]) -> bytes:
    """Return the frames of the activities of a step."""
    return b"".join([frame(activity.to_json(), activity.cursor) for activity in activities])


def join_frames(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Iterate over the same bytes in fewer parts."""
    joined: list[bytes] = []
    size = 0
    for part in parts:
        joined.append(part)
        size += len(part)
        if size >= JOINED_BYTES:
            yield b"".join(joined)
            joined = []
            size = 0
    if joined:
        yield b"".join(joined)


class SharedFrames:
    """The latest frames of threads that have several readers."""

    def __init__(self) -> None:
        self._threads: dict[str, _ThreadFrames] = {}

    @contextmanager
    def reader(self, thread: str) -> Iterator[EncodeStep]:
        """Count a reader of a thread; the function returns the frames of a step for it."""
        frames = self._threads.setdefault(thread, _ThreadFrames())
        frames.readers += 1
        try:
            yield frames.encode
        finally:
            frames.readers -= 1
            if not frames.readers:
                del self._threads[thread]

    @property
    def kept_bytes(self) -> int:
        """Size of all frames that are kept."""
        return sum(frames.size for frames in self._threads.values())


class _ThreadFrames:
    """The latest frames of one thread."""

    __slots__ = ("_frames", "readers", "size")

    def __init__(self) -> None:
        self.readers = 0
        self.size = 0
        self._frames: dict[FrameKey, bytes] = {}

    def encode(self, step: list[Activity]) -> bytes:
        """Return the frames of the activities of a step; they are kept if there are several readers."""
        if self.readers == 1:
            return activity_frames(step)
        key = (step[0].cursor, step[-1].cursor, step[0].offset)
        part = self._frames.get(key)
        if part is None:
            part = activity_frames(step)
            self._keep(key, part)
        return part

    def _keep(self, key: FrameKey, part: bytes) -> None:
        self._frames[key] = part
        self.size += len(part)
        while self.size > KEPT_BYTES or len(self._frames) > KEPT_FRAMES:
            self.size -= len(self._frames.pop(next(iter(self._frames))))
