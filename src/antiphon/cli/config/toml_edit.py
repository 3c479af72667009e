"""Changes of single values of a TOML file, which keep its comments and its order.

A change is made on lines and then verified: the result must say what is asked for, and nothing else may differ.
"""

import json
import re
import tomllib
from copy import deepcopy
from typing import Any

HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")
ASSIGNMENT = re.compile(r"""\s*((?:[\w.\s-]|"[^"]*"|'[^']*')+?)\s*=""")
BARE = re.compile(r"[A-Za-z0-9_-]+")
Place = tuple[str, ...]


class NotEditable(Exception):
    """A file is written in a way that this module does not change."""


def set_value(text: str, place: Place, value: str | float | bool) -> str:
    """Return a TOML text in which the value of a table, or of the root, is set."""
    expected = deepcopy(tomllib.loads(text))
    table = expected
    for name in place[:-1]:
        table = table.setdefault(name, {})
    if not isinstance(table, dict):
        raise NotEditable(f"{'.'.join(place[:-1])} is not a table")
    table[place[-1]] = value
    return _verify(_replace(text, place, json.dumps(value, ensure_ascii=False)), expected)


def unset_value(text: str, place: Place) -> str:
    """Return a TOML text without the value of a table, or of the root."""
    expected = deepcopy(tomllib.loads(text))
    table = expected
    for name in place[:-1]:
        table = table[name]
    del table[place[-1]]
    return _verify(_replace(text, place, None), expected)


def _replace(text: str, place: Place, value: str | None) -> str:
    lines = text.splitlines()
    table: Place = ()
    ends: dict[Place, int] = {(): 0}  # the line after the last one of each table
    for number, line in enumerate(lines):
        if header := HEADER.fullmatch(line):
            table = _path_of(header[1])
        elif (match := ASSIGNMENT.match(line)) and (*table, *_path_of(match[1])) == place:
            replacement = [] if value is None else [f"{match[0]} {value}"]
            return _join([*lines[:number], *replacement, *lines[number + 1 :]])
        if line.strip():
            ends[table] = number + 1
    if value is None:
        return text
    new = f"{_key(place[-1])} = {value}"
    if place[:-1] in ends:
        end = ends[place[:-1]]
        return _join([*lines[:end], new, *lines[end:]])
    header_line = f"[{'.'.join(map(_key, place[:-1]))}]"
    return _join([*lines, *([""] if lines else []), header_line, new])


def _path_of(key: str) -> Place:
    """Return the names of a dotted key; none if it cannot be read."""
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    names = []
    while isinstance(value, dict):
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _join(lines: list[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _verify(text: str, expected: dict[str, Any]) -> str:
    try:
        is_as_expected = _prune(tomllib.loads(text)) == _prune(expected)
    except tomllib.TOMLDecodeError:
        is_as_expected = False
    if not is_as_expected:
        raise NotEditable("its form cannot be changed by a command")
    return text


def _prune(value: Any) -> Any:
    """Return a value without empty tables."""
    if not isinstance(value, dict):
        return value
    items = {name: _prune(item) for name, item in value.items()}
    return {name: item for name, item in items.items() if item != {}}
