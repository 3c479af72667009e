"""Markdown on a terminal: words are never split, code is not reflowed, and a table that is too wide becomes a list."""

from collections.abc import Iterator
from typing import ClassVar

from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from antiphon.cli.render.markdown_stream import DEEPEST, MarkdownBlock, markdown_parser

PROSE_COLUMNS = 100
UNLIMITED = 100_000  # columns of code that is printed as it is
CODE_THEME = "ansi_dark"
COLUMNS_PER_LEVEL = 4  # of nested Markdown: two for its mark, two for its text


class UnwrappedCode(CodeBlock):
    """Code whose lines are as long as they are; within a list they are cut at its edge."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        text = Syntax(code, self.lexer_name, theme=CODE_THEME).highlight(code)
        for line in text.split("\n", allow_blank=True):
            yield from _fold(line, options.max_width)


class WordTable(TableElement):
    """Table whose columns are at least as wide as their words; a list of its cells where that is too wide."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = next(iter(super().__rich_console__(console, options)))
        assert isinstance(table, Table)
        for column in table.columns:
            column.overflow = "fold"
            cells = [cell for cell in column.cells if isinstance(cell, Text)]
            column.justify = cells[-1].justify or "left" if cells else "left"
            column.min_width = max((_longest_word(cell) for cell in cells), default=1)
        if Measurement.get(console, options.update(width=UNLIMITED), table).minimum <= options.max_width:
            yield table
            return
        headers = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        for number, row in enumerate(self.body.rows if self.body else ()):
            if number:
                yield Text("")
            for header, cell in zip(headers, row.cells, strict=False):
                yield Text.assemble((f"{header.plain}: ", "markdown.table.header"), cell.content)


class ReplyMarkdown(Markdown):
    """Markdown of a reply; a link is shown with its address, so that its text cannot hide where it leads."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": UnwrappedCode,
        "code_block": UnwrappedCode,
        "table_open": WordTable,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text, hyperlinks=False)
        self.parsed = markdown_parser().parse(text)
        for token in self.parsed:
            if token.children:
                token.children = list(_without_autolinks(token.children))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        depth = max((token.level for token in self.parsed), default=0)
        # What is nested deeper has no columns left, or was dropped by the parser.
        if depth > min(options.max_width // COLUMNS_PER_LEVEL, DEEPEST - 1):
            yield Text(self.markup)
        else:
            yield from super().__rich_console__(console, options)


def block_lines(console: Console, block: MarkdownBlock) -> list[list[Segment]]:
    """Render a block: prose in lines of 100 columns at most, tables as wide as the screen, code as wide as it is."""
    columns = {"prose": min(console.width, PROSE_COLUMNS), "table": console.width, "code": UNLIMITED}
    return render_lines(console, ReplyMarkdown(block.text), columns[block.kind])


def render_lines(console: Console, renderable: Text | Markdown, columns: int) -> list[list[Segment]]:
    """Render text in lines of at most `columns`, without spaces at their ends and blank lines around it."""
    options = console.options.update(width=columns)
    lines = [_strip(line) for line in console.render_lines(renderable, options, pad=False)]
    numbers = [number for number, line in enumerate(lines) if line]
    return lines[numbers[0] : numbers[-1] + 1] if numbers else []


def _without_autolinks(tokens: list[Token]) -> Iterator[Token]:
    """Yield tokens without the links whose text is their address."""
    is_inside = False
    for token in tokens:
        if token.type == "link_open" and token.markup == "autolink":
            is_inside = True
        elif token.type == "link_close" and is_inside:
            is_inside = False
        else:
            yield token


def _strip(line: list[Segment]) -> list[Segment]:
    """Return a line without the spaces at its end."""
    end = len(line)
    while end and not line[end - 1].text.strip():
        end -= 1
    if not end:
        return []
    last = line[end - 1]
    return [*line[: end - 1], Segment(last.text.rstrip(), last.style, last.control)]


def _fold(line: Text, columns: int) -> list[Text]:
    """Cut a line into pieces of at most `columns`."""
    line.no_wrap = True
    line.overflow = "ignore"
    if cell_len(line.plain) <= columns:
        return [line]
    offsets: list[int] = []
    cells = 0
    for index, character in enumerate(line.plain):
        if cells + cell_len(character) > columns and cells:
            offsets.append(index)
            cells = 0
        cells += cell_len(character)
    return list(line.divide(offsets))


def _longest_word(text: Text) -> int:
    return max((cell_len(word) for word in text.plain.split()), default=1)
