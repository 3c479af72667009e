"""Live view of an actor with ANSI sequences, legible on dark and light backgrounds."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.play.frame import FrameBuilder, Line
from antiphon.cli.render.gate import draw
from antiphon.cli.render.text_width import sanitize_line

ESCAPE = "\x1b["
HIDE, SHOW, CLEAR_LINE, CLEAR_SCREEN, RESET = (f"{ESCAPE}{code}" for code in ("?25l", "?25h", "K", "2J", "0m"))
# Colours halfway between black and white have a contrast of about 4.5 : 1 on both.
COLOURS = {"brand": "1;38;5;30", "lit": "38;5;28", "event": "38;5;130", "wrong": "1;38;5;160"}
WEIGHTS = {"strong": "1", "active": "1;7", "quiet": "2", "rule": "2"}
ASCII = str.maketrans({"●": "*", "○": "-", "─": "-", "→": ">", "×": "x", "…": "~", "–": "-"})


class Screen:
    """Draws an actor in place; the last frame stays when it closes."""

    def __init__(
        self,
        machine: Machine[Any, Any],
        write: Callable[[str], Any],
        *,
        prompt: bool = False,
        encoding: str = "utf-8",
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._write = write
        self._prompt = prompt
        self._frame = FrameBuilder(machine)
        self._styles = WEIGHTS if environment.get("NO_COLOR") else {**WEIGHTS, **COLOURS}
        self._is_plain_text = not encoding.lower().replace("-", "").startswith("utf")
        self._drawn: list[str] = []
        self._size = shutil.get_terminal_size()
        if not prompt:
            write(HIDE)

    def show(self, step: PlayedStep) -> None:
        """Add a step to the next frame."""
        self._frame.add(step)

    def refresh(self, now_ms: float) -> None:
        """Draw the lines that have changed."""
        self._frame.now_ms = now_ms
        size = shutil.get_terminal_size()
        frame = self._frame.frame(max(20, size.columns - 1), max(6, size.lines - 2))
        lines = [self._paint(line) for line in frame]
        if not lines:
            return
        begin = ""
        if size != self._size:
            # The terminal may have wrapped lines, so the position of the frame is unknown.
            begin = f"{CLEAR_SCREEN}{ESCAPE}H"
            self._size = size
            self._drawn = []
        self._write(begin + self._changes(lines))

    def on_line(self, problem: str | None) -> None:
        """Return to the line of the prompt, which the user has left by pressing Enter."""
        self._frame.problem = problem
        self._write(f"{ESCAPE}1A\r{CLEAR_LINE}> ")

    def close(self) -> None:
        """Keep the last frame and show the cursor."""
        self._write(("\r" + CLEAR_LINE if self._prompt else "") + RESET + SHOW)

    def _changes(self, lines: list[str]) -> str:
        previous = self._drawn
        self._drawn = lines
        if len(previous) != len(lines):
            up = f"\r{ESCAPE}{len(previous)}A" if previous else ""
            drawn = "".join(f"{line}{CLEAR_LINE}\n" for line in lines)
            return f"{up}{drawn}{ESCAPE}J{'> ' if self._prompt else ''}"
        changed = [
            f"{ESCAPE}{len(lines) - at}A\r{line}{CLEAR_LINE}{ESCAPE}{len(lines) - at}B"
            for at, line in enumerate(lines)
            if line != previous[at]
        ]
        # The user may be typing, so the cursor position is restored.
        return f"{ESCAPE[0]}7{''.join(changed)}{ESCAPE[0]}8" if changed else ""

    def _paint(self, line: Line) -> str:
        text = "".join(self._paint_piece(text, style) for text, style in line if text)
        return text.translate(ASCII) if self._is_plain_text else text

    def _paint_piece(self, text: str, style: str) -> str:
        code = self._styles.get(style)
        text = sanitize_line(text)
        if code is None:
            return text
        # Padding has no style of its own, because reversed or underlined pieces would show it.
        return f"{ESCAPE}{code}m{text}{RESET}"


def draw_frame(text: str) -> None:
    """Write a frame with its sequences to standard output."""
    draw(sys.stdout, text)
