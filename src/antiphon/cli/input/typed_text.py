"""Words that a person types or pipes in, as texts that can be stored and sent."""

import io
import re
import sys

UNREADABLE = re.compile("[\x00\ud800-\udfff]")
REPLACED = "bytes that are not UTF-8, or NUL, were replaced by \ufffd"


def replace_unreadable(text: str) -> str:
    """Return a text with the replacement character for NUL and for each byte that is not UTF-8."""
    return UNREADABLE.sub("\ufffd", text)


def read_piped(most: int = -1) -> str:
    """Read what is piped in, at most so many characters; `replace_unreadable` finds the bytes that are not UTF-8."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdin.read(most)
