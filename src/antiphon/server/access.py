"""Who may send a request: the name it is addressed to, the page it comes from, and its token."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import Scope

from antiphon.server.authentication import Authentication, Caller
from antiphon.server.problems import ProblemError
from antiphon.server.settings import LOOPBACK, ServerSettings

SAFE = ("GET", "HEAD")
ENTRY = "/"  # the address that is printed
PAGES = ("/", "/docs")  # addresses that a person may open from anywhere
PUBLIC = ("/healthz", "/readyz")  # addresses that need no token
OWN_SITE = ("same-origin", "none")
BEARER = "bearer "
APP_ADDRESS = re.compile(
    r"/(?:inspector|chats|runs|debates)(?:/[A-Za-z0-9_.%~-]{1,600})?(?:\?[A-Za-z0-9_.%~=&:-]{0,600})?"
)
SCHEMES = ("http", "https")
NO_TOKEN = (
    "the token is missing; open the address that `antiphon serve` printed, "
    "or send the header Authorization: Bearer TOKEN"
)
WRONG_TOKEN = "the token is wrong, was revoked or has expired; send the one that `antiphon serve` printed, or your own"


class Headers:
    """The headers of a request; one that comes twice is refused where it matters."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in raw:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def get(self, name: str) -> str | None:
        """Return a header, or None; raise `ProblemError` if it comes twice."""
        values = self._values.get(name)
        if values is not None and len(values) > 1:
            raise ProblemError("bad_header", f"the header {name} comes {len(values)} times; send it once")
        return None if values is None else values[0]

    def cookie(self, name: str) -> str | None:
        """Return a cookie, or None."""
        for part in (part for value in self._values.get("cookie", ()) for part in value.split(";")):
            key, _, value = part.strip().partition("=")
            if key == name:
                return value
        return None


def read_target(scope: Scope) -> None:
    """Read a target that is a whole address as its path; its host is then that of the request (RFC 9112, 3.2.2).

    Raise `ProblemError` for an address that is none.
    """
    scheme, separator, rest = scope["path"].partition("://")
    if not separator or scheme.lower() not in SCHEMES:
        return
    host, _, path = rest.partition("/")
    if not host or "@" in host or not host.isascii():
        raise ProblemError("bad_header", "the target of the request is no address of this server")
    others = [(name, value) for name, value in scope["headers"] if name.lower() != b"host"]
    scope["headers"] = [(b"host", host.encode()), *others]
    scope["path"] = f"/{path}"
    scope["raw_path"] = b"/" + scope["raw_path"].partition(b"://")[2].partition(b"/")[2]


def has_two_lengths(headers: Headers) -> bool:
    """Return whether a body has two lengths, of which a proxy may have read the other one (RFC 9112, 6.3)."""
    return headers.get("transfer-encoding") is not None and headers.get("content-length") is not None


def check_host(headers: Headers, settings: ServerSettings) -> str:
    """Return the host that a request is addressed to; raise `ProblemError` for a name that is not the server's.

    A page of another site whose name was made to point here (DNS rebinding) sends that name.
    """
    host = headers.get("host") or ""
    if host_name(host) not in settings.hosts:
        raise ProblemError("wrong_host", f"this server is not {host[:100]!r}; it is {', '.join(settings.hosts)}")
    return host


def host_name(host: str) -> str:
    """Return a host without its port, in lower case."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def cookie_name(host: str, settings: ServerSettings) -> str:
    """Return the name of the cookie: ports share the cookies of a host, so the port is in the name."""
    port = host.rpartition(":")[2]
    prefix = "__Host-" if settings.is_secure else ""
    return f"{prefix}antiphon-{port if port.isdecimal() else 'default'}"


def check_site(method: str, path: str, headers: Headers, host: str, settings: ServerSettings) -> None:
    """Raise `ProblemError` if a request comes from a page of another site; a person may open pages from anywhere."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"{settings.scheme}://{host}".lower():
        raise ProblemError("foreign_origin", f"requests from {origin[:100]!r} are not answered")
    site = headers.get("sec-fetch-site")
    is_opened = method in SAFE and path in PAGES and headers.get("sec-fetch-mode") == "navigate"
    if site is not None and site.lower() not in OWN_SITE and not is_opened:
        raise ProblemError("foreign_origin", "requests from pages of other sites are not answered")


def has_transport_policy(host: str, settings: ServerSettings) -> bool:
    """Return whether browsers are to use TLS only from now on: for a name of the server that is not the loopback.

    A name of the loopback is shared by all programs of a machine, most of which do not speak TLS.
    """
    return settings.is_secure and host_name(host) not in LOOPBACK


def authenticate(headers: Headers, host: str, settings: ServerSettings, authentication: Authentication) -> Caller:
    """Return the caller that the token or the cookie of a request belongs to; raise `ProblemError` if there is none."""
    authorization = headers.get("authorization")
    if authorization is None:
        caller = authentication.find_by_cookie(headers.cookie(cookie_name(host, settings)) or "")
    elif authorization[: len(BEARER)].lower() == BEARER:
        caller = authentication.find_by_token(authorization[len(BEARER) :].strip())
    else:
        caller = None
    if caller is None:
        raise ProblemError("unauthenticated", NO_TOKEN if authorization is None else WRONG_TOKEN)
    return caller


def is_entry(method: str, path: str) -> bool:
    """Return whether a person may open an address of the app with a token in it."""
    return method == "GET" and (path == ENTRY or APP_ADDRESS.fullmatch(path) is not None)


def entry_address(path: str, query: bytes) -> str:
    """Return the address that an address with a token leads to: the same without it.

    The printed address leads to that of its parameter `to`. Only addresses of the app are followed, so that nobody is
    led to another site.
    """
    values = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if path != ENTRY:
        rest = urlencode([(key, value) for key, value in values if key != "token"])
        return f"{quote(path)}?{rest}" if rest else quote(path)
    targets = [value for key, value in values if key == "to"]
    return targets[0] if len(targets) == 1 and APP_ADDRESS.fullmatch(targets[0]) else ENTRY


def entry_cookie(query: bytes, host: str, settings: ServerSettings, authentication: Authentication) -> str | None:
    """Return the cookie for the address with the token that was printed, or None if it has no token.

    Raise `ProblemError` if the token is wrong.
    """
    tokens = [value for key, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if key == "token"]
    if not tokens:
        return None
    session = authentication.session_of(tokens[0]) if len(tokens) == 1 else None
    if session is None:
        raise ProblemError("unauthenticated", "the token in the address is wrong; use the one that was printed last")
    secure = "; Secure" if settings.is_secure else ""
    return f"{cookie_name(host, settings)}={session}; Path=/; HttpOnly; SameSite=Strict{secure}"
