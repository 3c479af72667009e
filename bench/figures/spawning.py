"""CPU time of a spawn while an actor has few children, and while it has many."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from antiphon import create_actor, create_machine, spawn_child

KID = {"id": "kid", "initial": "idle", "states": {"idle": {"on": {"WORK": "busy"}}, "busy": {}}}
PARENT = {"id": "parent", "initial": "open", "states": {"open": {"on": {"SPAWN": {"actions": "spawnKid"}}}}}


def spawn(send: Callable[[Any], None], first: int, last: int) -> float:
    """Microseconds for each child from the first to the last."""
    events = [{"type": "SPAWN", "id": f"kid-{number}"} for number in range(first, last + 1)]
    gc.collect()
    gc.disable()
    began = process_time()
    for event in events:
        send(event)
    took = process_time() - began
    gc.enable()
    return took / len(events) * 1e6


def main(window: int, total: int) -> None:
    """Spawn them all, timing the first and the last window."""
    machine = create_machine(
        PARENT,
        actions={"spawnKid": spawn_child("kid", id=lambda context, event: event["id"])},
        actors={"kid": create_machine(KID)},
    )
    rehearsal = create_actor(machine).start()
    spawn(rehearsal.send, 1, window)
    actor = create_actor(machine).start()
    few = spawn(actor.send, 1, window)
    spawn(actor.send, window + 1, total - window)
    many = spawn(actor.send, total - window + 1, total)
    children = len(actor.get_snapshot().children)
    if children != total:
        raise SystemExit(f"expected {total} children, got {children}")
    print(json.dumps({"few_us": few, "many_us": many}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
