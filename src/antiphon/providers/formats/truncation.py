"""Errors of streams that end too early."""

import json
from collections.abc import Callable, Iterator

from antiphon.errors import Code
from antiphon.providers.base import Delta
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import frame_error, is_error_frame
from antiphon.providers.http.sse import FrameDecoder


def last_deltas(feed: Callable[[bytes], Iterator[Delta]], truncated: Callable[[], ProviderError]) -> Iterator[Delta]:
    """Yield the deltas of a last frame without its end; an incomplete frame is truncated, not malformed."""
    try:
        yield from feed(b"\n\n")
    except ProviderError as error:
        raise (truncated() if error.code is Code.MALFORMED else error) from None


def truncation_error(frames: FrameDecoder, terminal: str, request_id: str | None) -> ProviderError:
    """Return the error for a body without its final event; lines outside of frames may give the reason."""
    stray = frames.stray.strip()
    if not stray:
        return ProviderError(Code.TRUNCATED, f"the reply ended without {terminal}", request_id=request_id)
    try:
        value = json.loads(stray)
    except ValueError:
        value = None
    # Google interrupts the events with the plain, indented JSON of the error.
    error = value[0] if isinstance(value, list) and value else value
    if isinstance(error, dict) and is_error_frame(error):
        return frame_error(error, request_id=request_id)
    return ProviderError(Code.MALFORMED, "the response is not an event stream", request_id=request_id, quote=stray)
