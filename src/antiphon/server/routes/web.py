"""Routes of the web app: its page, at each address that the app shows, and the files that the page loads."""

import re
from functools import cache
from pathlib import PurePath
from typing import Annotated

from starlette.responses import Response

from antiphon import web
from antiphon.server.contracts import Routes
from antiphon.server.pages import first_page
from antiphon.server.parameters import Path
from antiphon.server.problems import ProblemError

routes = Routes("web")
HTML = "text/html; charset=utf-8"
# Scripts, styles and fonts come from the server, and the app speaks to the server alone. A worker has the policy of its
# own file, so files have the policy of the page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; font-src 'self'; "
    "img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
# The name of a built file has the hash of its content: it never changes.
HASHED = re.compile(r".+-[\w-]{8}\.\w+")
FOR_EVER = "public, max-age=31536000, immutable"
ADDRESSES = ("/new", "/chats/{id}", "/runs/{id}", "/debates/{id}", "/inspector", "/inspector/{id}")


@routes.add("GET", "/", "The web app; its token becomes a cookie", media_types=("text/html",))
async def read_first_page() -> Response:
    """The printed address leads here."""
    return page_response()


def _add_page(address: str) -> None:
    async def read_page() -> Response:
        """The page of the app, which shows what its address names."""
        return page_response()

    read_page.__name__ = "open" + re.sub(r"\W+", "_", address).rstrip("_")
    routes.add("GET", address, "The web app, opened at an address of its own", media_types=("text/html",))(read_page)


for _address in ADDRESSES:
    _add_page(_address)


@routes.add(
    "GET",
    "/assets/{name}",
    "A file of the web app",
    media_types=("text/javascript", "text/css", "font/woff2", "image/svg+xml"),
)
async def read_asset(name: Annotated[str, Path(max_length=200, description="name of a file")]) -> Response:
    """A name with a hash is kept by browsers for ever, any other is asked for each time."""
    content = _asset(name)
    media_type = MEDIA_TYPES.get(PurePath(name).suffix)
    if content is None or media_type is None:
        raise ProblemError("unknown_route", f"the web app has no file {name[:80]!r}")
    cache_control = FOR_EVER if HASHED.fullmatch(name) else "no-cache"
    headers = {"cache-control": cache_control, "content-security-policy": POLICY}
    return Response(content, 200, headers, media_type)


_asset = cache(web.asset)


def page_response() -> Response:
    """Return the page of the app; a package without it has a page with links."""
    content = web.page()
    if content is None:
        return Response(first_page().encode(), media_type=HTML)
    headers = {"cache-control": "no-cache", "content-security-policy": POLICY}
    return Response(content, 200, headers, HTML)
