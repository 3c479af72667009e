"""The rows of docs/requirements.md and the tests that hold them.

`python -m tests.requirements` writes the column of tests, and the rows without one, into the page.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.paths import DOCS, ROOT

PAGE = DOCS / "requirements.md"
MOST_SHOWN = 3
PREFIX = r"(?:S\d(?:\.\d)?|E|X)-[BT]?"
ROW = re.compile(rf"^\| (?P<id>{PREFIX}\d+) \| (?P<sentence>.*?) ?\|(?P<tests>[^|]*)\|$")
RANGE = re.compile(rf"(?P<prefix>{PREFIX})(?P<first>\d+)\.\.(?P=prefix)(?P<last>\d+)")
GAPS = "## Rows without a test\n"
NO_BEHAVIOUR = "no behaviour"  # in place of the tests of a row that describes none


class MarkedTest(NamedTuple):
    """A test, or a module of tests, and the rows that its markers name."""

    name: str
    rows: tuple[str, ...]


def expand(name: str) -> list[str]:
    """Return the row that a name stands for, or all rows of a range."""
    if ".." not in name:
        return [name]
    match = RANGE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a range of rows; write both ends in full, with the same letters")
    width = len(match["first"])
    numbers = range(int(match["first"]), int(match["last"]) + 1)
    return [f"{match['prefix']}{number:0{width}d}" for number in numbers]


def named_rows(markers: Iterable[ast.expr]) -> tuple[str, ...]:
    """Return the rows that `pytest.mark.requirement(...)` names among some expressions."""
    calls = [
        call
        for marker in markers
        for call in ast.walk(marker)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "requirement"
    ]
    names = [ast.literal_eval(argument) for call in calls for argument in call.args]
    return tuple(dict.fromkeys(row for name in names for row in expand(name)))


def marked_tests(source: str, name: str) -> Iterator[MarkedTest]:
    """Find the tests of a module that name rows; a marker of the module or of a class is one test."""
    yield from _marked(ast.parse(source).body, name)


def _marked(body: Iterable[ast.stmt], name: str) -> Iterator[MarkedTest]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=marker):
                rows = named_rows([marker])
                test = name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                rows = named_rows(statement.decorator_list)
                test = f"{name}::{statement.name}"
            case _:
                continue
        if rows:
            yield MarkedTest(test, rows)
        if isinstance(statement, ast.ClassDef):
            yield from _marked(statement.body, test)


def find_tests(root: Path = ROOT) -> dict[str, list[str]]:
    """Map each row to the names of its tests, those that name the fewest rows first."""
    tests = [
        test
        for path in sorted((root / "tests").rglob("*.py"))
        if "requirement(" in (source := path.read_text(encoding="utf-8"))
        for test in marked_tests(source, path.relative_to(root).as_posix())
    ]
    by_row: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: len(test.rows)):
        for row in test.rows:
            by_row[row].append(test.name)
    return dict(by_row)


def sentences(page: str) -> dict[str, str]:
    """Map each row of the page to its sentence."""
    matches = filter(None, map(ROW.match, page.splitlines()))
    return {match["id"]: match["sentence"] for match in matches}


def without_behaviour(page: str) -> list[str]:
    """List the rows that are marked as describing no behaviour, so that no test can hold them."""
    matches = filter(None, map(ROW.match, page.splitlines()))
    return [match["id"] for match in matches if match["tests"].strip() == NO_BEHAVIOUR]


def format_row(row: str, sentence: str, names: list[str]) -> str:
    """Write the line of a row: links to the files of its first tests, and the number of the others."""
    links = [f"[`{name}`](../{name.partition('::')[0]})" for name in names[:MOST_SHOWN]]
    more = [f"+ {len(names) - MOST_SHOWN} more"] if len(names) > MOST_SHOWN else []
    return f"| {row} | {sentence} | {'<br>'.join(links + more)} |".replace("|  |", "| |")


def format_gaps(groups: Mapping[str, list[str]], tests: Mapping[str, list[str]], exempt: Collection[str]) -> str:
    """Write the table of the rows without a test, group by group."""
    lines = ["| group | rows | without a test | which |", "|---|--:|--:|---|"]
    total = 0
    for group, rows in groups.items():
        gaps = [row for row in rows if row not in tests and row not in exempt]
        total += len(gaps)
        lines.append(f"| {group} | {len(rows)} | {len(gaps)} | {', '.join(gaps) or '–'} |")
    return "\n".join([*lines, f"| all | {sum(map(len, groups.values()))} | {total} | |"])


def rewrite(page: str, tests: Mapping[str, list[str]]) -> str:
    """Return the page with the tests of each row, and the rows without one at its end."""
    groups: dict[str, list[str]] = defaultdict(list)
    exempt = without_behaviour(page)
    lines = []
    group = ""
    for line in page.partition(GAPS)[0].splitlines():
        match = ROW.match(line)
        if line.startswith("## "):
            group = line.removeprefix("## ")
        if match is None:
            lines.append(line)
            continue
        groups[group].append(match["id"])
        if match["id"] in exempt:
            lines.append(f"| {match['id']} | {match['sentence']} | {NO_BEHAVIOUR} |")
            continue
        lines.append(format_row(match["id"], match["sentence"], tests.get(match["id"], [])))
    return "\n".join([*lines, GAPS, format_gaps(groups, tests, exempt), ""])


def main() -> None:
    """Write the tests into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(rewrite(page, find_tests()), encoding="utf-8")


if __name__ == "__main__":
    main()
