"""Docstrings in the style of Google: a description, and an `Args:` section with a text for each parameter."""

import inspect
import re
from typing import NamedTuple

SECTION = re.compile(r"(Args|Arguments|Returns?|Raises|Yields|Examples?|Notes?):\s*$")
ENTRY = re.compile(r"(\w+)(?: \([^)]*\))?:\s*(.*)")


class Docstring(NamedTuple):
    """Description of a function, and those of its parameters."""

    description: str
    parameters: dict[str, str]


def parse_docstring(text: str) -> Docstring:
    """Parse a docstring; sections other than `Args:` are left out."""
    lines = inspect.cleandoc(text).splitlines()
    starts = [number for number, line in enumerate(lines) if SECTION.match(line)]
    description = "\n".join(lines[: starts[0]] if starts else lines).strip()
    parameters: dict[str, str] = {}
    for start in starts:
        if lines[start].startswith("Arg"):
            end = next((number for number in starts if number > start), len(lines))
            parameters |= _entries(lines[start + 1 : end])
    return Docstring(description, parameters)


def _entries(lines: list[str]) -> dict[str, str]:
    """Return the texts of a section by name; lines that are indented deeper continue a text."""
    entries: dict[str, str] = {}
    name = ""
    indent = next((len(line) - len(line.lstrip()) for line in lines if line.strip()), 0)
    for line in lines:
        entry = ENTRY.match(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if entry is not None:
            name = entry[1]
            entries[name] = entry[2]
        elif name and line.strip():
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries
