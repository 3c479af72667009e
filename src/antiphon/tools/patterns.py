r"""Patterns for tools, calls and commands: `*` matches anything, `\*` a star, everything else itself."""

import re
from functools import lru_cache

# Excludes what could begin a second command, so that `git *` does not allow `git status; rm -rf /`.
NO_SECOND_COMMAND = r"[^;&|<>$`()\n\r]*"


def matches(pattern: str, text: str, *, careful: bool = False) -> bool:
    """Return whether a text matches a pattern; with `careful`, `*` does not match the start of a second command."""
    return _compile_pattern(pattern, careful).fullmatch(text) is not None


def escape_pattern(text: str) -> str:
    """Return a pattern that matches exactly this text."""
    return text.replace("\\", "\\\\").replace("*", "\\*")


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str, careful: bool) -> re.Pattern[str]:
    anything = NO_SECOND_COMMAND if careful else ".*"
    pieces = re.findall(r"\\.|\*|[^*\\]+|\\$", pattern, re.DOTALL)
    return re.compile("".join(anything if piece == "*" else re.escape(_plain(piece)) for piece in pieces), re.DOTALL)


def _plain(piece: str) -> str:
    return piece[1:] if piece in ("\\*", "\\\\") else piece
