"""Tool calls of a chat completion, put together from their pieces.

1. A piece belongs to the call of its index, or of its id if it has no index; else it continues the last call.
2. A new id with a name begins a call, also under an index that was used: some servers send every call with index 0.
3. Without an id, a name begins a call if the arguments of the call before are complete, or if it stands beside it in
   the same frame.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from antiphon.providers.base import Delta, ToolArgs, ToolStart
from antiphon.providers.wire import as_name, as_text

NO_IDS = (None, "", "null")


class _OpenCall:
    """Call whose arguments may still grow; `id` is the server's unless it has none or repeats one."""

    __slots__ = ("id", "pieces", "server_id")

    def __init__(self, id: str, server_id: str | None) -> None:
        self.id = id
        self.server_id = server_id
        self.pieces: list[str] = []

    @property
    def is_complete(self) -> bool:
        """True if the arguments are JSON."""
        try:
            json.loads("".join(self.pieces))
        except (ValueError, RecursionError):
            return False
        return True


class ToolCalls:
    """Calls of one reply."""

    __slots__ = ("_by_index", "_calls", "_last", "size")

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []
        self._by_index: dict[Any, _OpenCall] = {}
        self._last: _OpenCall | None = None
        # Characters of all arguments.
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, pieces: list[dict[str, Any]]) -> Iterator[Delta]:
        """Yield the deltas of the calls of one frame."""
        for place, piece in enumerate(pieces):
            function = piece.get("function") or {}
            id = piece.get("id")
            server_id = None if id in NO_IDS else as_text(id)
            call = self._find(piece.get("index"), server_id)
            if self._begins(call, server_id, function.get("name"), place):
                call = self._begin(server_id)
                yield ToolStart(call.id, as_name(function["name"]))
            assert call is not None, "a piece without a call begins one"
            if piece.get("index") is not None:
                self._by_index[piece["index"]] = call
            self._last = call
            if arguments := function.get("arguments"):
                text = arguments if isinstance(arguments, str) else json.dumps(arguments)
                call.pieces.append(text)
                self.size += len(text)
                yield ToolArgs(call.id, text)

    def _find(self, index: Any, server_id: str | None) -> _OpenCall | None:
        if index is not None:
            return self._by_index.get(index)
        if server_id is not None:
            return next((call for call in self._calls if call.server_id == server_id), None)
        return self._last

    def _begins(self, call: _OpenCall | None, server_id: str | None, name: Any, place: int) -> bool:
        if call is None:
            return True
        if not name:
            return False
        if server_id is not None:
            return server_id != call.server_id
        return call.is_complete or (place > 0 and call is self._last)

    def _begin(self, server_id: str | None) -> _OpenCall:
        is_free = server_id is not None and all(call.id != server_id for call in self._calls)
        call = _OpenCall(server_id if server_id is not None and is_free else f"call_{uuid4().hex}", server_id)
        self._calls.append(call)
        return call
