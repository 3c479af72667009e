"""Pages of HTML without scripts: problems, the list of routes, and the first page of a package without the web app."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from itertools import groupby

from antiphon.server.contracts import Contract
from antiphon.server.problems import ProblemError

STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid #8884; padding: 0.3rem 0.6rem 0.3rem 0; text-align: left; vertical-align: top; }
code { font: 0.9em ui-monospace, monospace; }
"""
# A page of a problem has its style in it: without a token the browser could not load it.
PROBLEM_POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
SIGN_IN = (
    "<p>Open the address with a token that <code>antiphon serve</code> has printed. "
    "If it is lost, start the server again: it prints a new one.</p>"
    "<p>A token of a user works as well: open <code>/?token=TOKEN</code> here. "
    "An administrator makes one with <code>antiphon tokens add</code>.</p>"
)


def page(title: str, body: str, style: str = '<link rel="stylesheet" href="/style.css">') -> str:
    """Return a page of HTML."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}{style}</head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def first_page() -> str:
    """Return the page for a package that was built without the web app."""
    links = '<p><a href="/docs">Routes</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/threads">Threads</a></p>'
    return page(
        "Antiphon", f"<p>The server is running, and this browser is signed in. This package has no web app.</p>{links}"
    )


def problem_page(problem: ProblemError) -> str:
    """Return a problem as a page, for a person who has opened an address."""
    if problem.code == "unauthenticated":
        return page("This browser is not signed in", SIGN_IN, f"<style>{STYLE}</style>")
    more = f"<p>{escape(problem.detail)}</p><p>Problem <code>{escape(problem.code)}</code></p>"
    body = f'{more}<p><a href="/">Go to the start page</a></p>'
    return page(problem.kind.title, body, f"<style>{STYLE}</style>")


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
