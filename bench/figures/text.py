"""Text streamed into one context by `actor.send`: CPU time, or peak memory when traced."""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from time import process_time
from typing import Any

from antiphon import GrowingText, assign, create_actor, create_machine

CHART = {
    "id": "stream",
    "initial": "open",
    "context": {"text": GrowingText()},
    "states": {"open": {"on": {"TEXT_CHUNK": {"actions": "appendText"}}}},
}
CHUNK_BYTES = 20
BATCH = 1000


def open_stream() -> Any:
    """An actor that appends every chunk to its text."""
    machine = create_machine(
        CHART,
        actions={"appendText": assign({"text": lambda context, event: context["text"] + event["text"]})},
    )
    return create_actor(machine).start()


def batch(first: int) -> list[dict[str, str]]:
    """Some events with a chunk of their own each, as a model would send them."""
    return [{"type": "TEXT_CHUNK", "text": f"{number:0{CHUNK_BYTES}d}"} for number in range(first, first + BATCH)]


def stream(actor: Any, first: int, chunks: int) -> float:
    """CPU seconds that the sends take; building the events is not counted."""
    seconds = 0.0
    send = actor.send
    for start in range(first, first + chunks, BATCH):
        events = batch(start)
        gc.disable()
        began = process_time()
        for event in events:
            send(event)
        seconds += process_time() - began
        gc.enable()
    return seconds


def read(actor: Any, chunks: int) -> float:
    """CPU seconds to read the whole text once, which must not have lost anything."""
    began = process_time()
    text = actor.get_snapshot().context["text"]
    took = process_time() - began
    if len(text) != chunks * CHUNK_BYTES or not text.endswith(f"{chunks - 1:0{CHUNK_BYTES}d}"):
        raise SystemExit(f"expected {chunks * CHUNK_BYTES} characters, got {len(text)}")
    return took


def follow(actor: Any, first: int, chunks: int) -> float:
    """CPU seconds of sends that are each followed by a look at the whole text, of which nothing is kept."""
    seconds = 0.0
    size = 0
    for start in range(first, first + chunks, BATCH):
        events = batch(start)
        gc.disable()
        began = process_time()
        for event in events:
            actor.send(event)
            size = len(actor.get_snapshot().context["text"])
        seconds += process_time() - began
        gc.enable()
    if size != (first + chunks) * CHUNK_BYTES:
        raise SystemExit(f"expected {(first + chunks) * CHUNK_BYTES} characters, got {size}")
    return seconds


def watch(chunks: int) -> dict[str, float]:
    """Seconds for a text that is read after every chunk, and for one of ten times as many chunks."""
    follow(open_stream(), 0, BATCH)
    long_text = open_stream()
    long = short = 0.0
    for tenth in range(10):
        long += follow(long_text, tenth * chunks, chunks)
        short += follow(open_stream(), 0, chunks)
    return {"seconds": short / 10, "tenfold_seconds": long}


def compare(chunks: int) -> dict[str, float]:
    """Seconds for a text of so many chunks, and for one of ten times as many.

    The long one pauses after each tenth for a short one, so that both meet the same disturbance.
    """
    stream(open_stream(), 0, BATCH)
    long_text = open_stream()
    long = short = 0.0
    for tenth in range(10):
        long += stream(long_text, tenth * chunks, chunks)
        short_text = open_stream()
        short += stream(short_text, 0, chunks) + read(short_text, chunks)
    long += read(long_text, chunks * 10)
    return {"seconds": short / 10, "tenfold_seconds": long}


def weigh(chunks: int) -> dict[str, float]:
    """The most memory in use while a text grows and is read, over its size."""
    actor = open_stream()
    gc.collect()
    tracemalloc.start()
    stream(actor, 0, chunks)
    read(actor, chunks)
    _, peak = tracemalloc.get_traced_memory()
    return {"peak_over_size": peak / (chunks * CHUNK_BYTES)}


if __name__ == "__main__":
    question = {"compare": compare, "watch": watch, "weigh": weigh}[sys.argv[1]]
    print(json.dumps(question(int(sys.argv[2]))))
