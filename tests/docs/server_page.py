"""The tables of settings, routes, bodies and codes in `docs/server.md`: `python -m tests.docs.server_page`."""

from collections.abc import Iterable
from itertools import groupby

from antiphon.server.configuration import SETTINGS, Setting
from antiphon.server.contracts import Contract, checks
from antiphon.server.problems import CODES
from antiphon.server.replies import ProblemReply
from antiphon.server.routes import all_contracts
from tests.paths import DOCS

PAGE = DOCS / "server.md"
BEGIN = "<!-- made by tests/docs/server_page.py -->"


def tables() -> str:
    """Return the tables: settings, routes, bodies of requests, bodies of responses, problems."""
    listed = all_contracts()
    routes = "\n\n".join(
        _routes(tag, [each for _, each in group]) for tag, group in groupby(listed, lambda row: row[0])
    )
    takes = dict.fromkeys(kind for _, contract in listed for kind in contract.takes)
    gives = dict.fromkeys(contract.gives for _, contract in listed if contract.gives is not None)
    parts = [
        BEGIN,
        "## All settings",
        _settings(),
        "## Routes",
        routes,
        "## Bodies of requests",
        _types(takes),
        "## Bodies of responses",
        _types([*_with_items(gives), ProblemReply]),
        "## Problems",
        _problems(),
    ]
    return "\n\n".join(parts) + "\n"


def _settings() -> str:
    head = ["| option | key of the file | variable | default | values | meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *map(_setting, SETTINGS)])


def _setting(setting: Setting) -> str:
    option = "none" if setting.option is None else f"`{setting.option}`"
    if setting.kind == "flag":
        option += f", `--no-{(setting.option or '')[2:]}`"
    default = f"`{str(setting.default).lower()}`" if setting.default not in (None, ()) else ""
    values = {"texts": "names", "flag": "`true`, `false`", "secret": "text"}.get(setting.kind, setting.kind)
    if setting.kind in ("whole", "number"):
        values = f"{setting.low:,.15g} to {setting.high:,.15g}"
    elif setting.kind == "choice":
        values = ", ".join(f"`{choice}`" for choice in setting.choices)
    return f"| {option} | `{setting.name}` | `{setting.variable}` | {default} | {values} | {setting.about} |"


def _routes(tag: str, listed: list[Contract]) -> str:
    head = [f"### {tag.capitalize()}", "", "| route | scope | what it does | takes | gives |"]
    head.append("|---|---|---|---|---|")
    return "\n".join([*head, *map(_route, listed)])


def _route(contract: Contract) -> str:
    takes = ", ".join(f"`{kind.__name__}`" for kind in contract.takes)
    types = [f"`{contract.gives.__name__}`"] if contract.gives else []
    types += [f"`{media_type}`" for media_type in contract.media_types if not types or media_type != "application/json"]
    gives = "" if contract.status == 204 else f", {', '.join(types)}"
    scope = "no token" if contract.scope == "none" else contract.scope
    return f"| `{contract.method} {contract.path}` | {scope} | {contract.about} | {takes} | {contract.status}{gives} |"


def _with_items(gives: Iterable[type]) -> list[type]:
    """The types of responses, with those of their items after them."""
    result: list[type] = []
    for kind in gives:
        shape = checks.shape(kind)
        inner = [other for other in checks.shapes.values() if f"/{other.name}'" in str(shape.schema())]
        result += [each for each in (kind, *(other.kind for other in inner)) if each not in result]
    return result


def _types(kinds: Iterable[type]) -> str:
    head = ["| type | fields | meaning |", "|---|---|---|"]
    return "\n".join([*head, *(_type(kind) for kind in kinds)])


def _type(kind: type) -> str:
    shape = checks.shape(kind)
    fields = ", ".join(f"`{key}`{'' if field.is_required else '?'}" for key, field in shape.fields.items())
    return f"| `{shape.name}` | {fields} | {shape.description.rstrip('.')} |"


def _problems() -> str:
    rows = [
        f"| `{code}` | {kind.status} | {'yes' if kind.is_recoverable else 'no'} | {kind.title} |"
        for code, kind in CODES.items()
    ]
    return "\n".join(["| code | status | recoverable | meaning |", "|---|---|---|---|", *rows])


def rewrite(page: str) -> str:
    """Return the page with the present tables."""
    return page.partition(BEGIN)[0] + tables()


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
