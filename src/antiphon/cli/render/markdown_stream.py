"""Markdown that grows, as finished blocks and one unfinished block.

1. A block is finished when another begins, or when nothing that follows can belong to it.
2. A long fence is given in pieces that are fences themselves, a long list in pieces of whole items, so that the
   unfinished block stays small.
3. The unfinished block is parsed when a line may have ended it, and otherwise only once it has grown by a quarter, so
   that the cost grows with the length of the text.
"""

import re
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
LISTS = ("bullet_list_open", "ordered_list_open")
# Blocks that can go on after a blank line.
OPEN_ENDED = (*LISTS, "code_block")
BlockKind = Literal["prose", "code", "table"]
KINDS: dict[str, BlockKind] = {"fence": "code", "code_block": "code", "table_open": "table"}
LONGEST_FENCE = 60  # lines
LONGEST_LIST = 8  # lines
DEEPEST = 40  # levels of tokens; the parser drops what is nested deeper


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block of Markdown."""

    text: str
    kind: BlockKind = "prose"
    continues: bool = False
    """True if it is a further piece of the block before it."""


class MarkdownStream:
    """Splits streamed Markdown into blocks."""

    def __init__(self) -> None:
        self._parser = markdown_parser()
        self._lines: list[str] = []  # of the unfinished block
        self._pieces: list[str] = []  # of the unfinished line
        self._finished: list[MarkdownBlock] = []
        self._parse_at = 1  # lines from which on the unfinished block is parsed again
        self._kind = ""  # type of the unfinished block
        self._continues = False

    def feed(self, text: str) -> list[MarkdownBlock]:
        """Add text and return the blocks that it finishes."""
        *lines, unfinished = text.split("\n")
        for line in lines:
            self._pieces.append(line)
            self._add_line("".join(self._pieces))
            self._pieces.clear()
        if unfinished:
            self._pieces.append(unfinished)
        return self._pop_finished()

    def end(self) -> list[MarkdownBlock]:
        """End the text and return the remaining blocks."""
        if self._pieces:
            self._lines.append("".join(self._pieces))
            self._pieces.clear()
        tokens = self._parse()
        for token in tokens:
            self._finish(token, token.map or [0, 0])
        self._begin([])
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

    def cut(self, length: int) -> None:
        """Forget so many characters of the unfinished block, of which they are a finished piece."""
        *lines, piece = "\n".join([*self._lines, "".join(self._pieces)])[length:].lstrip().split("\n")
        self._begin(lines, continues=True, kind="paragraph")
        self._pieces = [piece]

    @property
    def is_code(self) -> bool:
        """True inside a fence."""
        return self._kind == "fence"

    @property
    def is_continuation(self) -> bool:
        """True if the unfinished block is a further piece of the block before it."""
        return self._continues

    def _pop_finished(self) -> list[MarkdownBlock]:
        finished = self._finished
        self._finished = []
        return finished

    def _add_line(self, line: str) -> None:
        if not self._lines and not line.strip():
            return
        self._lines.append(line)
        if len(self._lines) >= self._parse_at or not line.strip() or FENCE.match(line):
            self._advance()
            self._parse_at = len(self._lines) + 1 + len(self._lines) // 4

    def _advance(self) -> None:
        """Finish the blocks that are complete."""
        tokens = self._parse()
        for number, token in enumerate(tokens):
            start, end = token.map or [0, 0]
            is_last = number == len(tokens) - 1
            if is_last and (token.type in OPEN_ENDED or end >= len(self._lines)):
                self._grow(token, start)
                return
            self._finish(token, [start, end])
        self._begin([])

    def _grow(self, token: Token, start: int) -> None:
        """Keep the last block, without pieces of it that are finished."""
        is_same = start == 0
        lines = self._lines[start:]
        self._begin(lines, continues=self._continues and is_same, kind=token.type)
        if token.type == "fence" and len(lines) > LONGEST_FENCE:
            self._add(MarkdownBlock("\n".join([*lines, token.markup]), "code", self._continues))
            self._begin(lines[:1], continues=True, kind=token.type)
        elif token.type in LISTS and len(lines) > LONGEST_LIST:
            self._split_list()

    def _split_list(self) -> None:
        """Finish all items but the last."""
        tokens = self._tokens()
        items = [token.map[0] for token in tokens if token.type == "list_item_open" and token.level == 1 and token.map]
        if len(items) > 1:
            self._add(MarkdownBlock("\n".join(self._lines[: items[-1]]).rstrip(), continues=self._continues))
            self._begin(self._lines[items[-1] :], continues=True, kind=self._kind)

    def _parse(self) -> list[Token]:
        """Return the blocks of the lines, each by the token that opens it."""
        return [token for token in self._tokens() if token.level == 0 and token.nesting >= 0 and token.map is not None]

    def _tokens(self) -> list[Token]:
        tokens: list[Token] = []
        # With the end of the last line, so that a blank one counts.
        self._parser.block.parse("\n".join([*self._lines, ""]), self._parser, {}, tokens)
        return tokens

    def _finish(self, token: Token, place: list[int]) -> None:
        text = "\n".join(self._lines[place[0] : place[1]]).strip("\n").rstrip()
        is_empty = token.type == "fence" and self._continues and place[0] == 0 and not token.content
        if not is_empty:
            self._add(MarkdownBlock(text, KINDS.get(token.type, "prose"), self._continues and place[0] == 0))

    def _add(self, block: MarkdownBlock) -> None:
        if block.text.strip():
            self._finished.append(block)

    def _begin(self, lines: list[str], *, continues: bool = False, kind: str = "") -> None:
        self._lines = lines
        self._continues = continues
        self._kind = kind
        self._parse_at = 1


def markdown_parser() -> MarkdownIt:
    """Return the parser of replies.

    Definitions of links are shown, since the links may be in other blocks, and tags of HTML are text.
    """
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    return parser.enable(["table", "strikethrough"]).disable("reference")
