"""Routes of administration: the audit log, and a copy of the store."""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from starlette.responses import Response, StreamingResponse

from antiphon.runtime.errors import StoreError
from antiphon.server.audit import read_audit
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import Routes, json_response
from antiphon.server.parameters import Query
from antiphon.server.problems import ProblemError
from antiphon.server.replies import AuditList
from antiphon.server.requests import LARGEST, Limit

routes = Routes("administration")
SQLITE = "application/vnd.sqlite3"
PREFIX = "backup-"
PART_BYTES = 256 * 1024
LEAST_FREE_BYTES = 64 * 1024 * 1024  # left on the disk beside a copy of the store


@routes.add("GET", "/audit", "Changes by tokens and refused attempts, the newest first", gives=AuditList, scope="admin")
async def read_audit_log(
    context: Context,
    limit: Limit = 100,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="`next` of the page before")] = None,
) -> Response:
    """Without bodies and without secrets; a server without a folder of its own has none."""
    folder = context.settings.folder

    def read() -> list[dict[str, Any]]:
        return [] if folder is None else list(islice(read_audit(folder, before), limit))

    events = await asyncio.to_thread(read)
    return json_response({"items": events, "next": events[-1]["n"] if len(events) == limit else None})


@routes.add("POST", "/backup", "A copy of the store as it is now", media_types=(SQLITE,), scope="admin")
async def back_up(context: Context) -> Response:
    """One at a time; threads continue. `antiphon db restore` puts it in the place of a store."""
    if context.backing_up.locked():
        raise ProblemError("too_busy", "another backup is being made; try again when it is done")
    await context.backing_up.acquire()
    try:
        copy = await _copy(context)
    except BaseException:
        context.backing_up.release()
        raise
    headers = {
        "content-length": str(os.fstat(copy.fileno()).st_size),
        "content-disposition": 'attachment; filename="antiphon-backup.db"',
    }
    return BackupResponse(context, copy, headers)


class BackupResponse(StreamingResponse):
    """Response that sends a copy, and releases it however it ends."""

    def __init__(self, context: ServerContext, copy: BinaryIO, headers: dict[str, str]) -> None:
        super().__init__(_parts(copy), 200, headers, SQLITE)
        self._context = context
        self._copy = copy

    async def __call__(self, *arguments: Any) -> None:
        """Send the copy."""
        try:
            await super().__call__(*arguments)
        finally:
            self._copy.close()
            self._context.backing_up.release()


async def _parts(copy: BinaryIO) -> AsyncIterator[bytes]:
    while part := await asyncio.to_thread(copy.read, PART_BYTES):
        yield part


async def _copy(context: ServerContext) -> BinaryIO:
    """Copy the store to a file without a name, whose space is free again once it is closed."""
    folder = context.settings.folder
    if folder is None:
        raise ProblemError("not_allowed", "the store is in memory; there is nothing to copy")
    await asyncio.to_thread(_prepare, folder, context)
    target = folder / f"{PREFIX}{secrets.token_hex(8)}.db"
    try:
        await context.app.backup(target)
        return target.open("rb")
    except StoreError as error:
        raise ProblemError("store_failed", "the copy could not be made; see the log of the server") from error
    finally:
        with suppress(OSError):
            target.unlink(missing_ok=True)


def _prepare(folder: Path, context: ServerContext) -> None:
    """Delete what a killed process left, and raise `ProblemError` if there is no space for a copy."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.glob(f"{PREFIX}*"):
        path.unlink(missing_ok=True)
    needed = context.app.size() + LEAST_FREE_BYTES
    if shutil.disk_usage(folder).free < needed:
        raise ProblemError("no_space", f"a copy needs {needed:,} free bytes on the disk of the store")
