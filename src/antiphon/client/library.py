"""The threads of a server, listed, read and searched, with the names of `app.library`."""

from collections.abc import Mapping
from typing import Any

from antiphon.client.connection import HttpConnection, actor_path, thread_path
from antiphon.client.values import page_from_json, view_from_json
from antiphon.threads.errors import Refused, UnknownThread, WrongKind
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.kinds import Json, Record, ThreadView
from antiphon.threads.library import ThreadMatch

MOST = 1000  # threads of one page


class ClientLibrary:
    """All threads of a server that the token may see, the most recently used first."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self.is_unowned = False  # the server runs the threads

    async def latest(
        self,
        limit: int = 20,
        *,
        archived: bool | None = False,
        kind: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        after: str | None = None,
        since: str | None = None,
    ) -> list[ThreadView]:
        """Return the latest threads, or those after the cursor of the last one of a page.

        `archived` selects archived ones, and None, as for the other filters, all. `since` is the cursor of a thread:
        those that were changed then or later are returned.
        """
        chosen = {"kind": kind, "status": status, "owner": owner, "since": since}
        filters = {name: value for name, value in chosen.items() if value is not None}
        filters |= {"all": "true"} if archived is None else {"archived": "true" if archived else "false"}
        rows = await self._pages(filters, limit, after)
        return [view_from_json(row) for row in rows]

    async def search(
        self, words: str, limit: int = 20, *, after: str | None = None, owner: str | None = None
    ) -> list[ThreadMatch]:
        """Return the threads with texts that have all the words, archived ones too, the newest text first.

        A word of two letters or more finds words that begin with it; `after` is the cursor of the last match of a page.
        `owner` selects the threads of one owner.
        """
        filters = {"words": words, **({} if owner is None else {"owner": owner})}
        rows = await self._pages(filters, limit, after)
        return [ThreadMatch(view_from_json(row), row["line"], row["matchCursor"]) for row in rows]

    async def _pages(self, filters: Mapping[str, str], limit: int, after: str | None) -> list[Json]:
        rows: list[Json] = []
        while len(rows) < limit:
            size = min(MOST, limit - len(rows))
            place = {} if after is None else {"after": after}
            page = await self._connection.get("/threads", {**filters, **place, "limit": size})
            rows += page["items"]
            after = page["next"]
            if after is None:
                break
        return rows

    async def read(self, id: str, kind: str | None = None) -> Record:
        """Read the record of one thread; raise `UnknownThread` if there is none, `WrongKind` if it is of another."""
        noun = kind or "thread"
        try:
            page = page_from_json(await self._connection.get(thread_path(id), thread=id))
        except UnknownThread as error:
            raise UnknownThread(f"there is no {noun} {id!r}") from error
        if kind not in (None, page.view.kind):
            raise WrongKind(id, page.view.kind, noun)
        return Record(page.view, page.content, page.is_transcript)

    async def export(self, id: str, format: str = "md") -> str:
        """Export a thread as Markdown (`md`), one HTML page (`html`), or JSON (`json`)."""
        return await export_thread(self._connection, id, format)

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        snapshot = (await self._connection.get(actor_path(id, "snapshot"), thread=id))["snapshot"]
        config: Json = snapshot["context"]["config"]
        return config

    async def find(self, start: str, kind: str | None = None) -> list[str]:
        """Return the ids that start with a prefix, at most 1,000 of them; an exact match wins."""
        filters: dict[str, Any] = {"prefix": start, **({} if kind is None else {"kind": kind})}
        return [row["id"] for row in (await self._connection.get("/threads", filters))["items"]]


async def export_thread(connection: HttpConnection, id: str, format: str) -> str:
    """Export a thread in a format."""
    if format not in FORMATS:
        raise Refused(f"there is no format {format!r}; known: {', '.join(FORMATS)}")
    response = await connection.request("GET", thread_path(id, "export"), params={"format": format}, thread=id)
    return response.content.decode("utf-8")
