"""A debate as it is shown: who speaks, what was said, paid and decided, put together from what happens."""

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
class Turn:
    """What a debater says in a round, as it comes."""

    participant: str
    phase: str
    number: int
    began: int
    pieces: list[str] = field(default_factory=list)
    is_thinking: bool = False
    ended: int | None = None
    end: End | None = None
    cost_usd: Decimal = Decimal(0)

    @property
    def text(self) -> str:
        """All words so far."""
        return "".join(self.pieces)


@dataclass(slots=True)
class Stage:
    """Everything there is to show of one debate."""

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
    turns: dict[str, Turn] = field(default_factory=dict)  # the latest of each debater
    rounds: list[Json] = field(default_factory=list)
    costs: Json = field(default_factory=dict)
    has_open_warning: bool = False
    interjections: list[Json] = field(default_factory=list)
    verdict: Json | None = None
    outcome: str | None = None
    stopped_early: str | None = None
    error: Json | None = None
    retries: int = 0
    at: int = 0
    began: int | None = None
    _last_ended: Turn | None = None

    @classmethod
    def of(cls, id: str, debate: Json) -> "Stage":
        """An empty stage for a debate that was read."""
        seats = debate["participants"], debate["judge"]
        stage = cls(id, debate["topic"], debate["format"], debate["maxRounds"], *seats)
        limits = {"limitThreshold": debate.get("costLimit"), "warningThreshold": debate.get("warnAtCost")}
        known = {key: str(value) for key, value in limits.items() if value is not None}
        stage.costs = {**debate["costTracker"], **known}
        return stage

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen any more."""
        return self.outcome is not None

    @property
    def is_resting(self) -> bool:
        """Whether a person has to do something before it goes on."""
        return not self.is_over and self.status in RESTING

    @property
    def is_out_of_money(self) -> bool:
        """Whether it stands still because of its limit."""
        return self.state == "error" and self.error is not None and self.error["type"] == "cost_limit"

    @property
    def can_retry(self) -> bool:
        """Whether what went wrong is worth another try."""
        error = self.error or {}
        return self.state == "error" and bool(error.get("retryable")) and self.retries < MOST_RETRIES

    @property
    def cost_usd(self) -> Decimal:
        """What was spent."""
        return Decimal(self.costs.get("totalCost", "0"))

    def name(self, participant: str | None) -> str:
        """What a debater is called."""
        found = (str(one["name"]) for one in self.participants if one["id"] == participant)
        return next(found, participant or "")

    def steps(self) -> list[tuple[str, int]]:
        """The phases of the whole debate, by name and number, up to the verdict."""
        rounds = [(phase_of(self.format, each, self.max_rounds), each) for each in range(1, self.max_rounds + 1)]
        return [("opening", 1), *rounds, ("verdict", 1)]

    def step(self) -> tuple[str, int]:
        """The phase that it is in."""
        return ("verdict", 1) if self.state == "judgeEvaluating" or self.is_over else (self.phase, max(1, self.number))

    def current(self, participant: str) -> Turn | None:
        """What a debater says in the round that is on, or said in it."""
        turn = self.turns.get(participant)
        return turn if turn is not None and (turn.phase, turn.number) == self.step() else None

    def is_recorded(self, phase: str, number: int) -> bool:
        """Whether a round is over."""
        return any((one["phase"], one["roundNumber"]) == (phase, number) for one in self.rounds)

    def take(self, activity: Activity) -> None:
        """Take in what happened."""
        facts, self.at = activity.facts, activity.at
        match activity.kind:
            case "text" | "thinking":
                self._hear(activity)
            case "turn_started":
                id = facts["participantId"]
                self.turns[id] = Turn(id, facts["phase"], facts["roundNumber"], activity.at)
            case "turn_ended":
                self._end_turn(facts)
            case "round_recorded":
                self._record(facts["round"])
            case "cost":
                self._pay(facts)
            case "cost_warning":
                self.has_open_warning = True
                self.costs = {**self.costs, "warnings": [*self.costs.get("warnings", ()), facts["warning"]]}
            case "interjection":
                self.interjections.append(facts)
            case "verdict":
                self.verdict = facts["verdict"]
            case "error":
                self.error = facts["error"]
                self._pay(facts["costTracker"])
            case "result":
                self.outcome, self.stopped_early = facts["result"]["outcome"], facts["result"]["stoppedEarly"]
            case "completed":
                self.state = "completed"
                self._pay(facts["costTracker"])
            case "state":
                self._move(facts)
            case "status":
                self.status = facts["status"]
                self.began = activity.at if self.began is None and self.status == "running" else self.began

    def _move(self, facts: Json) -> None:
        if self.state == "error" and facts["state"] == "initializing":
            self.retries += 1
        self.state, self.phase, self.number = facts["state"], facts["phase"], facts["roundNumber"]
        self.max_rounds = facts["maxRounds"]
        if self.state not in ("error", "paused"):
            self.error = None

    def _hear(self, activity: Activity) -> None:
        turn = self.turns.get(activity.speaker or "")
        if turn is not None:
            turn.is_thinking = activity.kind == "thinking"
            turn.pieces += [] if turn.is_thinking else [activity.facts["text"]]

    def _end_turn(self, facts: Json) -> None:
        turn = self.turns.get(facts["participantId"])
        if turn is not None and turn.end is None:
            turn.end, turn.ended, turn.is_thinking = facts["end"], self.at, False
            self._last_ended = turn

    def _record(self, one: Json) -> None:
        if not self.is_recorded(one["phase"], one["roundNumber"]):
            self.rounds.append(one)
            self.retries = 0

    def _pay(self, tracker: Json) -> None:
        # The costs that follow the end of a turn are those of the turn.
        if self._last_ended is not None:
            self._last_ended.cost_usd = Decimal(tracker["totalCost"]) - self.cost_usd
            self._last_ended = None
        self.costs = {key: value for key, value in tracker.items() if key != "type"}
        self.has_open_warning = any(not one["acknowledged"] for one in tracker["warnings"])
