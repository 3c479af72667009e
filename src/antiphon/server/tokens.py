"""Tokens of users: a file beside the store, which has their hashes only.

1. Commands change the file while a server runs, and the server sees the change (`authentication.py`): so it is no table
   of the store, which one process owns, and neither a backup nor an export has tokens in it.
2. A token has 256 random bits, so a plain hash keeps it secret, and no salt is needed.
3. A cookie is derived from its token, which cannot be derived from it; the file has the hash of both.
"""

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

Scope = Literal["none", "read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")  # each includes those before it
PREFIX = "antiphon_"
TOKEN_BYTES = 32
ID_BYTES = 4
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NAME_FORM = "letters, digits, '.', '-' and '_', at most 64"
MOST_TOKENS = 1000
MOST_BYTES = 4 * 1024 * 1024
FILE = "tokens.json"
COPY = "copy the store to a folder of yours, or name another with --store"
LOCK = "tokens.lock"
OTHERS = 0o077  # permissions of the group and of others
Stamp = tuple[int, int, int] | None


class TokenError(Exception):
    """The tokens cannot be changed so, or their file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token of a user, without the token itself; times are milliseconds since 1970."""

    id: str
    name: str
    user: str
    scope: Scope
    hash: str = field(repr=False)
    session_hash: str = field(repr=False)
    created: int
    expires: int | None = None
    used: int | None = None

    def is_expired(self, now: int) -> bool:
        """Return whether the token is of no use any more."""
        return self.expires is not None and now >= self.expires

    def to_json(self, now: int) -> dict[str, Any]:
        """Return the facts that lists show."""
        facts = {name: value for name, value in asdict(self).items() if name not in ("hash", "session_hash")}
        return {**facts, "expired": self.is_expired(now)}


def session_of(token: str) -> str:
    """Return the value of the cookie for a token."""
    return hmac.new(token.encode(), b"antiphon cookie", hashlib.sha256).hexdigest()


def hash_of(secret: str) -> str:
    """Return the hash by which a token or a cookie is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """The tokens of a store, in the folder of its server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE

    def stamp(self) -> Stamp:
        """Return facts that change with the file; None if there is no file."""
        try:
            facts = self.path.stat()
        except OSError:
            return None
        return facts.st_ino, facts.st_mtime_ns, facts.st_size

    def list(self) -> tuple[TokenRecord, ...]:
        """Return all tokens, the oldest first; raise `TokenError` if the file cannot be used."""
        try:
            with self.path.open("rb") as file:
                self._check_mode(os.fstat(file.fileno()))
                value = json.loads(file.read(MOST_BYTES))
            return tuple(TokenRecord(**facts) for facts in value["tokens"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise TokenError(f"{self.path}: cannot be read: {error}; delete it to revoke all tokens") from error

    def _check_mode(self, facts: os.stat_result) -> None:
        if facts.st_mode & OTHERS or facts.st_uid != os.geteuid():
            raise TokenError(f"{self.path}: others can read or change it; run: chmod 600 {self.path}")

    def add(self, name: str, *, user: str, scope: Scope, expires: int | None, now: int) -> tuple[TokenRecord, str]:
        """Add a token; return its record, and the token, which is stored nowhere."""
        for text in (name, user):
            if not NAME.fullmatch(text):
                raise TokenError(f"{text!r} is not a name; use {NAME_FORM} characters")
        token = f"{PREFIX}{secrets.token_urlsafe(TOKEN_BYTES)}"
        record = TokenRecord(
            id=secrets.token_hex(ID_BYTES),
            name=name,
            user=user,
            scope=scope,
            hash=hash_of(token),
            session_hash=hash_of(session_of(token)),
            created=now,
            expires=expires,
        )

        def append(records: Sequence[TokenRecord]) -> Sequence[TokenRecord]:
            if any(each.name == name for each in records):
                raise TokenError(f"there is a token {name!r}; choose another name, or revoke it first")
            if len(records) >= MOST_TOKENS:
                raise TokenError(f"there are {MOST_TOKENS:,} tokens; revoke some first")
            return [*records, record]

        self._change(append)
        return record, token

    def revoke(self, name: str) -> bool:
        """Delete a token; return whether there was one of that name."""
        count = len(self.list())
        return len(self._change(lambda records: [each for each in records if each.name != name])) < count

    def note_uses(self, uses: Mapping[str, int]) -> None:
        """Store when tokens were used last, by their ids."""
        self._change(
            lambda records: [replace(each, used=max(each.used or 0, uses.get(each.id, 0)) or None) for each in records]
        )

    def _change(self, change: Callable[[Sequence[TokenRecord]], Sequence[TokenRecord]]) -> Sequence[TokenRecord]:
        with self._locked():
            before = self.list()
            records = change(before)
            if tuple(records) != before:
                self._write(records)
            return records

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other process change the file in the meantime."""
        open_folder(self.folder)
        descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, records: Sequence[TokenRecord]) -> None:
        # Replaced at once, so that a crash leaves either the old tokens or the new ones; the file has the mode 0600.
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=FILE)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "tokens": [asdict(record) for record in records]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def open_folder(folder: Path) -> None:
    """Create the folder of a server, for its owner only; raise `TokenError` if that is not possible."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & OTHERS:
            folder.chmod(0o700)
    except OSError as error:
        raise TokenError(f"{folder}: cannot be created: {error.strerror or error}; {COPY}") from error
