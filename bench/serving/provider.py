"""A provider whose words say when they were sent: `python -m serving.provider WORDS`.

It speaks like OpenAI, and each stream gets a word every 50 ms: its number and the microseconds of the clock that all
processes of the computer share, as in `17@5041234567 `.
"""

from __future__ import annotations

import sys
from time import monotonic_ns

from antiphon.testing.fake_llm.chat_encoder import ChatEncoder
from relays.pacer import END, HEAD, Pacer
from serving.provider_words import MODEL

MARK = "@@@"


def chunk(frame: bytes) -> bytes:
    """A frame as a chunk of HTTP."""
    return b"%x\r\n%b\r\n" % (len(frame), frame)


class StampedPacer(Pacer):
    """Words with the time at which they are sent."""

    def __init__(self, words: int) -> None:
        super().__init__(words)
        encoder = ChatEncoder(MODEL, "compatible", usage_requested=True)
        self._before, self._after = b"".join(encoder.words(MARK)).split(MARK.encode())
        self._begin = HEAD + b"".join(chunk(frame) for frame in encoder.begin())
        self._end = b"".join(chunk(frame) for frame in encoder.end("end", usage=True)) + END

    def _frame(self, at: int) -> bytes:
        word = chunk(b"%b%d@%d %b" % (self._before, at, monotonic_ns() // 1000, self._after))
        if at == 0:
            return self._begin + word
        return word + self._end if at + 1 == len(self._frames) else word


if __name__ == "__main__":
    StampedPacer(int(sys.argv[1])).serve()
