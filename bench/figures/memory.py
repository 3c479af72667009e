"""Bytes that one idle, started actor of the chat machine keeps, when there are many."""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc

from antiphon import assign, create_actor, create_machine
from contestants.machines import read_machine


def main(count: int) -> None:
    """Start so many actors and weigh them."""
    machine = create_machine(
        read_machine("chat").config,
        actions={
            "resetText": assign({"text": ""}),
            "appendText": assign({"text": lambda context, event: context["text"] + event["text"]}),
        },
    )
    # The first actor pays for what all of them share.
    create_actor(machine).start()
    gc.collect()
    tracemalloc.start()
    actors = [create_actor(machine).start() for _ in range(count)]
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    print(json.dumps({"bytes": size / len(actors)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
