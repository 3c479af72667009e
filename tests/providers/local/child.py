"""A child process like that of an embedded model, without a model: it says what the test needs."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from antiphon.providers.local.serving.endpoint import Endpoint, TooLong
from antiphon.providers.local.serving.outline import values

SIGNALS = {"illegal": signal.SIGILL, "killed": signal.SIGKILL}


class FirstOf:
    """A pen that writes the first thing that fits."""

    def __init__(self, most=1000):
        self.left = most

    def say(self, text):
        self.left -= 1
        return text

    def choose(self, texts):
        return self.say(texts[0])

    def grow(self, fits, ends):
        piece = next((piece for piece in ("Zürich", "7") if fits(piece)), "")
        if piece:
            yield self.say(piece)

    def full(self):
        return self.left <= 0


class Parrot:
    """Repeats what it is told, or fails in the way it is told to."""

    known, written, cut = 0, 0, False

    def read(self, messages):
        self.said = messages[-1]["content"]
        self.written = 0
        if "too long" in self.said:
            raise TooLong(9000, 8192)
        yield len(messages), len(messages)

    def write(self, order):
        self.cut = False
        words = values(order.schema, order.schema, FirstOf(order.max_tokens)) if order.schema else self._words()
        for word in words:
            self.written += 1
            self.cut = self.written >= order.max_tokens
            yield word
            if self.cut:
                return

    def _words(self):
        for word in self.said.split(" "):
            yield f"{word} "
        if "for ever" in self.said:
            while True:
                time.sleep(0.005)
                yield "and on "
        for way, number in SIGNALS.items():
            if way in self.said:
                os.kill(os.getpid(), number)


def main(mode):
    if mode == "broken":
        sys.exit("libgomp.so.1: cannot open shared object file")
    if mode in SIGNALS:
        os.kill(os.getpid(), SIGNALS[mode])
    order = json.loads(sys.stdin.buffer.readline() or b"null")
    if order is None:
        return
    assert Path(order["weights"]).read_bytes() == b"tiny weights"
    endpoint = Endpoint(Parrot(), order["key"], order["name"])
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    print(json.dumps({"port": endpoint.port, "slots": int(os.environ.get("SLOTS", "1"))}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
