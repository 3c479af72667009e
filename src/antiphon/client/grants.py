"""What a window gives to threads as long as the server runs: a folder, a permission mode, models by address or file."""

from contextlib import suppress
from typing import Any

from antiphon.client.connection import HttpConnection, thread_path
from antiphon.threads.errors import ThreadError

MODELS = "models"


class ThreadGrants:
    """Grants to threads, remembered so that they are repeated to the next server."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self._grants: dict[str, dict[str, Any]] = {}

    async def give(self, thread: str, **grants: Any) -> None:
        """Give a thread something, and note at the server that this window works on it."""
        await self._send(thread, grants)
        known = self._grants.setdefault(thread, {})
        models = [*known.get(MODELS, ()), *grants.get(MODELS, ())]
        known |= {**grants, **({MODELS: models} if models else {})}

    async def repeat(self) -> None:
        """Give all threads again what they had; a thread that cannot be found is left out."""
        for thread, grants in self._grants.items():
            with suppress(ThreadError):
                await self._send(thread, grants)

    async def _send(self, thread: str, grants: dict[str, Any]) -> None:
        path = f"/local{thread_path(thread)}"
        await self._connection.request("PUT", path, body=grants, is_repeatable=True, thread=thread)
