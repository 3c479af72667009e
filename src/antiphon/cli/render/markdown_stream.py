"""Incremental splitting of Markdown into finished blocks and one unfinished block.

A block ends at a blank line, unless the next line is indented and belongs to its list; a fence ends where it is
closed. A long fence is split into several blocks, so that the unfinished block stays small.
"""

import re

FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
LIST = re.compile(r"\s{0,3}([-*+]|\d{1,9}[.)])\s")
HEADING = re.compile(r"#{1,6}\s")
LONGEST_FENCE = 60  # lines


class MarkdownStream:
    """Splits streamed Markdown into blocks, in time linear in its length."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # of the unfinished block
        self._pieces: list[str] = []  # of the unfinished line
        self._fence: str | None = None
        self._is_gap = False  # the last line was blank
        self._is_continuation = False  # the fence continues that of the previous block
        self._finished: list[str] = []

    def feed(self, text: str) -> list[str]:
        """Add text and return the blocks that it finishes."""
        *lines, unfinished = text.split("\n")
        for line in lines:
            self._pieces.append(line)
            self._add_line("".join(self._pieces))
            self._pieces.clear()
        if unfinished:
            self._pieces.append(unfinished)
        return self._pop_finished()

    def end(self) -> list[str]:
        """End the text and return the remaining blocks."""
        if self._pieces:
            self._add_line("".join(self._pieces))
            self._pieces.clear()
        self._finish()
        self._fence = None
        return self._pop_finished()

    def growing(self, most: int) -> str:
        """Return up to `most` characters from the end of the unfinished block."""
        self._pieces = ["".join(self._pieces)] if self._pieces else []
        tail = self._pieces[:]
        length = sum(map(len, tail))
        for line in reversed(self._lines):
            if length > most:
                break
            tail.append(line)
            length += len(line) + 1
        return "\n".join(reversed(tail))[-most:]

    @property
    def is_code(self) -> bool:
        """True inside a fence."""
        return self._fence is not None

    def _pop_finished(self) -> list[str]:
        finished = self._finished
        self._finished = []
        return finished

    def _add_line(self, line: str) -> None:
        if self._fence is not None:
            self._add_code_line(line)
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

    def _add_code_line(self, line: str) -> None:
        assert self._fence is not None
        self._lines.append(line)
        bare = line.strip()
        if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence = None
            if self._is_continuation and len(self._lines) == 2:
                self._lines = []  # the previous blocks contain all of it
            if not self._is_list:
                self._finish()
        elif len(self._lines) > LONGEST_FENCE and not self._is_list:
            first = self._lines[0]
            self._lines.append(self._fence)
            self._finish()
            self._lines = [first]
            self._is_continuation = True

    @property
    def _is_list(self) -> bool:
        return bool(self._lines) and LIST.match(self._lines[0]) is not None

    def _finish(self) -> None:
        block = "\n".join(self._lines).strip("\n")
        if block.strip():
            self._finished.append(block)
        self._lines = []
        self._is_gap = False
        self._is_continuation = False
