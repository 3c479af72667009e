"""Markdown as it arrives: blocks that are finished, and the one that still grows.

A block ends with a blank line, unless what follows is indented and belongs to its list; a fence ends where it is
closed. A fence that grows too long is given in pieces, so that what still grows stays small.
"""

import re

FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
LIST = re.compile(r"\s{0,3}([-*+]|\d{1,9}[.)])\s")
HEADING = re.compile(r"#{1,6}\s")
LONGEST_FENCE = 60  # lines


class Blocks:
    """Takes pieces of Markdown in any size; the work grows with their length, not with what came before."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # of the block that grows
        self._pieces: list[str] = []  # of the line that grows
        self._fence: str | None = None
        self._is_gap = False  # the last line was blank
        self._is_piece = False  # the fence goes on from the block before
        self._finished: list[str] = []

    def feed(self, text: str) -> list[str]:
        """Take a piece; gives the blocks that are finished by it."""
        *whole, rest = text.split("\n")
        for line in whole:
            self._pieces.append(line)
            self._take("".join(self._pieces))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)
        return self._given()

    def end(self) -> list[str]:
        """Nothing more comes; gives what is left."""
        if self._pieces:
            self._take("".join(self._pieces))
            self._pieces.clear()
        self._finish()
        self._fence = None
        return self._given()

    def growing(self, most: int) -> str:
        """The end of the block that grows."""
        self._pieces = ["".join(self._pieces)] if self._pieces else []
        found = self._pieces[:]
        length = sum(map(len, found))
        for line in reversed(self._lines):
            if length > most:
                break
            found.append(line)
            length += len(line) + 1
        return "\n".join(reversed(found))[-most:]

    @property
    def is_code(self) -> bool:
        """Whether a fence is open."""
        return self._fence is not None

    def _given(self) -> list[str]:
        given, self._finished = self._finished, []
        return given

    def _take(self, line: str) -> None:
        if self._fence is not None:
            self._take_code(line)
            return
        if not line.strip():
            if self._is_list:
                self._is_gap = True
                self._lines.append(line)
            else:
                self._finish()
            return
        belongs = self._is_list and line[0] in " \t"
        fence = FENCE.fullmatch(line)
        if (self._is_gap or fence or HEADING.match(line)) and not belongs:
            self._finish()
        self._is_gap = False
        self._lines.append(line)
        if fence:
            self._fence = fence[1]
        elif HEADING.match(line) and not belongs:
            self._finish()

    def _take_code(self, line: str) -> None:
        assert self._fence is not None
        self._lines.append(line)
        bare = line.strip()
        if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence = None
            if self._is_piece and len(self._lines) == 2:
                self._lines = []  # all of it is in the pieces before
            if not self._is_list:
                self._finish()
        elif len(self._lines) > LONGEST_FENCE and not self._is_list:
            first = self._lines[0]
            self._lines.append(self._fence)
            self._finish()
            self._lines, self._is_piece = [first], True

    @property
    def _is_list(self) -> bool:
        return bool(self._lines) and LIST.match(self._lines[0]) is not None

    def _finish(self) -> None:
        block = "\n".join(self._lines).strip("\n")
        if block.strip():
            self._finished.append(block)
        self._lines, self._is_gap, self._is_piece = [], False, False
