"""Named SQL statements, read from files."""

import re
from functools import cache
from importlib.resources import files

NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries(dialect: str, subject: str = "queries") -> dict[str, str]:
    """The statements of a dialect on a subject by name, without their comments."""
    text = (files("antiphon.stores") / "sql" / dialect / f"{subject}.sql").read_text(encoding="utf-8")
    parts = NAME.split(text)
    return {name: _statement(body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def migrations(dialect: str) -> list[tuple[int, str]]:
    """The migrations of a dialect, by number."""
    folder = files("antiphon.stores") / "sql" / dialect / "migrations"
    found = [(int(file.name.split("_")[0]), file.read_text(encoding="utf-8")) for file in folder.iterdir()]
    return sorted(found)


def _statement(body: str) -> str:
    lines = [line for line in body.splitlines() if line and not line.startswith("--")]
    return "\n".join(lines).rstrip().rstrip(";")
