"""Paths through a machine as a file of tests: one test for each path, one handler for each event and state."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.explore.paths import StatePath
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot

WIDTH = 110
HEADER = '''"""Paths through the chart {id}, a test each: fill in the methods of `System`.

Each method does what an event says, or checks the system in a state; until then, the tests pass without a check.
"""

{imports}


class System:
    """The system under test, at its start."""
'''
ASYNC_START = '''
    async def start(self) -> None:
        """Start the system, in the event loop of the test."""

    async def finish(self) -> None:
        """End the system, also after a failure."""
'''
ASYNC_FOLLOW = '''
def follow(path: Callable[[System], Awaitable[None]]) -> None:
    """Follow a path with a new system, in an event loop of its own."""

    async def run() -> None:
        system = System()
        await system.start()
        try:
            await path(system)
        finally:
            await system.finish()

    asyncio.run(run())
'''
IMPORTS = "from typing import Any"
ASYNC_IMPORTS = """import asyncio
from collections.abc import Awaitable, Callable
from typing import Any"""


class _Names:
    """Names of functions for labels: different labels have different names."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names: dict[str, str] = {}

    def __getitem__(self, label: str) -> str:
        if label not in self._names:
            words = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
            name = f"{self._prefix}_{words}".rstrip("_")
            used = set(self._names.values())
            number = next(number for number in range(1, len(used) + 2) if _numbered(name, number) not in used)
            self._names[label] = _numbered(name, number)
        return self._names[label]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._names.items())


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def to_pytest(machine: Machine[Any, Any], paths: Iterable[StatePath], *, is_async: bool = False) -> str:
    """Write a file of tests for pytest; it runs as it is, and checks nothing until its handlers are filled in.

    With `is_async` its methods are async; the tests are plain functions that need no plugin.
    """
    events = _Names("do")
    states = _Names("check")
    labels = EventLabels(machine.root)
    write_test = _async_test_lines if is_async else _test_lines
    written = [_write_path(path, labels, events, states) for path in paths]
    tests = ["\n".join(write_test(number, path)) for number, path in enumerate(written, 1)]
    start = "async def" if is_async else "def"
    methods = [
        *(
            _method(f"{start} {name}(self, event: dict[str, Any])", f"Do what {label!r} says.")
            for label, name in events
        ),
        *(_method(f"{start} {name}(self)", f"Check the system in the state {label!r}.") for label, name in states),
    ]
    head = HEADER.format(id=_plain(machine.id), imports=ASYNC_IMPORTS if is_async else IMPORTS)
    body = head + (ASYNC_START if is_async else "") + "".join(f"\n{method}" for method in methods)
    parts = [body, *([ASYNC_FOLLOW] if is_async else []), *(f"{test}\n" for test in tests)]
    return "\n\n".join(part.lstrip("\n") for part in parts)


def _method(start: str, about: str) -> str:
    return f'    {start} -> None:\n        """{_plain(about)}"""\n'


class _WrittenPath(NamedTuple):
    """A path for people, and the calls that follow it."""

    comment: list[str]
    calls: list[str]


def _write_path(path: StatePath, labels: EventLabels, events: _Names, states: _Names) -> _WrittenPath:
    calls = list(_checks(path.start, states))
    for index, (event, snapshot) in enumerate(path.steps):
        guards = path.guards[index] if path.guards else ()
        comment = f"  # where {_plain(', '.join(guards))} holds" if guards else ""
        calls.append(f"system.{events[labels[event['type']]]}({_literal(event)}){comment}")
        calls.extend(_checks(snapshot, states))
    return _WrittenPath([f"    # {line}" for line in textwrap.wrap(_plain(str(path)), WIDTH)], calls)


def _test_lines(number: int, path: _WrittenPath) -> list[str]:
    calls = [f"    {call}" for call in path.calls]
    return [f"def test_path_{number}() -> None:", *path.comment, "    system = System()", *calls]


def _async_test_lines(number: int, path: _WrittenPath) -> list[str]:
    calls = [f"    await {call}" for call in path.calls]
    test = ["", "", f"def test_path_{number}() -> None:", f"    follow(path_{number})"]
    return [f"async def path_{number}(system: System) -> None:", *path.comment, *calls, *test]


def _checks(snapshot: Snapshot[Any], states: _Names) -> Iterator[str]:
    for node in sorted(snapshot.configuration.atoms, key=lambda node: node.order):
        yield f"system.{states['.'.join(node.path) or node.key]}()"


def _literal(event: Any) -> str:
    """Return an event as Python writes it, in ASCII."""
    try:
        return ascii(json.loads(json.dumps(event)))
    except (TypeError, ValueError):
        return ascii({"type": event["type"]})


def _plain(text: str) -> str:
    """Return a text for a comment or a docstring: printable, in one line, and without what would end a docstring."""
    line = "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))
    return line.replace("\\", "\ufffd").replace('"', "'")
