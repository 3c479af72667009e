"""Delimiters of roles, broken in texts: a text that has them could pass as the message of another role."""

import re
from typing import Any

# Delimiters of the usual forms: <s>, </s>, <|im_start|>, <start_of_turn>, [INST].
BRACKETED = re.compile(r"<[^<>\[\]\s]{1,80}>|\[[^<>\[\]\s]{1,80}\]")
# Delimiters of any other form are compared one by one.
MOST_OTHERS = 200
ANY_FILE = re.compile(r"<(?=\|)")


class Delimiters:
    """Delimiters of one model."""

    __slots__ = ("_bracketed", "_others")

    def __init__(self, tokens: frozenset[str] = frozenset()) -> None:
        self._bracketed = frozenset(token for token in tokens if BRACKETED.fullmatch(token))
        others = sorted(tokens - self._bracketed, key=len, reverse=True)[:MOST_OTHERS]
        self._others = re.compile("|".join(map(re.escape, others))) if others else None

    def break_text(self, text: str) -> str:
        """Insert a space after the first character of every delimiter."""
        text = ANY_FILE.sub("< ", text)
        if self._bracketed:
            text = BRACKETED.sub(self._break_known, text)
        return self._others.sub(_break, text) if self._others is not None else text

    def break_in(self, value: Any) -> Any:
        """Break the delimiters in all texts of a JSON value."""
        if isinstance(value, str):
            return self.break_text(value)
        if isinstance(value, list):
            return [self.break_in(item) for item in value]
        if isinstance(value, dict):
            return {key: self.break_in(item) for key, item in value.items()}
        return value

    def _break_known(self, match: re.Match[str]) -> str:
        return _break(match) if match[0] in self._bracketed else match[0]


def _break(match: re.Match[str]) -> str:
    return f"{match[0][0]} {match[0][1:]}"
