"""View model of a debate, computed from its activities: turns, rounds, costs and verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from antiphon.debate import MOST_RETRIES, phase_of
from antiphon.threads.activity import Activity

Json = Mapping[str, Any]
End = Literal["whole", "failed", "cancelled"]
RESTING = ("failed", "stopped", "interrupted", "waiting")
SPEAKING = ("awaitingArguments", "debating")


@dataclass(slots=True)
class DebateTurn:
    """A debater's turn in a round, as it arrives."""

    participant: str
    phase: str
    number: int
    started_at: int
    pieces: list[str] = field(default_factory=list)
    is_thinking: bool = False
    ended_at: int | None = None
    end: End | None = None
    cost_usd: Decimal = Decimal(0)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)


@dataclass(slots=True)
class DebateState:
    """Everything a view shows of one debate."""

    id: str
    topic: str
    format: str
    max_rounds: int
    participants: list[Json]
    judge: Json
    status: str = ""
    state: str = "idle"
    phase: str = "opening"
    number: int = 0
    turns: dict[str, DebateTurn] = field(default_factory=dict)  # the latest turn of each debater
    rounds: list[Json] = field(default_factory=list)
    costs: Json = field(default_factory=dict)
    has_open_warning: bool = False
    interjections: list[Json] = field(default_factory=list)
    verdict: Json | None = None
    outcome: str | None = None
    stopped_early: str | None = None
    error: Json | None = None
    retries: int = 0
    server: str | None = None  # the address of a server elsewhere that holds it
    at: int = 0
    started_at: int | None = None
    _last_ended: DebateTurn | None = None

    @property
    def place(self) -> str:
        """The arguments by which commands find the debate."""
        return self.id if self.server is None else f"{self.id} --server {self.server}"

    @classmethod
    def of(cls, id: str, context: Json) -> "DebateState":
        """Return the initial state of a debate from its stored context."""
        state = cls(
            id,
            context["topic"],
            context["format"],
            context["maxRounds"],
            context["participants"],
            context["judge"],
        )
        limits = {"limitThreshold": context.get("costLimit"), "warningThreshold": context.get("warnAtCost")}
        thresholds = {key: str(value) for key, value in limits.items() if value is not None}
        state.costs = {**context["costTracker"], **thresholds}
        return state

    @property
    def is_over(self) -> bool:
        """True when the debate has ended."""
        return self.outcome is not None

    @property
    def is_resting(self) -> bool:
        """True when the debate continues only after an action of the user."""
        return not self.is_over and self.status in RESTING

    @property
    def is_at_cost_limit(self) -> bool:
        """True when the cost limit stopped the debate."""
        return self.state == "error" and self.error is not None and self.error["type"] == "cost_limit"

    @property
    def can_retry(self) -> bool:
        """True when the error may be retried."""
        error = self.error or {}
        return self.state == "error" and bool(error.get("retryable")) and self.retries < MOST_RETRIES

    @property
    def cost_usd(self) -> Decimal:
        """The cost so far."""
        return Decimal(self.costs.get("totalCost", "0"))

    def name(self, participant: str | None) -> str:
        """Return the name of a debater by id."""
        names = (str(debater["name"]) for debater in self.participants if debater["id"] == participant)
        return next(names, participant or "")

    def steps(self) -> list[tuple[str, int]]:
        """Return all phases of the debate, by name and number, including the verdict."""
        numbers = range(1, self.max_rounds + 1)
        rounds = [(phase_of(self.format, number, self.max_rounds), number) for number in numbers]
        return [("opening", 1), *rounds, ("verdict", 1)]

    def step(self) -> tuple[str, int]:
        """Return the current phase, by name and number."""
        return ("verdict", 1) if self.state == "judgeEvaluating" or self.is_over else (self.phase, max(1, self.number))

    def current(self, participant: str) -> DebateTurn | None:
        """Return a debater's turn in the current round, if any."""
        turn = self.turns.get(participant)
        return turn if turn is not None and (turn.phase, turn.number) == self.step() else None

    def is_recorded(self, phase: str, number: int) -> bool:
        """Return whether a round is complete."""
        return any((round["phase"], round["roundNumber"]) == (phase, number) for round in self.rounds)

    def apply(self, activity: Activity) -> None:
        """Update the state with an activity."""
        facts = activity.facts
        self.at = activity.at
        match activity.kind:
            case "text" | "thinking":
                self._add_text(activity)
            case "turn_started":
                id = facts["participantId"]
                self.turns[id] = DebateTurn(id, facts["phase"], facts["roundNumber"], activity.at)
            case "turn_ended":
                self._end_turn(facts)
            case "round_recorded":
                self._record(facts["round"])
            case "cost":
                self._update_costs(facts)
            case "cost_warning":
                self.has_open_warning = True
                self.costs = {**self.costs, "warnings": [*self.costs.get("warnings", ()), facts["warning"]]}
            case "interjection":
                self.interjections.append(facts)
            case "verdict":
                self.verdict = facts["verdict"]
            case "error":
                self.error = facts["error"]
                self._update_costs(facts["costTracker"])
            case "result":
                self.outcome = facts["result"]["outcome"]
                self.stopped_early = facts["result"]["stoppedEarly"]
            case "completed":
                self.state = "completed"
                self._update_costs(facts["costTracker"])
            case "state":
                self._move(facts)
            case "status":
                self.status = facts["status"]
                if self.started_at is None and self.status == "running":
                    self.started_at = activity.at

    def _move(self, facts: Json) -> None:
        if self.state == "error" and facts["state"] == "initializing":
            self.retries += 1
        self.state = facts["state"]
        self.phase = facts["phase"]
        self.number = facts["roundNumber"]
        self.max_rounds = facts["maxRounds"]
        if self.state not in ("error", "paused"):
            self.error = None

    def _add_text(self, activity: Activity) -> None:
        turn = self.turns.get(activity.speaker or "")
        if turn is not None:
            turn.is_thinking = activity.kind == "thinking"
            turn.pieces += [] if turn.is_thinking else [activity.facts["text"]]

    def _end_turn(self, facts: Json) -> None:
        turn = self.turns.get(facts["participantId"])
        if turn is not None and turn.end is None:
            turn.end = facts["end"]
            turn.ended_at = self.at
            turn.is_thinking = False
            self._last_ended = turn

    def _record(self, round: Json) -> None:
        if not self.is_recorded(round["phase"], round["roundNumber"]):
            self.rounds.append(round)
            self.retries = 0

    def _update_costs(self, tracker: Json) -> None:
        # The next costs after the end of a turn are those of the turn.
        if self._last_ended is not None:
            self._last_ended.cost_usd = Decimal(tracker["totalCost"]) - self.cost_usd
            self._last_ended = None
        self.costs = {key: value for key, value in tracker.items() if key != "type"}
        self.has_open_warning = any(not warning["acknowledged"] for warning in tracker["warnings"])
