"""Output of a run: its view, the answerer for its agents, and its result."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from shutil import get_terminal_size
from typing import Any, NoReturn

from antiphon.cli.default_model import describe
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED
from antiphon.cli.input.lines import TerminalLines
from antiphon.cli.input.signals import Signals
from antiphon.cli.permission_prompt import Answerer, TerminalAnswerer, UnattendedAnswerer
from antiphon.cli.render.json_output import JsonOutput
from antiphon.cli.render.plain import NullView, PlainView, TextView, can_draw, write
from antiphon.cli.render.text_width import sanitize_lines
from antiphon.cli.run.dashboard import Dashboard
from antiphon.cli.run.printer import RunPrinter
from antiphon.cli.run.spec import RunSpec

UNATTENDED = "no user to ask: calls that need permission are denied; --mode auto-edit or auto allows more"
NOT_DONE: Mapping[str, str] = {
    "cancelled": "cancelled; changes so far are kept",
    "max_iterations": "not done: iteration limit reached (--max-iterations)",
    "cost_limit": "not done: cost limit reached (--max-cost)",
    "wall_time": "not done: time limit reached (--max-time)",
}
HINTS: Mapping[str, str] = {"denied": "; the reasons are above, and --mode auto-edit or auto allows more"}
MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class RunOutput:
    """The view of a run with its dashboard, its answerer, and its verbosity."""

    view: TextView
    dashboard: Dashboard
    printer: RunPrinter
    answerer: Answerer
    has_user: bool = False
    json: JsonOutput | None = None
    is_quiet: bool = False
    is_default_model: bool = False
    started_at: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, options: argparse.Namespace, signals: Signals) -> "RunOutput":
        """Return the output for the options and the standard streams."""
        dashboard = Dashboard()
        has_user = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty()) and not options.json
        started_at = time.monotonic()
        if options.json or options.quiet:
            view: TextView = NullView()
        elif sys.stdout.isatty():
            view = _rich_view(dashboard, started_at) or PlainView(sys.stdout)
        else:
            view = PlainView(sys.stderr)
        is_drawn = not isinstance(view, PlainView)
        request_view = PlainView(sys.stderr) if options.quiet and not options.json else view
        answerer = (
            TerminalAnswerer(TerminalLines(signals), request_view) if has_user else UnattendedAnswerer(request_view)
        )
        json = JsonOutput(sys.stdout) if options.json else None
        printer = RunPrinter(view, dashboard, is_drawn=is_drawn)
        return cls(view, dashboard, printer, answerer, has_user, json, options.quiet, options.model is None, started_at)

    def greet(self, id: str, spec: RunSpec, mode: str, problems: tuple[str, ...], no_undo: str | None) -> None:
        """Print the id, mode, workspace and model of the run, problems of its tools, and a line if undo is off."""
        model = spec.choice or describe(spec.settings["model"])
        self.view.line(f"run {id} · mode {mode} · in {spec.workspace}", "title")
        self.view.line(model.summary)
        if model.hint and self.is_default_model:
            self.view.line(model.hint)
        for problem in problems:
            self.view.line(problem, "error")
        if no_undo is not None:
            self.view.line(f"warning: {no_undo}", "warning")
        if not self.has_user and mode.startswith("ask"):
            self.view.line(UNATTENDED, "error")

    def end(self, id: str, status: str, result: Mapping[str, Any] | None) -> int:
        """Print the result and return the exit code."""
        code = exit_code(status, result)
        if self.json is not None:
            self.json.end({"run": id, "status": status, **(result or {}), "exit": code})
            return code
        summary = _summary(result)
        if self.is_quiet or not sys.stdout.isatty():
            write(sys.stdout, summary + "\n" if summary else "")
            if code != DONE:
                PlainView(sys.stderr).line(_ending(id, status, result))
            elif not self.is_quiet:
                self.view.line(self.dashboard.meters())
            return code
        self.view.line("")
        for line, tone in self.dashboard.steps(get_terminal_size().columns - 1, most=MOST_STEPS):
            self.view.line(line.rstrip(), tone)
        if summary:
            self.view.markdown(summary)
        self.view.line(_ending(id, status, result), "title" if code == DONE else "error")
        self.view.line(self.dashboard.meters())
        return code


def exit_code(status: str, result: Mapping[str, Any] | None) -> int:
    """Return 0 if the task is done, 130 if the run was cancelled, else 1."""
    if status == "stopped" or (result or {}).get("reason") == "cancelled":
        return INTERRUPTED
    return DONE if result is not None and result["success"] else FAILED


def leave(output: RunOutput, id: str) -> NoReturn:
    """Exit at once, without waiting for running work; the run can be resumed."""
    output.view.end()
    write(sys.stderr, f"left; continue with: antiphon run --resume {id} (unless the run is already cancelled)\n")
    sys.stdout.flush()
    os._exit(INTERRUPTED)


def _summary(result: Mapping[str, Any] | None) -> str:
    """Return the summary of a run that ended by itself."""
    if result is None or result["reason"] in ("cancelled", "failed"):
        return ""
    return sanitize_lines(str(result.get("summary") or "")).strip()


def _ending(id: str, status: str, result: Mapping[str, Any] | None) -> str:
    details = f"details: antiphon runs show {id}"
    if result is None:
        is_resumable = status in ("interrupted", "waiting", "running")
        return f"{status}; continue with: antiphon run --resume {id}" if is_resumable else f"{status}; {details}"
    if result["success"]:
        return f"done; {details}"
    reason = str(result["reason"])
    error = (result.get("error") or {}).get("message")
    text = NOT_DONE.get(reason) or f"not done: {error or reason}{HINTS.get(reason, '')}"
    return f"{text}; {details}"


def _rich_view(dashboard: Dashboard, started_at: float) -> TextView | None:
    """Return a view with a live dashboard, or None if the terminal cannot show one."""
    if not can_draw(sys.stdout, os.environ) or find_spec("rich") is None:
        return None
    # Imported here because rich is slow to load.
    from antiphon.cli.render.rich import rich_view

    return rich_view(footer=lambda width: dashboard.lines(width - 1, time.monotonic() - started_at))
