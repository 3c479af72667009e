"""Fetching a page: the address that was checked is the one that is connected to, at every redirect anew."""

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
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction
from antiphon.tools.programs import run_program

PAGES = Path(__file__).with_name("html_text.py")
PORTS = {"http": 80, "https": 443}
REDIRECTS = (301, 302, 303, 307, 308)
MOST_HEAD = 64 * 1024
TEXT_TYPES = ("application/json", "application/xml", "application/javascript", "application/x-ndjson", "image/svg+xml")
HTML_TYPES = ("text/html", "application/xhtml+xml")

# Fetching counts as writing: an address can carry words out.
FETCH_URL = Tool(
    "fetch_url",
    "Fetch a public web page by http or https and read it as text.",
    object_schema({"url": {"type": "string", "minLength": 1, "maxLength": 4_000}}, required=["url"]),
    risk="write",
)


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How much is fetched, how long it may take, and from where."""

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
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


def fetch_function(settings: FetchSettings | None = None) -> ToolFunction:
    """The tool that fetches pages."""
    chosen = settings or FetchSettings()

    async def fetch(given: Mapping[str, Any]) -> str:
        return await fetch_text(given["url"], chosen)

    return ToolFunction(FETCH_URL, fetch)


async def fetch_text(url: str, settings: FetchSettings) -> str:
    """A page as text; `ToolCallError` says why not."""
    try:
        async with asyncio.timeout(settings.time_ms / 1000):
            final, answer = await _follow(url, settings)
    except TimeoutError:
        raise ToolCallError(f"{url!r} took longer than {settings.time_ms / 1000:g} s.") from None
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, zlib.error, ValueError):
        raise ToolCallError(f"The answer of {url!r} is no proper HTTP.") from None
    if answer.status >= 400:
        raise ToolCallError(f"{final!r} answers {answer.status}.")
    return await _page_text(final, answer, settings)


async def _follow(url: str, settings: FetchSettings) -> tuple[str, PageResponse]:
    for _ in range(settings.most_redirects + 1):
        parts = split_url(url)
        addresses = await resolve_allowed(parts.hostname or "", _port(parts), settings.resolve, settings.rule)
        answer = await _request_page(parts, addresses, settings)
        target = answer.headers.get("location")
        if answer.status not in REDIRECTS or target is None:
            return url, answer
        url = urljoin(url, target)
        if parts.scheme == "https" and not url.lower().startswith("https:"):
            raise ToolCallError(f"{parts.hostname!r} leads from https to {url!r}, which is not followed.")
    raise ToolCallError(f"There were more than {settings.most_redirects} redirects.")


def split_url(url: str) -> SplitResult:
    """A URL taken apart; `ToolCallError` when it is none that can be fetched."""
    try:
        parts = urlsplit(url.strip())
        _port(parts)
        host = (parts.hostname or "").encode("idna" if ":" not in (parts.hostname or "") else "ascii").decode()
    except (ValueError, UnicodeError):
        raise ToolCallError(f"{url!r} is no URL.") from None
    if parts.scheme not in PORTS:
        raise ToolCallError(f"Only http and https can be fetched, not {url!r}.")
    if not host or parts.username is not None or parts.password is not None:
        raise ToolCallError(f"{url!r} must have a host, and no user or password.")
    if any(letter <= " " or letter == "\x7f" for letter in url.strip()):
        raise ToolCallError(f"{url!r} is no URL.")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or PORTS.get(parts.scheme, 0)


async def _request_page(parts: SplitResult, addresses: list[str], settings: FetchSettings) -> PageResponse:
    host = parts.hostname or ""
    context = (settings.certificates or ssl.create_default_context()) if parts.scheme == "https" else None
    problem: OSError | None = None
    for address in addresses:
        try:
            # The address, not the name: a second look-up could give another.
            reader, writer = await asyncio.open_connection(
                address, _port(parts), ssl=context, server_hostname=host if context else None, limit=MOST_HEAD
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


async def _read_response(reader: asyncio.StreamReader, most: int) -> PageResponse:
    status, headers = await _head(reader)
    while 100 <= status < 200:
        status, headers = await _head(reader)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body, cut = await _chunks(reader, most)
    elif "content-length" in headers:
        length = int(headers["content-length"])
        body, cut = await reader.readexactly(min(length, most)), length > most
    else:
        body = await _up_to(reader, most + 1)
        body, cut = body[:most], len(body) > most
    if headers.get("content-encoding", "identity").lower() in ("gzip", "x-gzip"):
        # Of a small body that unpacks to a huge one, no more than the limit is unpacked.
        unpacked = zlib.decompressobj(wbits=31).decompress(body, most + 1)
        body, cut = unpacked[:most], cut or len(unpacked) > most
    elif headers.get("content-encoding", "identity").lower() != "identity":
        raise ToolCallError(f"The answer is packed as {headers['content-encoding']!r}, which cannot be read.")
    return PageResponse(status, headers, body, cut)


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, status = lines[0].split(" ", 2)[:2]
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    fields = [line.partition(":") for line in lines[1:] if line]
    return int(status), {name.strip().lower(): value.strip() for name, _, value in fields}


async def _chunks(reader: asyncio.StreamReader, most: int) -> tuple[bytes, bool]:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        if size < 0:
            raise ValueError("negative size")
        room = most - len(body)
        body += await reader.readexactly(min(size, room))
        if size > room:
            return bytes(body), True
        await reader.readexactly(2)
    return bytes(body), False


async def _up_to(reader: asyncio.StreamReader, most: int) -> bytes:
    body = bytearray()
    while len(body) < most and (data := await reader.read(min(65_536, most - len(body)))):
        body += data
    return bytes(body)


async def _page_text(url: str, answer: PageResponse, settings: FetchSettings) -> str:
    kind, _, rest = answer.headers.get("content-type", "text/plain").partition(";")
    kind = kind.strip().lower()
    text = _decode_body(answer.body, rest)
    if kind in HTML_TYPES:
        page = await run_program(PAGES, url.encode() + b"\n" + text.encode("utf-8", "replace"), settings.page_ms)
        if page is None:
            raise ToolCallError(f"The page {url!r} is too intricate to be read.")
        text = page.decode("utf-8", "replace")
    elif not kind.startswith("text/") and kind not in TEXT_TYPES and not kind.endswith(("+json", "+xml")):
        raise ToolCallError(f"{url!r} is of type {kind}, which is no text.")
    cut = answer.cut or len(text) > settings.most_characters
    note = f"\n[cut after {min(len(text), settings.most_characters):,} characters]" if cut else ""
    return f"[{url}]\n{text[: settings.most_characters]}{note}"


def _decode_body(body: bytes, parameters: str) -> str:
    charset = next(
        (value.strip(" \"'") for name, _, value in (one.partition("=") for one in parameters.split(";"))
         if name.strip().lower() == "charset"),
        "utf-8",
    )  # fmt: skip
    try:
        return body.decode(charset, "replace").replace("\0", "\ufffd")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace").replace("\0", "\ufffd")
