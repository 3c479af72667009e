"""What a run's picture shows besides words: the plan with its marks, who is at work, and the meters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.cli.render.plain import Tone
from antiphon.cli.render.text_width import ELLIPSIS, clip, harmless, pad, width
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

MARKS = {"pending": "·", "in_progress": "▸", "complete": "✓", "failed": "✗", "skipped": "–"}
TONES: Mapping[str, Tone] = {"in_progress": "title", "complete": "tool", "failed": "error"}
MOST_STEPS = 8
MOST_TAIL = 400  # characters of what an agent says, of which the board shows the end
NAME_CELLS = 14
Line = tuple[str, Tone]


@dataclass(slots=True)
class Dashboard:
    """Takes note of what happens in a run; everything on it was read from the journal."""

    task: str = ""
    plan: Mapping[str, Any] | None = None
    crew: list[str] = field(default_factory=list)  # who works now, by number
    tails: dict[str, str] = field(default_factory=dict)  # the end of what each of them says
    calls: dict[str, tuple[str, str]] = field(default_factory=dict)  # open calls: whose, and of which tool
    phase: str = "the arbiter decides"
    iteration: int = 0
    failures: int = 0
    cost_usd: float = 0.0
    limits: Mapping[str, Any] = field(default_factory=dict)
    began: int | None = None
    now: int = 0

    def take(self, activity: Activity) -> None:
        """Take note of what happened."""
        facts = activity.facts
        agent = activity.speaker or ""
        self.began = activity.at if self.began is None else self.began
        self.now = max(self.now, activity.at)
        self.plan = facts.get("plan") or self.plan
        self.failures = facts.get("failures", self.failures)
        match activity.kind:
            case "task_started":
                self.task = facts["task"]
            case "agent_started":
                self.crew = [one["mode"] for one in facts["crew"]]
                self.iteration, self.cost_usd, self.phase = facts["iteration"], facts["costUsd"], ""
                self.tails, self.calls = {}, {}
            case "text":
                self.tails[agent] = (self.tails.get(agent, "") + facts["text"])[-MOST_TAIL:]
            case "agent_message":
                self.cost_usd += facts.get("costUsd") or 0
            case "tool_called":
                self.calls[facts["id"]] = (agent, facts["name"])
            case "tool_answered":
                self.calls.pop(facts["toolResult"]["id"], None)
            case "agent_completed" | "agent_failed":
                self.crew, self.calls, self.phase = [], {}, "the arbiter decides"
                self.cost_usd = facts["costUsd"]
            case "recovering":
                self.phase = "going on after an error"
            case "run_ended":
                self._end(facts)

    def pick_up(self, context: Mapping[str, Any]) -> None:
        """Begin with what a run knows: its limits, and, in the middle of it, who works and how far it is."""
        self.limits = {key: context[key] for key in ("maxIterations", "maxFailures", "maxCostUsd")}
        self.task, self.plan = context["task"], context["plan"]
        self.iteration, self.failures = context["iterationCount"], context["consecutiveFailures"]
        self.cost_usd = context["costUsd"]
        if context["atWork"]:
            self.crew, self.phase = [one["mode"] for one in context["crew"]], ""

    def _end(self, facts: Mapping[str, Any]) -> None:
        self.crew, self.phase = [], ""
        self.iteration, self.cost_usd = facts["iterations"], facts["costUsd"]
        self.limits = {**self.limits, "maxFailures": None}  # all failures are told now, not those in a row

    def name(self, agent: str | None) -> str:
        """Who an agent of the crew is."""
        number = (agent or "").removeprefix("agent-")
        is_known = number.isdigit() and int(number) < len(self.crew)
        return self.crew[int(number)] if is_known else (self.crew[0] if self.crew else "")

    @property
    def done(self) -> str:
        """How much of the plan is done."""
        steps = self.plan["steps"] if self.plan else ()
        return f"{sum(step['status'] in ('complete', 'skipped') for step in steps)} of {len(steps)}"

    def meters(self, seconds: float | None = None) -> str:
        """Iterations, failures, cost and time in one line."""
        most = self.limits
        cost = format_usd(self.cost_usd)
        limit = most.get("maxCostUsd")
        passed = (self.now - (self.began or self.now)) / 1000 if seconds is None else seconds
        words = [
            f"iteration {self.iteration}{_of(most.get('maxIterations'))}",
            f"failures {self.failures}{_of(most.get('maxFailures'))}",
            f"{cost} of {format_usd(limit)}" if limit else cost,
            f"{passed:.0f} s",
        ]
        return " · ".join(words)

    def lines(self, cells: int, seconds: float) -> list[Line]:
        """The board in lines that fit."""
        head = f"── plan · {self.done} done " if self.plan else ""
        rule = head + "─" * max(0, cells - len(head))
        return [
            (clip(rule, cells), "note"),
            *self.steps(cells),
            *self._workers(cells),
            (clip(self.meters(seconds), cells), "note"),
        ]

    def steps(self, cells: int, most: int = MOST_STEPS) -> list[Line]:
        """The steps of the plan with their marks; of a long plan those around the current one."""
        steps: Sequence[Any] = self.plan["steps"] if self.plan else ()
        current = self.plan["currentStepIndex"] if self.plan else 0
        first = min(max(0, current - most // 2), max(0, len(steps) - most))
        left = len(steps) - first - most
        lines: list[Line] = [(f"  … {first} before", "note")] if first else []
        lines += [_step(step, cells) for step in steps[first : first + most]]
        return [*lines, (f"  … {left} more", "note")] if left > 0 else lines

    def _workers(self, cells: int) -> Iterator[Line]:
        if not self.crew and self.phase:
            yield clip(f"{self.phase} …", cells), "title"
        for number, name in enumerate(self.crew):
            agent = f"agent-{number}"
            called = [tool for whose, tool in self.calls.values() if whose == agent]
            doing = f"calls {', '.join(called)} …" if called else "is at work …"
            if len(self.crew) > 1 and not called and self.tails.get(agent):
                doing = _end_of(self.tails[agent], cells - NAME_CELLS)
            head = pad(harmless(name), NAME_CELLS) if len(self.crew) > 1 else f"{harmless(name)} "
            yield clip(f"{head}{doing}", cells), "title"


def _of(most: Any) -> str:
    return "" if most is None else f" of {most}"


def _step(step: Mapping[str, Any], cells: int) -> Line:
    status = step["status"]
    who = step.get("agentUsed") or step.get("agent") or ""
    said = f"{MARKS.get(status, '?')} {harmless(step['description'])}"
    room = cells - len(who) - 2
    line = f"{pad(said, room)}  {harmless(who)}" if who and room > cells // 2 else clip(said, cells)
    return line, TONES.get(status, "note")


def _end_of(text: str, cells: int) -> str:
    """The end of a text that fits, in one line."""
    flat = " ".join(harmless(text).split())
    if width(flat) <= cells:
        return flat
    kept = flat[-max(1, cells) :]
    while kept and width(kept) > cells - 1:
        kept = kept[1:]
    return f"{ELLIPSIS}{kept}"
