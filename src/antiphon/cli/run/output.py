"""Where a run is shown, who answers its agents, and how its end is told."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from shutil import get_terminal_size
from typing import Any, NoReturn

from antiphon.cli.default_model import described
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED
from antiphon.cli.permission_prompt import Answerer, Nobody, Person
from antiphon.cli.prompt import Typewriter
from antiphon.cli.render.json_output import JsonOutput
from antiphon.cli.render.plain import NoView, PlainView, View, is_smart, write
from antiphon.cli.render.text_width import harmless_lines
from antiphon.cli.run.dashboard import Dashboard
from antiphon.cli.run.environment import RunSpec
from antiphon.cli.run.printer import RunPrinter

UNASKED = "nobody can be asked here: what needs a permission is denied; --mode auto-edit or auto allows more"
NOT_DONE: Mapping[str, str] = {
    "cancelled": "cancelled; what was done until then stays",
    "max_iterations": "not reached: agents have worked as often as they may (--max-iterations)",
    "cost_limit": "not reached: the money is spent (--max-cost)",
    "wall_time": "not reached: the time is over (--max-time)",
}
MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class RunOutput:
    """The view of a run with its dashboard, its answerer, and how much it prints."""

    view: View
    dashboard: Dashboard
    printer: RunPrinter
    answerer: Answerer
    typewriter: Typewriter | None = None
    json: JsonOutput | None = None
    is_quiet: bool = False
    is_chosen: bool = False  # nobody named a model
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, options: argparse.Namespace) -> "RunOutput":
        """The output that the options, and what is at both ends of the command, ask for."""
        dashboard = Dashboard()
        is_answered = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty()) and not options.json
        began = time.monotonic()
        if options.json or options.quiet:
            view: View = NoView()
        elif sys.stdout.isatty():
            view = _drawn(dashboard, began) or PlainView(sys.stdout)
        else:
            view = PlainView(sys.stderr)
        is_drawn = not isinstance(view, PlainView)
        typewriter = Typewriter() if is_answered else None
        beside = PlainView(sys.stderr) if options.quiet and not options.json else view
        answerer = Person(typewriter, beside) if typewriter is not None else Nobody(beside)
        json = JsonOutput(sys.stdout) if options.json else None
        printer = RunPrinter(view, dashboard, is_drawn=is_drawn)
        return cls(view, dashboard, printer, answerer, typewriter, json, options.quiet, options.model is None, began)

    def prompt(self) -> int | None:
        """The number of the prompt that is shown now."""
        return self.typewriter.prompt if self.typewriter is not None else None

    def greet(self, id: str, spec: RunSpec, problems: tuple[str, ...]) -> None:
        """Say what begins: the run, who answers, where, and what may be done unasked."""
        mode = (spec.settings.get("consent") or {}).get("mode", "ask")
        model = spec.choice or described(spec.settings["model"])
        self.view.line(f"run {id} · mode {mode} · in {spec.workspace}", "title")
        self.view.line(model.said)
        if model.hint and self.is_chosen:
            self.view.line(model.hint)
        for problem in problems:
            self.view.line(problem, "error")
        if self.typewriter is None and mode == "ask":
            self.view.line(UNASKED, "error")

    def end(self, id: str, status: str, result: Mapping[str, Any] | None) -> int:
        """Tell how it ended, and give the exit code."""
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
                self.view.line(self._sum())
            return code
        self.view.line("")
        for line, tone in self.dashboard.steps(get_terminal_size().columns - 1, most=MOST_STEPS):
            self.view.line(line.rstrip(), tone)
        if summary:
            self.view.markdown(summary)
        self.view.line(_ending(id, status, result), "title" if code == DONE else "error")
        self.view.line(self._sum())
        return code

    def _sum(self) -> str:
        return self.dashboard.meters()


def exit_code(status: str, result: Mapping[str, Any] | None) -> int:
    """0 when the task is done, 130 when it was cancelled, else 1."""
    if status == "stopped" or (result or {}).get("reason") == "cancelled":
        return INTERRUPTED
    return DONE if result is not None and result["success"] else FAILED


def leave(output: RunOutput, id: str) -> NoReturn:
    """Leave at once: whatever runs ends with the process, and the run can be resumed."""
    output.view.end()
    write(sys.stderr, f"left; antiphon run --resume {id} goes on, unless the run was cancelled already\n")
    sys.stdout.flush()
    os._exit(INTERRUPTED)


def _summary(result: Mapping[str, Any] | None) -> str:
    """What the run says it came to; what was said last before it was cut off is not that."""
    if result is None or result["reason"] in ("cancelled", "failed"):
        return ""
    return harmless_lines(str(result.get("summary") or "")).strip()


def _ending(id: str, status: str, result: Mapping[str, Any] | None) -> str:
    shown = f"antiphon runs show {id} tells it all"
    if result is None:
        lost = status in ("interrupted", "waiting", "running")
        return f"{status}; antiphon run --resume {id} goes on" if lost else f"{status}; {shown}"
    if result["success"]:
        return f"done; {shown}"
    reason = str(result["reason"])
    error = (result.get("error") or {}).get("message")
    words = NOT_DONE.get(reason) or f"not reached: {error or reason}"
    return f"{words}; {shown}"


def _drawn(dashboard: Dashboard, began: float) -> View | None:
    """A view that is drawn, where there is something to draw on."""
    if not is_smart(sys.stdout, os.environ) or find_spec("rich") is None:
        return None
    # Loading it takes a while, which only those pay who see it.
    from antiphon.cli.render.rich import rich_view

    return rich_view(footer=lambda width: dashboard.lines(width - 1, time.monotonic() - began))
