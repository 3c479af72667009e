"""Paths through a machine as a file of tests: one test for each path, one handler for each event and state."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.explore.paths import StatePath
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot

WIDTH = 110
HEADER = '''"""Paths through the chart {id}, a test each: fill in the methods of `System`.

Each method does what an event says, or checks the system in a state; until then, the tests pass without a check.
"""

from typing import Any


class System:
    """The system under test, at its start."""
'''


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


def to_pytest(machine: Machine[Any, Any], paths: Iterable[StatePath]) -> str:
    """Write a file of tests for pytest; it runs as it is, and checks nothing until its handlers are filled in."""
    events = _Names("do")
    states = _Names("check")
    labels = EventLabels(machine.root)
    tests = ["\n".join(_test_lines(number + 1, path, labels, events, states)) for number, path in enumerate(paths)]
    methods = [
        *(_method(name, "(self, event: dict[str, Any]) -> None", f"Do what {label!r} says.") for label, name in events),
        *(_method(name, "(self) -> None", f"Check the system in the state {label!r}.") for label, name in states),
    ]
    head = HEADER.format(id=_plain(machine.id)) + "".join(f"\n{method}" for method in methods)
    return "\n\n".join([head, *(f"{test}\n" for test in tests)])


def _method(name: str, signature: str, about: str) -> str:
    return f'    def {name}{signature}:\n        """{_plain(about)}"""\n'


def _test_lines(number: int, path: StatePath, labels: EventLabels, events: _Names, states: _Names) -> Iterator[str]:
    yield f"def test_path_{number}() -> None:"
    yield from (f"    # {line}" for line in textwrap.wrap(_plain(str(path)), WIDTH))
    yield "    system = System()"
    yield from _checks(path.start, states)
    for index, (event, snapshot) in enumerate(path.steps):
        guards = path.guards[index] if path.guards else ()
        comment = f"  # where {_plain(', '.join(guards))} holds" if guards else ""
        yield f"    system.{events[labels[event['type']]]}({_literal(event)}){comment}"
        yield from _checks(snapshot, states)


def _checks(snapshot: Snapshot[Any], states: _Names) -> Iterator[str]:
    for node in sorted(snapshot.configuration.atoms, key=lambda node: node.order):
        yield f"    system.{states['.'.join(node.path) or node.key]}()"


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
