"""Program that parses agent files, run as its own process because a hostile file can take a parser very long.

The input is a JSON array of names and texts; for each file the output is a line of JSON.
"""

import json
import re
import resource
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*$\r?\n?", re.DOTALL | re.MULTILINE)
MOST_DEPTH = 30
MOST_VALUES = 5_000
MOST_CHARACTERS = 1_000_000
MOST_MEMORY = 512 * 1024 * 1024
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Unreadable(Exception):
    """A file cannot be parsed."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Allowance:
    """Values and characters that a file may still have; repetition by aliases counts."""

    def __init__(self) -> None:
        self._values = MOST_VALUES
        self._characters = MOST_CHARACTERS

    def use(self, line: int, depth: int, text: str = "") -> None:
        """Count a value; raise `Unreadable` if the file has too many, or nests them too deeply."""
        self._values -= 1
        self._characters -= len(text)
        if depth > MOST_DEPTH:
            raise Unreadable(line, f"it is nested more than {MOST_DEPTH} levels deep; flatten it")
        if self._values < 0 or self._characters < 0:
            raise Unreadable(line, f"it has more than {MOST_VALUES:,} values, aliases counted; make it smaller")
        if UNSTORABLE.search(text):
            raise Unreadable(line, "a text contains NUL or half of a character; remove it")


def parse_file(name: str, text: str) -> dict[str, Any]:
    """Return the values of a file and the lines of its keys, or a problem with its line."""
    try:
        values, lines = _parse(name, text)
        json.dumps(values)
    except Unreadable as error:
        return {"problem": [error.line, str(error)]}
    except RecursionError:
        return {"problem": [1, "it is nested too deeply; flatten it"]}
    except (TypeError, ValueError) as error:
        return {"problem": [1, f"a value cannot be stored as JSON: {error}; put it in quotes"]}
    return {"values": values, "lines": lines}


def _parse(name: str, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    if name.endswith(".toml"):
        return _parse_toml(text)
    if not name.endswith(".md"):
        return _parse_yaml(text, 0)
    front = FRONT.match(text)
    if front is None:
        raise Unreadable(1, "missing front matter; the file must begin with `---`, YAML, `---`")
    values, lines = _parse_yaml(front.group(1), 1)
    prompt = text[front.end() :].strip()
    Allowance().use(1, 0, prompt)
    values.setdefault("systemPrompt", prompt)
    lines.setdefault("systemPrompt", text.count("\n", 0, front.end()) + 1)
    return values, lines


def _parse_yaml(text: str, before: int) -> tuple[dict[str, Any], dict[str, int]]:
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _check_node(node, before, Allowance(), 0)
        values = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 + before if mark else 1
        raise Unreadable(line, f"invalid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(1, f"invalid YAML: {error}") from error
    if not isinstance(values, dict):
        raise Unreadable(1 + before, "an agent must be a mapping of `key: value`")
    return values, dict(_lines(node, before))


def _check_node(node: Any, before: int, allowance: Allowance, depth: int) -> None:
    """Count the values of a node before they are built, so that aliases cannot multiply them."""
    line = node.start_mark.line + 1 + before
    is_scalar = isinstance(node.value, str)
    allowance.use(line, depth, node.value if is_scalar else "")
    for item in () if is_scalar else node.value:
        for part in item if isinstance(item, tuple) else (item,):
            _check_node(part, before, allowance, depth + 1)


def _lines(node: Any, before: int, path: str = "") -> Iterator[tuple[str, int]]:
    if node.id != "mapping":
        return
    for key, value in node.value:
        place = f"{path}{key.value}"
        yield place, key.start_mark.line + 1 + before
        yield from _lines(value, before, f"{place}.")


def _parse_toml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        values = tomllib.loads(text)
    except ValueError as error:
        match = re.search(r"line (\d+)", str(error))
        raise Unreadable(int(match.group(1)) if match else 1, f"invalid TOML: {error}") from error
    allowance = Allowance()
    _check_value(values, allowance, 0)
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\[+([\w.]+)\]+", line):
            table = f"{header.group(1)}."
            lines.setdefault(header.group(1), number)
        elif key := re.match(r"([\w.]+)\s*=", line):
            lines.setdefault(f"{table}{key.group(1)}", number)
    return values, lines


def _check_value(value: Any, allowance: Allowance, depth: int) -> None:
    allowance.use(1, depth, value if isinstance(value, str) else "")
    if isinstance(value, dict):
        for name, part in value.items():
            allowance.use(1, depth, name)
            _check_value(part, allowance, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _check_value(part, allowance, depth + 1)


def main() -> None:
    """Parse the files on standard input and write a line for each."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # Not every system limits the address space.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.path.append(sys.argv[2])
    for name, text in json.loads(sys.stdin.buffer.read()):
        sys.stdout.write(json.dumps(parse_file(name, text)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
