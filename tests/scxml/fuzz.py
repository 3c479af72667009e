"""Random documents: the engine beside the algorithm of the recommendation, in configurations and order of actions.

`python -m tests.scxml.fuzz --count 5000` compares so many that come to rest; a seed names a document.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any
from xml.etree.ElementTree import Element, tostring

from antiphon import create_actor, load_scxml
from tests.scxml.random_documents import EVENTS, Writer
from tests.scxml.reference import Endless, Reference
from tests.scxml.suite import active

LENGTH = 12


def random_document(seed: int) -> tuple[Element, list[str]]:
    """A document, and events for it."""
    random = Random(seed)
    root = Writer(random).write()
    return root, [random.choice(EVENTS) for _ in range(LENGTH)]


def difference(seed: int, *, restart: bool = False) -> str | None:
    """Where engine and algorithm part, if they do; raises `Endless` for a document that does not come to rest.

    With `restart`, the machine is loaded again before every event, and continues from a persisted snapshot.
    """
    root, events = random_document(seed)
    reference = Reference(root)
    logs: list[Any] = []

    def load(snapshot: Any = None) -> Any:
        machine = load_scxml(tostring(root))
        return create_actor(machine, snapshot=snapshot, logger=lambda *values: logs.append(values[-1])).start()

    actor = load()
    for number in range(len(events) + 1):
        if number:
            if restart:
                actor = load(actor.get_persisted_snapshot())
            reference.send(events[number - 1])
            actor.send({"type": events[number - 1]})
        if actor.get_snapshot().error is not None:
            return f"after {events[:number]}: {actor.get_snapshot().error!r}"
        if active(actor) != reference.active():
            return f"after {events[:number]}: {sorted(active(actor))} instead of {sorted(reference.active())}"
        if logs != reference.trace:
            return f"after {events[:number]}: actions {logs} instead of {reference.trace}"
    return None


def differences(wanted: int, first: int, *, restart: bool = False) -> Iterator[tuple[int, str]]:
    """The differences of so many documents that come to rest, each with its seed."""
    compared = 0
    for seed in count(first):
        if compared == wanted:
            return
        try:
            problem = difference(seed, restart=restart)
        except Endless:
            continue
        compared += 1
        if problem is not None:
            yield seed, problem


def main() -> int:
    """Compare documents and print the differences."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--restart", action="store_true")
    options = parser.parse_args()
    number = 0
    for seed, problem in differences(options.count, options.seed, restart=options.restart):
        number += 1
        print(f"seed {seed}: {problem}")
    print(f"SCXML: {options.count} random documents, {number} differ from the algorithm of the recommendation")
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
