"""What to say of a stream that ends before its end."""

import json
from collections.abc import Callable, Iterator

from antiphon.errors import Code
from antiphon.providers.base import Delta
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import fault_error, is_fault
from antiphon.providers.http.sse import FrameDecoder


def last_deltas(feed: Callable[[bytes], Iterator[Delta]], ended_early: Callable[[], ProviderError]) -> Iterator[Delta]:
    """The deltas of a last frame whose end is missing; half a frame is a cut, not a malformed one."""
    try:
        yield from feed(b"\n\n")
    except ProviderError as error:
        raise (ended_early() if error.code is Code.MALFORMED else error) from None


def ended_early(frames: FrameDecoder, terminal: str, request_id: str | None) -> ProviderError:
    """The error for a body that ended without its terminal event; what lies around it may say why."""
    stray = frames.stray.strip()
    if not stray:
        return ProviderError(Code.TRUNCATED, f"the reply ended without {terminal}", request_id=request_id)
    try:
        value = json.loads(stray)
    except ValueError:
        value = None
    # Google breaks off with the plain, indented JSON of the error in the middle of the events.
    told = value[0] if isinstance(value, list) and value else value
    if isinstance(told, dict) and is_fault(told):
        return fault_error(told, request_id=request_id)
    return ProviderError(Code.MALFORMED, f"the server sent no event stream: {stray[:80]!r}", request_id=request_id)
