"""The scripts of the SCION test framework: 316 documents, each with events and the configuration after every one.

`scion-2.0.16.tar.xz` holds the folder `test` of the npm package `@scion-scxml/test-framework` 2.0.16 and its licence
(Apache-2.0). `python -m tests.scxml.suite` prints the table of docs/scxml.md.
"""

import json
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from antiphon import SimulatedClock, create_actor, load_scxml

ARCHIVE = Path(__file__).parent / "scion-2.0.16.tar.xz"
_folders: list[tempfile.TemporaryDirectory[str]] = []
# With domains as in the recommendation, the second script of these is the one that follows it.
OTHER_DOMAINS = ("more-parallel/test10", "more-parallel/test10b")
# The scripts of these name a state that does not exist: a person is to look at what they log.
MANUAL: dict[str, Callable[[list[Any]], bool]] = {
    # The child logs the fields of the forwarded event after the parent has logged those of the original.
    "w3c-ecma/test230.txml": lambda logs: len(logs) > 0 and logs[: len(logs) // 2] == logs[len(logs) // 2 :],
    # The cancelled child runs its exit handlers, inner ones first, and does not reach its end.
    "w3c-ecma/test250.txml": lambda logs: logs[-2:] == ["Exiting sub01", "Exiting sub0"],
    # An unbound variable and a missing property give the same.
    "w3c-ecma/test307.txml": lambda logs: logs.count("undefined") == 2,
}


class Script(NamedTuple):
    """A document, and its events with the configurations they lead to."""

    name: str
    document: Path
    initial: list[str]
    steps: list[dict[str, Any]]


@cache
def folder() -> Path:
    """The unpacked archive."""
    _folders.append(tempfile.TemporaryDirectory(prefix="scion-"))
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(_folders[-1].name, filter="data")
    return Path(_folders[-1].name) / "test"


def names() -> list[str]:
    """The names of all scripts, without unpacking anything."""
    with tarfile.open(ARCHIVE) as archive:
        paths = [Path(name) for name in archive.getnames()]
    return sorted(
        f"{path.parent.name}/{path.stem}" for path in paths if path.suffix == ".json" and path.parts[0] == "test"
    )


def read_script(name: str, domains: str) -> Script:
    """The script of a name; where two contradict each other, the one for these domains."""
    path = folder() / f"{name}.json"
    script = json.loads(path.read_text(encoding="utf-8"))
    if domains == "w3c" and name in OTHER_DOMAINS:
        script = script["legacySemantics"]
    return Script(name, path.with_suffix(".scxml"), script["initialConfiguration"], script["events"])


def problem_of(name: str, domains: str) -> str | None:
    """Run a script with actors on a simulated clock; what went wrong, if anything did."""
    script = read_script(name, domains)
    clock = SimulatedClock()
    logs: list[Any] = []
    machine = load_scxml(script.document, domains=domains)
    actor = create_actor(machine, clock=clock, logger=lambda *values: logs.append(values[-1]))
    if name in MANUAL:
        actor.start()
        for _ in range(500):
            clock.increment(10)
        return None if active(actor) == {"final"} and MANUAL[name](logs) else f"{sorted(active(actor))}, logs {logs}"
    # The scripts' first configuration is the one before the session takes events, its own included.
    for number, (state, wanted) in enumerate(_states(script, actor, clock)):
        if state != set(wanted):
            return f"after {number} events: {sorted(state)} instead of {sorted(wanted)}"
    return None


def active(actor: Any) -> set[str]:
    """The ids of the active atomic states."""
    return {node.id for node in actor.get_snapshot().configuration.atoms}


def active_at(machine: Any, value: Any) -> set[str]:
    """The ids of the atomic states that are active at a state value."""
    return {node.id for node in machine.nodes_at(value) if node.is_atomic}


def _states(script: Script, actor: Any, clock: SimulatedClock) -> Iterator[tuple[set[str], list[str]]]:
    yield active(actor), script.initial
    actor.start()
    for step in script.steps:
        for _ in range(step.get("after", 0)):
            clock.increment(1)
        event = step["event"]
        actor.send({"type": event["name"], **({"data": event["data"]} if "data" in event else {})})
        yield active(actor), step["nextConfiguration"]


def main() -> None:
    """Print how many scripts of each group pass, by kind of domains."""
    total = Counter(name.partition("/")[0] for name in names())
    passed: dict[str, Counter[str]] = {}
    for domains in ("w3c", "lca"):
        passed[domains] = Counter()
        for name in names():
            try:
                problem = problem_of(name, domains)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
            if problem is None:
                passed[domains][name.partition("/")[0]] += 1
            else:
                print(domains, name, problem[:300])
    for group, count in sorted(total.items()):
        print(f"| {group} | {count} | {passed['w3c'][group]} | {passed['lca'][group]} |")
    print(f"| all | {total.total()} | {passed['w3c'].total()} | {passed['lca'].total()} |")


if __name__ == "__main__":
    main()
