"""Parts of requests and responses that several routes share: ids, keys, cursors and receipts."""

import re
from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import Response

from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.histories import parse_cursor
from antiphon.runtime.records import Receipt
from antiphon.server.callers import RequestCaller, admit
from antiphon.server.context import ServerContext
from antiphon.server.contracts import json_response
from antiphon.server.parameters import Depends, Header, Path, Query
from antiphon.server.problems import ProblemError
from antiphon.threads.errors import UnknownThread

KEY = re.compile(r"[!-~]{1,128}")
# Keys of clients are letters of their own: no key is the id of a letter that the runtime makes.
KEY_PREFIX = "key:"
USER_PREFIX = "user:"  # of the keys of users, which are their own
LONGEST_ID = 200
LARGEST = 2**53


async def admit_thread(
    request: Request, id: Annotated[str, Path(max_length=LONGEST_ID, description="id of a thread")]
) -> str:
    """Return the id of the thread in an address; one of another user is unknown."""
    return await admit(request, id, UnknownThread, "thread")


async def admit_root(
    request: Request, root: Annotated[str, Path(max_length=LONGEST_ID, description="id of a tree of actors")]
) -> str:
    """Return the id of the tree in an address; users have those of their threads."""
    return await admit(request, root, UnknownRoot, "root actor")


async def find_key(
    caller: RequestCaller,
    key: Annotated[
        str | None,
        Header(alias="Idempotency-Key", description="a request that is repeated with the same key is taken once"),
    ] = None,
) -> str | None:
    """Return the id of the letter for the key of a request; raise `ProblemError` if the key cannot be used."""
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise ProblemError("bad_header", "Idempotency-Key must have 1 to 128 visible ASCII characters, without spaces")
    return f"{KEY_PREFIX}{key}" if caller.is_operator else f"{USER_PREFIX}{caller.user}:{key}"


ThreadId = Annotated[str, Depends(admit_thread)]
ClientId = Annotated[str, Path(max_length=LONGEST_ID, description="name of a thread, of the client's choice")]
RootId = Annotated[str, Depends(admit_root)]
Key = Annotated[str | None, Depends(find_key)]
Accept = Annotated[str, Header(max_length=1000)]
LastEventId = Annotated[str, Header(alias="Last-Event-ID", max_length=16_000, description="id of the last event")]
Limit = Annotated[int, Query(ge=1, le=1000, description="most items of a page")]
After = Annotated[str, Query(max_length=200, description="`next` of the page before")]
AfterStep = Annotated[int, Query(ge=0, le=LARGEST, description="the step before the page")]
Step = Annotated[int | None, Query(ge=1, le=LARGEST, description="a step of the journal")]


def letter_id(key: str | None, part: str = "") -> str | None:
    """Return the id of the letter for a part of a request with a key."""
    return None if key is None else f"{key}{part}"


def choose_media_type(accept: str, *offers: str) -> str:
    """Return the first of some media types that a client accepts; raise `ProblemError` if it accepts none.

    A client that accepts anything gets the first; one that names a type gets that.
    """
    types = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    for offer in offers:
        if offer in types:
            return offer
    for offer in offers:
        if {f"{offer.partition('/')[0]}/*", "*/*", ""} & {*types}:
            return offer
    raise ProblemError("not_acceptable", f"{accept[:80]!r} is accepted; this sends {' or '.join(offers)}")


def check_cursor(text: str) -> int | str:
    """Return a cursor or the number of a step; no text is the beginning. Raise `ProblemError` for anything else."""
    if not text:
        return 0
    if text.isascii() and text.isdecimal() and len(text) < 16:
        return int(text)
    try:
        place = parse_cursor(text)
    except ValueError:
        place = None
    if place is None or place.seq > LARGEST or (place.position or 0) > LARGEST or not text.isprintable():
        raise ProblemError("bad_cursor", f"{text[:80]!r} is not a cursor; use that of a thread or of an activity")
    return text


async def require_kind(context: ServerContext, id: str, *kinds: str) -> str:
    """Return the kind of a thread; raise `ProblemError` if it is none of some kinds."""
    kind: str = (await context.app.threads.state(id)).get("kind")
    if kind not in kinds:
        raise ProblemError("wrong_kind", f"thread {id!r} is a {kind}; this is for a {' or a '.join(kinds)}")
    return kind


def receipt_response(thread: str, receipt: Receipt) -> Response:
    """Return the response for an event that was taken: 202, because the work it starts goes on."""
    body = {"thread": thread, "status": receipt.status, "seq": receipt.seq, "cursor": receipt.cursor}
    return json_response(body, 202)


async def thread_response(context: ServerContext, id: str, status: int = 200, *, with_content: bool = True) -> Response:
    """Return the response with a thread as it is now."""
    page: dict[str, Any] = (await context.app.threads.read(id)).to_json()
    if not with_content:
        del page["content"]
    return json_response(page, status)
