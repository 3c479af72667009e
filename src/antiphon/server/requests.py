"""Parts of requests and responses that several routes share: ids, keys, cursors and receipts."""

import re
from typing import Annotated, Any

from fastapi import Header, Path, Query, Response

from antiphon.runtime.histories import parse_cursor
from antiphon.runtime.records import Receipt
from antiphon.server.context import ServerContext
from antiphon.server.contracts import json_response
from antiphon.server.problems import ProblemError

KEY = re.compile(r"[!-~]{1,128}")
# Keys of clients are letters of their own: no key is the id of a letter that the runtime makes.
KEY_PREFIX = "key:"
LONGEST_ID = 200
LARGEST = 2**53

ThreadId = Annotated[str, Path(max_length=LONGEST_ID, description="id of a thread")]
RootId = Annotated[str, Path(max_length=LONGEST_ID, description="id of a tree of actors")]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="a request that is repeated with the same key is taken once"),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="most items of a page")]
Step = Annotated[int | None, Query(ge=1, le=LARGEST, description="a step of the journal")]


def letter_id(key: str | None, part: str = "") -> str | None:
    """Return the id of the letter for an idempotency key; raise `ProblemError` if the key cannot be used."""
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise ProblemError("bad_header", "Idempotency-Key must have 1 to 128 visible ASCII characters, without spaces")
    return f"{KEY_PREFIX}{key}{part}"


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
