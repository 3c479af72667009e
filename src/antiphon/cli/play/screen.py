"""A picture that changes in place, in any terminal that knows ANSI, on dark and on light ground."""

import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.cli.play.feed import Step
from antiphon.cli.play.frame import Line, Picture

ESCAPE = "\x1b["
HIDE, SHOW, CLEAR_LINE, CLEAR_SCREEN, RESET = (f"{ESCAPE}{code}" for code in ("?25l", "?25h", "K", "2J", "0m"))
# Tones halfway between black and white, so that each has a contrast of about 4.5 : 1 on either.
COLOURS = {"brand": "1;38;5;30", "lit": "38;5;28", "event": "38;5;130", "wrong": "1;38;5;160"}
WEIGHTS = {"strong": "1", "active": "1;7", "quiet": "2", "rule": "2"}
ASCII = str.maketrans({"●": "*", "○": "-", "─": "-", "→": ">", "×": "x", "…": "~", "–": "-"})


class Screen:
    """Shows an actor live; what it drew last stays when it closes."""

    def __init__(
        self,
        machine: Machine[Any, Any],
        write: Callable[[str], Any],
        *,
        prompt: bool = False,
        encoding: str = "utf-8",
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._write, self._prompt = write, prompt
        self._picture = Picture(machine)
        self._styles = WEIGHTS if environment.get("NO_COLOR") else {**WEIGHTS, **COLOURS}
        self._is_plain_text = not encoding.lower().replace("-", "").startswith("utf")
        self._drawn: list[str] = []
        self._size = shutil.get_terminal_size()
        if not prompt:
            write(HIDE)

    def show(self, step: Step) -> None:
        """Show one more step."""
        self._picture.add(step)

    def refresh(self, now_ms: float) -> None:
        """Draw what has changed since the last time."""
        self._picture.now_ms = now_ms
        size = shutil.get_terminal_size()
        frame = self._picture.frame(max(20, size.columns - 1), max(6, size.lines - 2))
        lines = [self._painted(line) for line in frame]
        if not lines:
            return
        begin = ""
        if size != self._size:
            # Lines may have been wrapped by the terminal, so nobody knows where the picture is.
            begin, self._size, self._drawn = f"{CLEAR_SCREEN}{ESCAPE}H", size, []
        self._write(begin + self._changes(lines))

    def typed(self, problem: str | None) -> None:
        """Go back to the line of the prompt, which the user has left by pressing return."""
        self._picture.problem = problem
        self._write(f"{ESCAPE}1A\r{CLEAR_LINE}> ")

    def close(self) -> None:
        """Leave the picture where it is and give the cursor back."""
        self._write(("\r" + CLEAR_LINE if self._prompt else "") + RESET + SHOW)

    def _changes(self, lines: list[str]) -> str:
        before, self._drawn = self._drawn, lines
        if len(before) != len(lines):
            up = f"\r{ESCAPE}{len(before)}A" if before else ""
            drawn = "".join(f"{line}{CLEAR_LINE}\n" for line in lines)
            return f"{up}{drawn}{ESCAPE}J{'> ' if self._prompt else ''}"
        moved = [
            f"{ESCAPE}{len(lines) - at}A\r{line}{CLEAR_LINE}{ESCAPE}{len(lines) - at}B"
            for at, line in enumerate(lines)
            if line != before[at]
        ]
        # A prompt may have been half typed, so the cursor goes back to where it was.
        return f"{ESCAPE[0]}7{''.join(moved)}{ESCAPE[0]}8" if moved else ""

    def _painted(self, line: Line) -> str:
        text = "".join(self._piece(text, style) for text, style in line if text)
        return text.translate(ASCII) if self._is_plain_text else text

    def _piece(self, text: str, style: str) -> str:
        code = self._styles.get(style)
        if code is None:
            return text
        # Padding is not painted, or reversed and underlined pieces would show it.
        return f"{ESCAPE}{code}m{text}{RESET}"
