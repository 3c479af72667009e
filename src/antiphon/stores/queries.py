"""Named SQL statements, read from files."""

import re
from functools import cache
from importlib.resources import files

NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def load_queries(dialect: str, subject: str = "queries") -> dict[str, str]:
    """Load the statements of a dialect on a subject, by name, without comments."""
    text = (files("antiphon.stores") / "sql" / dialect / f"{subject}.sql").read_text(encoding="utf-8")
    parts = NAME.split(text)
    return {name: _statement(body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def load_migrations(dialect: str) -> list[tuple[int, str]]:
    """Load the migrations of a dialect, in the order of their numbers."""
    folder = files("antiphon.stores") / "sql" / dialect / "migrations"
    return sorted((int(file.name.split("_")[0]), file.read_text(encoding="utf-8")) for file in folder.iterdir())


def _statement(body: str) -> str:
    lines = [line for line in body.splitlines() if line and not line.startswith("--")]
    return "\n".join(lines).rstrip().rstrip(";")
