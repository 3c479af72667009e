"""The tables of events in `docs/events.md`: `python -m tests.docs.events_page` makes them from the declarations."""

from typing import Any

from antiphon.app import own_machines
from tests.paths import DOCS

PAGE = DOCS / "events.md"
BEGIN = "<!-- made by tests/docs/events_page.py -->"
TITLES = {"rawko": "orchestrator"}


def tables() -> str:
    """Return a section for every machine of Antiphon."""
    return "\n\n".join([BEGIN, *map(_section, own_machines())]) + "\n"


def _section(machine: Any) -> str:
    types = machine.event_types
    rows = [_row(types, name) for name in types.names]
    title = TITLES.get(machine.id, machine.id)
    return "\n".join([f"### {title}", "", "| event | from outside | keys | meaning |", "|---|---|---|---|", *rows])


def _row(types: Any, name: str) -> str:
    keys = ", ".join(f"`{field.name}`{'' if field.is_required else '?'}" for field in types.fields(name))
    outside = "yes" if types.is_public(name) else "no"
    return f"| `{name}` | {outside} | {keys} | {types.description(name).rstrip('.')} |"


def rewrite(page: str) -> str:
    """Return the page with the present tables."""
    return page.partition(BEGIN)[0] + tables()


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
