"""Debates for tests: a configuration, events, and machines driven by hand."""

from typing import Any

from antiphon import initial_transition, transition
from antiphon.machines.debate import debate_machine

TOPIC = "Should AI be regulated?"
SONNET = {"provider": "anthropic", "modelId": "claude-sonnet-4-5", "temperature": 0.7, "maxTokens": 1000}
PRICES = {"anthropic:claude-sonnet-4-5": {"input": "3", "output": "15", "cachedRead": "0.3", "cachedWrite": "3.75"}}
POSITIONS = ("for", "against", "neutral")


def seats(*ids: str) -> list[dict[str, Any]]:
    """Participants whose ids are their positions."""
    return [{"id": id, "position": id.split("-")[0], "model": SONNET} for id in ids]


def config(**more: Any) -> dict[str, Any]:
    """A debate of two."""
    known = {"id": "debate-123", "topic": TOPIC, "format": "oxford", "maxRounds": 2, "timeoutPerRound": 60}
    return {**known, "participants": seats("for", "against"), "judge": {"model": SONNET}, **more}


def reply(id: str, words: str = "", **more: Any) -> dict[str, Any]:
    """A response as a driver from outside brings it."""
    return {"participantId": id, "content": words or f"I am {id}.", "usage": {"input": 1000, "output": 100}, **more}


def replies(*ids: str) -> list[dict[str, Any]]:
    """One response of each."""
    return [reply(id) for id in ids or ("for", "against")]


def round_of(*ids: str, **more: Any) -> dict[str, Any]:
    """The event that ends a round."""
    return {"type": "ROUND_COMPLETE", "round": {"responses": replies(*ids), **more}}


VERDICT = {
    "type": "VERDICT_READY",
    "verdict": {
        "scores": {"for": 80, "against": 70},
        "reasoning": "The first answered what was said.",
        "criteria": {"argument": {"for": 80, "against": 70}},
        "usage": {"input": 2000, "output": 200},
        "timestamp": 9,
    },
}
START = {"type": "START_DEBATE", "config": config(), "at": 1}


class Table:
    """A debate machine and what it has become."""

    def __init__(self, input: dict[str, Any] | None = None, snapshot: Any = None) -> None:
        self.now = snapshot or initial_transition(debate_machine, {"driver": "events", **(input or {})})[0]
        self.effects: list[Any] = []

    def send(self, *events: Any) -> "Table":
        """Take events; a text is one without facts."""
        for event in events:
            told = {"type": event} if isinstance(event, str) else event
            self.now, self.effects = transition(debate_machine, self.now, told)
        return self

    @property
    def context(self) -> Any:
        """What it knows."""
        return self.now.context

    @property
    def state(self) -> str:
        """Which of the eight states it is in."""
        value = self.now.value
        return value if isinstance(value, str) else next(iter(value))

    def effect(self, type: str) -> list[Any]:
        """The effects of the last step of one type."""
        return [one.params for one in self.effects if one.type == type]

    @property
    def told(self) -> list[Any]:
        """What the last step emitted."""
        return [one["event"] for one in self.effect("xstate.emit")]

    @property
    def spawned(self) -> list[Any]:
        """The actors that the last step started."""
        return self.effect("xstate.spawnChild")


def begun(input: dict[str, Any] | None = None, **more: Any) -> Table:
    """A debate whose debaters are ready."""
    table = Table(input).send({**START, "config": config(**more)})
    return table.send({"type": "INIT_COMPLETE", "participants": table.context["participants"], "prices": PRICES})


def debating(**more: Any) -> Table:
    """A debate in its first round."""
    table = begun(**more)
    ids = [one["id"] for one in table.context["participants"]]
    return table.send({"type": "ARGUMENTS_READY", "responses": replies(*ids)})


def acting(**more: Any) -> Table:
    """A debate with actors of its own, whose debaters speak their openings."""
    return begun({"driver": "actors"}, **more)


def request(table: Table, id: str) -> str:
    """The request of a debater who speaks."""
    return str(table.context["activeStreams"][id]["requestId"])


def spoken(table: Table, id: str, words: str = "", cost: float | None = None, at: int = 5) -> dict[str, Any]:
    """A debater's actor has spoken."""
    message = {"role": "assistant", "parts": [{"type": "text", "text": words or f"I am {id}."}], "at": at}
    usage = {"input": 1000, "output": 100, "cachedRead": 0, "cachedWrite": 0}
    facts = {"usage": usage, "costUsd": cost, "durationMs": 7, "totalTokens": 1100, "stop": "end"}
    return {"type": "REPLY.COMPLETED", "requestId": request(table, id), "message": message, **facts}


def broken(table: Table, id: str, code: str = "1002", recoverable: bool = True, **more: Any) -> dict[str, Any]:
    """A debater's actor has failed."""
    error = {"code": code, "message": "Overloaded", "recoverable": recoverable}
    return {"type": "REPLY.FAILED", "requestId": request(table, id), "error": error, "text": "", **more}


def whole_round(table: Table) -> Table:
    """Let everyone speak whose turn it is, until the round is over."""
    phase, number = table.context["phase"], table.context["currentRound"]
    while table.context["activeStreams"] and (phase, number) == (table.context["phase"], table.context["currentRound"]):
        table.send(spoken(table, next(iter(table.context["activeStreams"]))))
        if table.state not in ("awaitingArguments", "debating"):
            break
    return table
