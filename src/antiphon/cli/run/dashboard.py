"""The dashboard of a run: its plan, the active agents, and counters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.cli.render.plain import Tone
from antiphon.cli.render.text_width import ELLIPSIS, clip, pad, sanitize_line, width
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

MARKS = {"pending": "·", "in_progress": "▸", "complete": "✓", "failed": "✗", "skipped": "–"}
TONES: Mapping[str, Tone] = {"in_progress": "title", "complete": "tool", "failed": "error"}
MOST_STEPS = 8
MOST_TAIL = 400  # characters kept of the text of an agent, of which the end is shown
NAME_CELLS = 14
DECIDING = "arbiter is deciding"
Line = tuple[str, Tone]


@dataclass(slots=True)
class Dashboard:
    """State of a run as shown below its text, computed from its activities."""

    task: str = ""
    plan: Mapping[str, Any] | None = None
    crew: list[str] = field(default_factory=list)  # names of the active agents, by number
    tails: dict[str, str] = field(default_factory=dict)  # the end of the text of each agent
    calls: dict[str, tuple[str, str]] = field(default_factory=dict)  # calls without a result: agent and tool
    phase: str = DECIDING
    iteration: int = 0
    failures: int = 0
    cost_usd: float = 0.0
    limits: Mapping[str, Any] = field(default_factory=dict)
    started_at: int | None = None
    now: int = 0

    def apply(self, activity: Activity) -> None:
        """Update the dashboard with an activity."""
        facts = activity.facts
        agent = activity.speaker or ""
        self.started_at = activity.at if self.started_at is None else self.started_at
        self.now = max(self.now, activity.at)
        self.plan = facts.get("plan") or self.plan
        self.failures = facts.get("failures", self.failures)
        match activity.kind:
            case "task_started":
                self.task = facts["task"]
            case "agent_started":
                self.crew = [agent["mode"] for agent in facts["crew"]]
                self.iteration = facts["iteration"]
                self.cost_usd = facts["costUsd"]
                self.phase = ""
                self.tails = {}
                self.calls = {}
            case "text":
                self.tails[agent] = (self.tails.get(agent, "") + facts["text"])[-MOST_TAIL:]
            case "agent_message":
                self.cost_usd += facts.get("costUsd") or 0
            case "tool_called":
                self.calls[facts["id"]] = (agent, facts["name"])
            case "tool_answered":
                self.calls.pop(facts["toolResult"]["id"], None)
            case "agent_completed" | "agent_failed":
                self.crew = []
                self.calls = {}
                self.phase = DECIDING
                self.cost_usd = facts["costUsd"]
            case "recovering":
                self.phase = "recovering from an error"
            case "run_ended":
                self._end(facts)

    def restore(self, context: Mapping[str, Any]) -> None:
        """Set the state from the context of a run that is resumed."""
        self.limits = {key: context[key] for key in ("maxIterations", "maxFailures", "maxCostUsd")}
        self.task = context["task"]
        self.plan = context["plan"]
        self.iteration = context["iterationCount"]
        self.failures = context["consecutiveFailures"]
        self.cost_usd = context["costUsd"]
        if context["atWork"]:
            self.crew = [agent["mode"] for agent in context["crew"]]
            self.phase = ""

    def _end(self, facts: Mapping[str, Any]) -> None:
        self.crew = []
        self.phase = ""
        self.iteration = facts["iterations"]
        self.cost_usd = facts["costUsd"]
        # The result counts all failures; the limit is for those in a row.
        self.limits = {**self.limits, "maxFailures": None}

    def name(self, agent: str | None) -> str:
        """Return the name of an active agent by its id."""
        number = (agent or "").removeprefix("agent-")
        is_known = number.isdigit() and int(number) < len(self.crew)
        return self.crew[int(number)] if is_known else (self.crew[0] if self.crew else "")

    @property
    def progress(self) -> str:
        """The number of finished steps, as `2 of 5`."""
        steps = self.plan["steps"] if self.plan else ()
        return f"{sum(step['status'] in ('complete', 'skipped') for step in steps)} of {len(steps)}"

    def meters(self, seconds: float | None = None) -> str:
        """Format iterations, failures, cost and time as one line."""
        limits = self.limits
        cost = format_usd(self.cost_usd)
        limit = limits.get("maxCostUsd")
        elapsed = (self.now - (self.started_at or self.now)) / 1000 if seconds is None else seconds
        facts = [
            f"iteration {self.iteration}{_of(limits.get('maxIterations'))}",
            f"failures {self.failures}{_of(limits.get('maxFailures'))}",
            f"{cost} of {format_usd(limit)}" if limit else cost,
            f"{elapsed:.0f} s",
        ]
        return " · ".join(facts)

    def lines(self, cells: int, seconds: float) -> list[Line]:
        """Render the dashboard in lines of `cells`."""
        head = f"── plan · {self.progress} done " if self.plan else ""
        rule = head + "─" * max(0, cells - len(head))
        return [
            (clip(rule, cells), "note"),
            *self.steps(cells),
            *self._agents(cells),
            (clip(self.meters(seconds), cells), "note"),
        ]

    def steps(self, cells: int, most: int = MOST_STEPS) -> list[Line]:
        """Render the steps of the plan; of a long plan those around the current step."""
        steps: Sequence[Any] = self.plan["steps"] if self.plan else ()
        current = self.plan["currentStepIndex"] if self.plan else 0
        first = min(max(0, current - most // 2), max(0, len(steps) - most))
        hidden = len(steps) - first - most
        lines: list[Line] = [(f"  … {first} before", "note")] if first else []
        lines += [_step(step, cells) for step in steps[first : first + most]]
        return [*lines, (f"  … {hidden} more", "note")] if hidden > 0 else lines

    def _agents(self, cells: int) -> Iterator[Line]:
        if not self.crew and self.phase:
            yield clip(f"{self.phase} …", cells), "title"
        for number, name in enumerate(self.crew):
            agent = f"agent-{number}"
            tools = [tool for caller, tool in self.calls.values() if caller == agent]
            activity = f"calling {', '.join(tools)} …" if tools else "working …"
            if len(self.crew) > 1 and not tools and self.tails.get(agent):
                activity = _tail(self.tails[agent], cells - NAME_CELLS)
            head = pad(sanitize_line(name), NAME_CELLS) if len(self.crew) > 1 else f"{sanitize_line(name)} "
            yield clip(f"{head}{activity}", cells), "title"


def _of(limit: Any) -> str:
    return "" if limit is None else f" of {limit}"


def _step(step: Mapping[str, Any], cells: int) -> Line:
    status = step["status"]
    agent = step.get("agentUsed") or step.get("agent") or ""
    text = f"{MARKS.get(status, '?')} {sanitize_line(step['description'])}"
    room = cells - len(agent) - 2
    line = f"{pad(text, room)}  {sanitize_line(agent)}" if agent and room > cells // 2 else clip(text, cells)
    return line, TONES.get(status, "note")


def _tail(text: str, cells: int) -> str:
    """Return the end of a text that fits in one line."""
    line = " ".join(sanitize_line(text).split())
    if width(line) <= cells:
        return line
    tail = line[-max(1, cells) :]
    while tail and width(tail) > cells - 1:
        tail = tail[1:]
    return f"{ELLIPSIS}{tail}"
