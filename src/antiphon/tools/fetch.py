"""Fetch web pages: every address is checked before it is connected to, redirects included."""

import asyncio
import ssl
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from antiphon.providers.base import Tool
from antiphon.tools.addresses import AddressRule, Resolver, public_only, resolve_allowed, system_resolver
from antiphon.tools.arguments import object_schema
from antiphon.tools.assessment import Assessment
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction
from antiphon.tools.programs import run_program

HTML_TEXT = Path(__file__).with_name("html_text.py")
PORTS = {"http": 80, "https": 443}
REDIRECTS = (301, 302, 303, 307, 308)
MAX_HEAD = 64 * 1024
TEXT_TYPES = ("application/json", "application/xml", "application/javascript", "application/x-ndjson", "image/svg+xml")
# Encodings that are decoded in linear time by C code.
CHARSETS = frozenset((
    "utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1", "utf-16", "utf-16le", "utf-16be", "koi8-r", "koi8-u",
    "shift-jis", "sjis", "euc-jp", "euc-kr", "gb2312", "gbk", "gb18030", "big5", "macintosh", "tis-620",
    *(f"iso-8859-{number}" for number in (*range(1, 12), 13, 14, 15, 16)),
    *(f"{prefix}{number}" for prefix in ("windows-", "cp") for number in range(1250, 1259)),
))  # fmt: skip
MAX_HOST = 253
HTML_TYPES = ("text/html", "application/xhtml+xml")

# Fetching counts as writing, because a URL can carry data out.
FETCH_URL = Tool(
    "fetch_url",
    "Fetch a public web page by http or https and read it as text.",
    object_schema({"url": {"type": "string", "minLength": 1, "maxLength": 4_000}}, required=["url"]),
    risk="write",
)


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Limits and rules for fetching."""

    time_ms: int = 30_000
    most_bytes: int = 4 * 1024 * 1024
    most_characters: int = 100_000
    most_redirects: int = 5
    page_ms: int = 10_000
    rule: AddressRule = public_only
    resolve: Resolver = system_resolver
    certificates: ssl.SSLContext | None = None


@dataclass(frozen=True, slots=True)
class PageResponse:
    """Response of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_truncated: bool


def fetch_function(settings: FetchSettings | None = None) -> ToolFunction:
    """Return the tool that fetches pages."""
    fetch_settings = settings or FetchSettings()

    async def fetch(arguments: Mapping[str, Any]) -> str:
        return await fetch_text(arguments["url"], fetch_settings)

    def assess(arguments: Mapping[str, Any]) -> Assessment:
        parts = split_url(arguments["url"])
        reason = "the address may carry data out, and the page is read by the model"
        return Assessment(risk="write", kind="network", network=(_host(parts),), reason=reason)

    return ToolFunction(FETCH_URL, fetch, assess)


def _host(parts: SplitResult) -> str:
    """Return the host with its port, if that is not the usual one, and the scheme if it is not https."""
    host = (parts.hostname or "").lower()
    name = host if _port(parts) == PORTS[parts.scheme] else f"{host}:{_port(parts)}"
    return name if parts.scheme == "https" else f"{parts.scheme}://{name}"


async def fetch_text(url: str, settings: FetchSettings) -> str:
    """Fetch a page as text; raise `ToolCallError` if that fails."""
    return await page_text(*await fetch_page(url, settings), settings)


async def fetch_page(url: str, settings: FetchSettings) -> tuple[str, PageResponse]:
    """Fetch a page and return its final address and the response; raise `ToolCallError` if that fails."""
    try:
        async with asyncio.timeout(settings.time_ms / 1000):
            final_url, response = await _follow_redirects(url, settings)
    except TimeoutError:
        raise ToolCallError(f"{url!r} took longer than {settings.time_ms / 1000:g} s.") from None
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, zlib.error, ValueError):
        raise ToolCallError(f"The response of {url!r} is not valid HTTP.") from None
    if response.status >= 400:
        raise ToolCallError(f"{final_url!r} responded with HTTP status {response.status}.")
    return final_url, response


async def _follow_redirects(url: str, settings: FetchSettings) -> tuple[str, PageResponse]:
    for _ in range(settings.most_redirects + 1):
        parts = split_url(url)
        addresses = await resolve_allowed(parts.hostname or "", _port(parts), settings.resolve, settings.rule)
        response = await _request_page(parts, addresses, settings)
        target = response.headers.get("location")
        if response.status not in REDIRECTS or target is None:
            return url, response
        url = urljoin(url, target)
        leads_to = _host(split_url(url))
        if parts.scheme == "https" and not url.lower().startswith("https:"):
            raise ToolCallError(f"{parts.hostname!r} redirects from https to {url!r}, which is not followed.")
        if leads_to != _host(parts):
            # The question named the first host. Even looking up another one could carry data out.
            raise ToolCallError(
                f"{parts.hostname!r} redirects to {url!r}. Following it to another host is not allowed; "
                "fetch that address itself."
            )
    raise ToolCallError(f"There were more than {settings.most_redirects} redirects.")


def split_url(url: str) -> SplitResult:
    """Split a URL; raise `ToolCallError` if it cannot be fetched."""
    try:
        parts = urlsplit(url.strip())
        _port(parts)
        # Before it is encoded, which takes quadratic time.
        if len(parts.hostname or "") > MAX_HOST:
            raise ValueError("the host is too long")
        host = (parts.hostname or "").encode("idna" if ":" not in (parts.hostname or "") else "ascii").decode()
    except (ValueError, UnicodeError):
        raise ToolCallError(f"{url!r} is not a valid URL.") from None
    if parts.scheme not in PORTS:
        raise ToolCallError(f"Only http and https can be fetched, not {url!r}.")
    if not host or parts.username is not None or parts.password is not None:
        raise ToolCallError(f"{url!r} must have a host, and no user or password.")
    if any(character <= " " or character == "\x7f" for character in url.strip()):
        raise ToolCallError(f"{url!r} is not a valid URL.")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or PORTS.get(parts.scheme, 0)


async def _request_page(parts: SplitResult, addresses: list[str], settings: FetchSettings) -> PageResponse:
    host = parts.hostname or ""
    context = (settings.certificates or ssl.create_default_context()) if parts.scheme == "https" else None
    problem: OSError | None = None
    for address in addresses:
        try:
            # By address, because a second lookup of the name could return another one.
            reader, writer = await asyncio.open_connection(
                address, _port(parts), ssl=context, server_hostname=host if context else None, limit=MAX_HEAD
            )
        except ssl.SSLError as error:
            raise ToolCallError(f"{host!r} has no valid certificate: {error.reason}.") from None
        except OSError as error:
            problem = error
            continue
        try:
            writer.write(_request_head(parts, host))
            await writer.drain()
            return await _read_response(reader, settings.most_bytes)
        except OSError as error:
            raise ToolCallError(
                f"The connection to {host!r} broke: {error.strerror or type(error).__name__}."
            ) from None
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    raise ToolCallError(f"{host!r} cannot be reached: {problem.strerror if problem else 'no address'}.")


def _request_head(parts: SplitResult, host: str) -> bytes:
    # An address of version 6 stands in brackets, a name in the letters of the DNS.
    named = f"[{host}]" if ":" in host else host.encode("idna").decode()
    port = f":{parts.port}" if parts.port else ""
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._") + (
        f"?{quote(parts.query, safe='/?%:@!$&()*+,;=~-._')}" if parts.query else ""
    )
    lines = [
        f"GET {target} HTTP/1.1",
        f"Host: {named}{port}",
        "User-Agent: antiphon",
        "Accept: text/html, text/plain, application/json, text/*;q=0.8, */*;q=0.1",
        "Accept-Encoding: gzip",
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _read_response(reader: asyncio.StreamReader, limit: int) -> PageResponse:
    status, headers = await _read_head(reader)
    while 100 <= status < 200:
        status, headers = await _read_head(reader)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body, is_truncated = await _read_chunks(reader, limit)
    elif "content-length" in headers:
        length = int(headers["content-length"])
        body = await reader.readexactly(min(length, limit))
        is_truncated = length > limit
    else:
        body = await _read_up_to(reader, limit + 1)
        is_truncated = len(body) > limit
        body = body[:limit]
    if headers.get("content-encoding", "identity").lower() in ("gzip", "x-gzip"):
        # At most the limit is unpacked, because a small body may unpack to a huge one.
        unpacked = zlib.decompressobj(wbits=31).decompress(body, limit + 1)
        body = unpacked[:limit]
        is_truncated = is_truncated or len(unpacked) > limit
    elif headers.get("content-encoding", "identity").lower() != "identity":
        raise ToolCallError(f"The content encoding {headers['content-encoding']!r} is not supported.")
    return PageResponse(status, headers, body, is_truncated)


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, status = lines[0].split(" ", 2)[:2]
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    fields = [line.partition(":") for line in lines[1:] if line]
    return int(status), {name.strip().lower(): value.strip() for name, _, value in fields}


async def _read_chunks(reader: asyncio.StreamReader, limit: int) -> tuple[bytes, bool]:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if size < 0:
            raise ValueError("negative size")
        room = limit - len(body)
        body += await reader.readexactly(min(size, room))
        if size > room:
            return bytes(body), True
        await reader.readexactly(2)
    return bytes(body), False


async def _read_up_to(reader: asyncio.StreamReader, limit: int) -> bytes:
    body = bytearray()
    while len(body) < limit and (data := await reader.read(min(65_536, limit - len(body)))):
        body += data
    return bytes(body)


async def page_text(url: str, response: PageResponse, settings: FetchSettings) -> str:
    """Return a page as text, after its address; raise `ToolCallError` if it is none."""
    kind, _, parameters = response.headers.get("content-type", "text/plain").partition(";")
    kind = kind.strip().lower()
    text = _decode_body(response.body, parameters)
    if kind in HTML_TYPES:
        page = await run_program(HTML_TEXT, url.encode() + b"\n" + text.encode("utf-8", "replace"), settings.page_ms)
        if page is None:
            raise ToolCallError(f"The page {url!r} is too complex to be converted to text.")
        text = page.decode("utf-8", "replace")
    elif not kind.startswith("text/") and kind not in TEXT_TYPES and not kind.endswith(("+json", "+xml")):
        raise ToolCallError(f"{url!r} has the content type {kind}, which is not text.")
    is_truncated = response.is_truncated or len(text) > settings.most_characters
    note = f"\n[truncated after {min(len(text), settings.most_characters):,} characters]" if is_truncated else ""
    return f"[{url}]\n{text[: settings.most_characters]}{note}"


def _decode_body(body: bytes, parameters: str) -> str:
    charset = next(
        (value.strip(" \"'") for name, _, value in (field.partition("=") for field in parameters.split(";"))
         if name.strip().lower() == "charset"),
        "utf-8",
    )  # fmt: skip
    # Any other name could select a codec that takes quadratic time, such as punycode, or that runs Python code.
    name = charset.lower().replace("_", "-")
    return body.decode(name if name in CHARSETS else "utf-8", "replace").replace("\0", "\ufffd")
