"""Record the commands in a real terminal and draw its last screen as docs/images/*.svg.

`make images` runs it. Only the wall clock times in the pictures differ between two runs.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Self

import pyte
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DEADLINE_S = 60
COLUMNS = 88
LINES = 60
# The fonts of rich's template lie on another host; a monospace font of the reader is as good.
SVG_FORMAT = re.sub(r"@font-face \{\{.*?\n    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)
FAINT = {2: 90}  # "faint" is shown as the colour "bright black"
COLOURS = {"brown": "yellow"}  # pyte's word for the third colour of a terminal


class FaintScreen(pyte.Screen):
    """A screen that shows faint text in grey; pyte knows no faint text."""

    def select_graphic_rendition(self, *attributes: int, **options: Any) -> None:
        """Set the attributes of the text that follows."""
        super().select_graphic_rendition(*(FAINT.get(attribute, attribute) for attribute in attributes), **options)


class Recording:
    """A command in a pseudo-terminal, and the screen that it draws on."""

    def __init__(self, *arguments: str, store: Path) -> None:
        self._file, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        settings = {"TERM": "xterm-256color", "ANTIPHON_STORE": str(store / "store.db"), "HOME": str(store)}
        hidden = ("COLUMNS", "LINES", "NO_COLOR")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "antiphon", *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**{key: value for key, value in os.environ.items() if key not in hidden}, **settings},
            start_new_session=True,
        )
        os.close(terminal)
        self._screen = FaintScreen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._file)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._file, text.encode() + b"\r")

    def wait_for(self, text: str, count: int = 1) -> None:
        """Read until a text stands on the screen so many times."""
        deadline = time.monotonic() + DEADLINE_S
        while "\n".join(self._screen.display).count(text) < count:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0 or not select.select([self._file], [], [], remaining_s)[0]:
                raise TimeoutError(f"{text!r} did not appear; the screen:\n" + "\n".join(self._screen.display))
            self._stream.feed(os.read(self._file, 65536))

    def lines(self) -> Iterator[Text]:
        """Yield the lines of the screen with their colours, without the empty ones at the end."""
        last = max(number for number, line in enumerate(self._screen.display) if line.strip())
        for number in range(last + 1):
            row = self._screen.buffer[number]
            cells = [row[column] for column in range(COLUMNS)]
            line = Text(no_wrap=True, end="")
            for style, group in groupby(cells, key=style_of):
                line.append("".join(cell.data for cell in group), style)
            line.rstrip()
            yield line


def style_of(cell: Any) -> Style:
    """Return the style of a cell of pyte's screen."""
    return Style(
        color=colour_of(cell.fg),
        bgcolor=colour_of(cell.bg),
        bold=cell.bold,
        italic=cell.italics,
        underline=cell.underscore,
        reverse=cell.reverse,
    )


def colour_of(name: str) -> str | None:
    """Return rich's name of a colour of pyte."""
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    if name.startswith("bright"):
        return f"bright_{COLOURS.get(name[6:], name[6:])}"
    return COLOURS.get(name, name)


def draw(name: str, title: str, lines: list[Text]) -> None:
    """Write a picture of a terminal with these lines."""
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="truecolor")
        for line in (*lines, Text()):  # the last line would be cut at its lower end
            console.print(line)
        svg = console.export_svg(title=title, theme=DIMMED_MONOKAI, code_format=SVG_FORMAT, unique_id=name)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


def record_chat(store: Path) -> list[Text]:
    """Greet the script, ask for a plan, and begin a branch that leaves the plan out."""
    with Recording("chat", "-m", "scripted:chat", store=store) as terminal:
        terminal.wait_for("> ")
        for number, question in enumerate(("Hello", "Give me a plan for April"), start=1):
            terminal.type(question)
            terminal.wait_for("first token after", number)
        terminal.type("/fork balcony 1")
        terminal.wait_for("balcony> ")
        terminal.type("I have no garden, only a balcony")
        terminal.wait_for("first token after", 3)
        terminal.wait_for("balcony> ", 2)
        terminal.type("/branches")
        terminal.wait_for("balcony> ", 3)
        terminal.wait_for("main")
        return list(terminal.lines())[:-1]


def record_approval(store: Path) -> list[Text]:
    """Let agents work until they ask whether they may write a file."""
    folder = store / "work"
    folder.mkdir()
    options = ("-m", "scripted:agents", "--workspace", str(folder))
    with Recording("run", *options, "Write greet.py with tests", store=store) as terminal:
        terminal.wait_for("allow? > ")
        lines = list(terminal.lines())
        # Above it are the id of the run and the path of its folder.
        return lines[next(number for number, line in enumerate(lines) if line.plain.startswith("2. ")) :]


def record_debate(store: Path) -> list[Text]:
    """Hold a debate up to the middle of its first round."""
    topic = "Should a city close its centre to private cars?"
    with Recording("debate", topic, "-m", "scripted:debate", "--rounds", "3", store=store) as terminal:
        terminal.wait_for("◉ round 1")
        terminal.wait_for("Every permit is")
        return list(terminal.lines())


def main() -> None:
    """Record all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        draw("chat", "antiphon chat -m scripted:chat", record_chat(Path(folder)))
        draw("approval", "antiphon run -m scripted:agents", record_approval(Path(folder)))
        draw("debate", "antiphon debate -m scripted:debate", record_debate(Path(folder)))


if __name__ == "__main__":
    main()
