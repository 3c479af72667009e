"""Settings of a server: its token, the names it is reached by, and its limits."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from antiphon.server.tokens import session_of

TOKEN_BYTES = 32
SHORTEST_TOKEN = 32
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Settings of a server.

    `hosts` are the names that a request may be addressed to; `is_secure` says that clients speak TLS to the server or
    to a proxy in front of it. `folder` has the tokens of users and the audit log; without one there are neither.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    hosts: tuple[str, ...] = LOOPBACK
    is_secure: bool = False
    folder: Path | None = None
    most_body_bytes: int = 8 * 1024 * 1024
    most_header_bytes: int = 32 * 1024
    deepest_json: int = 64
    most_requests: int = 256
    most_streams: int = 4096
    most_followed: int = 64
    header_s: float = 10.0
    body_s: float = 30.0
    stall_s: float = 60.0
    keep_alive_s: int = 30
    shutdown_s: int = 5
    heartbeat_s: float = 15.0
    retry_ms: int = 2000
    idle_s: float = 600.0
    most_user_requests: int = 64
    most_user_streams: int = 64
    token_requests_per_minute: int = 1200
    failed_logins_per_minute: int = 30
    token_check_s: float = 1.0
    audit_bytes: int = 10 * 1024 * 1024
    audit_files: int = 5

    @property
    def scheme(self) -> str:
        """Scheme of the addresses that clients use."""
        return "https" if self.is_secure else "http"

    @property
    def session(self) -> str:
        """Value of the cookie of the operator."""
        return session_of(self.token)


def is_equal(text: str, secret: str) -> bool:
    """Compare a text with a secret in a time that depends on neither."""
    return hmac.compare_digest(_digest(text), _digest(secret))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
