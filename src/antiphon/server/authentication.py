"""Authentication: the caller that a token or a cookie belongs to, as long as the token is neither revoked nor expired.

The file of tokens is looked at before it is used, so a change of it holds for the next request. Responses that are
being sent end within `token_check_s` of the end of their token.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from antiphon.server.settings import ServerSettings, is_equal
from antiphon.server.tokens import SCOPES, Scope, Stamp, TokenError, TokenFile, TokenRecord, hash_of, session_of

USE_MS = 60_000  # how often the last use of a token is stored
OPERATOR_TOKEN = "operator"
_log = logging.getLogger("antiphon.server")


@dataclass(frozen=True, slots=True)
class Caller:
    """User that a request comes from, and the scope of its token; the operator has no name and may use every thread."""

    user: str = ""
    scope: Scope = "admin"
    token: str = OPERATOR_TOKEN  # name of the token
    token_id: str = ""

    @property
    def is_operator(self) -> bool:
        """True for the holder of the server's own token."""
        return not self.user

    def has_scope(self, scope: Scope) -> bool:
        """Return whether the token of the caller includes a scope."""
        return scope == "none" or SCOPES.index(self.scope) >= SCOPES.index(scope)


OPERATOR = Caller()


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Authentication:
    """The tokens of a server: its own, and those of users."""

    def __init__(self, settings: ServerSettings, now: Callable[[], int] = now_ms) -> None:
        self._settings = settings
        self._now = now
        self._file = None if settings.folder is None else TokenFile(settings.folder)
        self._stamp: Stamp = None
        self._records: dict[str, TokenRecord] = {}  # by the hashes of token and cookie
        self._used: dict[str, int] = {}
        self._watched: dict[str, set[asyncio.Future[None]]] = {}  # by the id of a token: those that wait for its end
        self._watching: asyncio.Task[None] | None = None
        self._writing: set[asyncio.Future[None]] = set()

    def find_by_token(self, token: str) -> Caller | None:
        """Return the caller of a token, or None."""
        return OPERATOR if is_equal(token, self._settings.token) else self._find(token)

    def find_by_cookie(self, session: str) -> Caller | None:
        """Return the caller of a cookie, or None."""
        return OPERATOR if is_equal(session, self._settings.session) else self._find(session)

    def session_of(self, token: str) -> str | None:
        """Return the value of the cookie for a token, or None for an unknown token."""
        return None if self.find_by_token(token) is None else session_of(token)

    def _find(self, secret: str) -> Caller | None:
        self._reload()
        record = self._records.get(hash_of(secret))
        if record is None or record.is_expired(self._now()):
            return None
        self._note_use(record)
        return Caller(record.user, record.scope, record.name, record.id)

    def _reload(self) -> None:
        """Read the file again if it has changed; a file that cannot be used has no tokens."""
        if self._file is None or (stamp := self._file.stamp()) == self._stamp:
            return
        self._stamp = stamp
        self._records = {}
        try:
            records = self._file.list()
        except TokenError as error:
            _log.error("no user is let in: %s", error)
            return
        self._records = {hash: record for record in records for hash in (record.hash, record.session_hash)}

    def _note_use(self, record: TokenRecord) -> None:
        now = self._now()
        if self._file is None or now - self._used.get(record.id, record.used or 0) < USE_MS:
            return
        self._used[record.id] = now
        writing = asyncio.get_running_loop().run_in_executor(None, self._file.note_uses, {record.id: now})
        self._writing.add(writing)
        writing.add_done_callback(self._note_written)

    def _note_written(self, writing: "asyncio.Future[None]") -> None:
        self._writing.discard(writing)
        if not writing.cancelled() and (error := writing.exception()) is not None:
            _log.error("the last use of a token was not stored: %s", error)

    def is_current(self, token_id: str) -> bool:
        """Return whether a token is neither revoked nor expired."""
        self._reload()
        now = self._now()
        return any(record.id == token_id and not record.is_expired(now) for record in self._records.values())

    async def wait_for_end(self, caller: Caller) -> None:
        """Wait until the token of a caller is revoked or has expired; that of the operator holds until the end."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if caller.is_operator:
            await future
        waiting = self._watched.setdefault(caller.token_id, set())
        waiting.add(future)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        try:
            await future
        finally:
            waiting.discard(future)
            if not waiting:
                self._watched.pop(caller.token_id, None)

    async def _watch(self) -> None:
        """Look at the tokens of open responses again and again, as long as there are any."""
        while self._watched:
            await asyncio.sleep(self._settings.token_check_s)
            for token_id in [id for id in self._watched if not self.is_current(id)]:
                for future in self._watched.get(token_id, ()):
                    if not future.done():
                        future.set_result(None)
        self._watching = None
