"""Ends of replies: bodies that end without a final event, and bodies that are no streams."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from antiphon.errors import Code
from antiphon.providers.base import Delta
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import frame_error, is_error_frame
from antiphon.providers.http.sse import FrameDecoder


def last_deltas(
    frames: FrameDecoder, feed: Callable[[bytes], Iterator[Delta]], truncated: Callable[[], ProviderError]
) -> Iterator[Delta]:
    """Yield the deltas of a last frame without its end, and of a reply that is not a stream but JSON of several lines.

    An incomplete frame is truncated, not malformed.
    """
    try:
        yield from feed(b"\n\n")
    except ProviderError as error:
        raise (truncated() if error.code is Code.MALFORMED and error.recoverable else error) from None
    values = _stray_objects(frames)
    if values:
        frames.take_stray()
    for value in values:
        yield from feed(b"data: %b\n\n" % json.dumps(value).encode())


def truncation_error(frames: FrameDecoder, terminal: str, request_id: str | None) -> ProviderError:
    """Return the error for a body without its final event; lines outside of frames may give the reason."""
    stray = frames.stray.strip()
    if not stray:
        return ProviderError(Code.TRUNCATED, f"the reply ended without {terminal}", request_id=request_id)
    # Google interrupts the events with the plain, indented JSON of the error.
    errors = [value for value in _stray_objects(frames) if is_error_frame(value)]
    if errors:
        return frame_error(errors[0], request_id=request_id)
    return ProviderError(Code.MALFORMED, "the response is not an event stream", request_id=request_id, quote=stray)


def _stray_objects(frames: FrameDecoder) -> list[dict[str, Any]]:
    try:
        value = json.loads(frames.stray)
    except ValueError:
        return []
    except RecursionError:
        reason = "the server sent a body that is nested too deeply"
        raise ProviderError(Code.MALFORMED, reason, recoverable=False, quote=frames.stray) from None
    values = value if isinstance(value, list) else [value]
    return [entry for entry in values if isinstance(entry, dict)]
