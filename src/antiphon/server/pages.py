"""Pages of HTML without scripts: the list of routes, and the first page of a package without the web app."""

from collections.abc import Iterable
from html import escape
from itertools import groupby

from antiphon.server.contracts import Contract

STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid #8884; padding: 0.3rem 0.6rem 0.3rem 0; text-align: left; vertical-align: top; }
code { font: 0.9em ui-monospace, monospace; }
"""


def page(title: str, body: str) -> str:
    """Return a page of HTML."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<link rel="stylesheet" href="/style.css"></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def first_page() -> str:
    """Return the page for a package that was built without the web app."""
    links = '<p><a href="/docs">Routes</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/threads">Threads</a></p>'
    return page(
        "Antiphon", f"<p>The server is running, and this browser is signed in. This package has no web app.</p>{links}"
    )


def routes_page(contracts: Iterable[tuple[str, Contract]]) -> str:
    """Return the page with all routes, by their tags."""
    parts = ['<p>The same as <a href="/openapi.json">OpenAPI document</a>.</p>']
    for tag, group in groupby(contracts, key=lambda item: item[0]):
        rows = "".join(_row(contract) for _, contract in group)
        parts.append(f"<h2>{escape(tag)}</h2><table>{rows}</table>")
    return page("Routes", "".join(parts))


def _row(contract: Contract) -> str:
    takes = ", ".join(kind.__name__ for kind in contract.takes)
    gives = contract.gives.__name__ if contract.gives else ", ".join(contract.media_types)
    arrow = f"{takes} → {gives}" if takes else gives
    cells = (f"<code>{contract.method} {escape(contract.path)}</code>", escape(contract.about), escape(arrow))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
