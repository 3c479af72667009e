"""Records of debates: everything that is known of one, in progress or over."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.debate.machine.config import complete, reference
from antiphon.debate.machine.context import DebateContext, first_context
from antiphon.debate.machine.reports import result as debate_result
from antiphon.debate.machine.speakers import missing_speakers, round_number
from antiphon.threads.kinds import Json, NewText, Record, ThreadSummary, ThreadView, content_of, error_message


@dataclass(frozen=True, slots=True)
class DebateView:
    """One debate in a list; openings do not count as a round."""

    id: str
    topic: str
    format: str
    status: str
    state: str
    outcome: str | None
    winner: str | None
    tie: bool
    rounds: int
    max_rounds: int
    participants: tuple[str, ...]
    models: tuple[str, ...]
    cost_usd: str
    updated: int
    error: str | None = None
    problem: str | None = None
    unpriced: int = 0

    @property
    def kind(self) -> str:
        """The kind of its thread."""
        return "debate"

    @property
    def cursor(self) -> str:
        """Place in a list: the next page begins after it."""
        return f"{self.updated}:{self.id}"


def summarize(snapshot: Json, result: Json | None) -> ThreadSummary:
    """Summarize a debate for a list: its topic, models, rounds and cost."""
    context = snapshot["context"]
    config = context["config"]
    child = snapshot["children"].get("debate")
    debate = child["snapshot"]["context"] if child is not None else (result or {}).get("result", {})
    speakers = debate.get("participants") or config.get("participants") or []
    models = [speaker["model"] for speaker in speakers if speaker.get("model")] or config.get("models") or []
    names = dict.fromkeys(model if isinstance(model, str) else reference(model) for model in models)
    return ThreadSummary(
        title=config.get("topic") or "",
        model=", ".join(names) or None,
        turns=len(debate.get("rounds") or []),
        cost_usd=float((debate.get("costTracker") or {}).get("totalCost", context["cost"])),
        error=error_message(debate.get("lastError")),
        unpriced=(debate.get("costTracker") or {}).get("unpriced", 0),
    )


def read_debate(id: str, snapshot: Json, result: Json | None) -> dict[str, Any]:
    """Read a debate: settings, rounds, verdict and costs, from its context or from its final result."""
    child = snapshot["children"].get("debate")
    if child is not None:
        context = child["snapshot"]["context"]
        state = _outermost(child["snapshot"]["value"])
        return {**debate_result(context), "state": state, "interrupted": context["lost"], "current": _current(context)}
    if result is not None:
        return {**result["result"], "state": "completed", "interrupted": False, "current": None}
    return {**_not_begun(snapshot["context"]["config"]), "state": "idle", "interrupted": False, "current": None}


def new_texts(before: Json | None, after: Json, result: Json | None) -> Iterator[NewText]:
    """Iterate over the responses and the reasons of the judge that a step has added to a debate."""
    old: Json = (before and content_of(before)) or {}
    # Without a state before, a debate that has ended is read from its result.
    new: Json = content_of(after) or ((result or {}).get("result") if before is None else None) or {}
    rounds = (new.get("rounds") or [])[len(old.get("rounds") or []) :]
    texts = [response["content"] for past in rounds for response in past["responses"]]
    verdict = new.get("verdict")
    if verdict and verdict is not old.get("verdict"):
        texts.append(verdict.get("reasoning"))
    for text in texts:
        if text:
            yield NewText(str(text))


def debate_view(record: Record) -> DebateView:
    """Return a debate for a list of debates."""
    view = record.view
    if record.is_transcript:
        return _transcript_view(view)
    debate = record.content
    verdict = debate["verdict"] or {}
    names = {speaker["id"]: speaker["name"] for speaker in debate["participants"]}
    models = dict.fromkeys(reference(speaker["model"]) for speaker in debate["participants"])
    return DebateView(
        id=view.id,
        topic=debate["topic"] or "",
        format=debate["format"] or "",
        status=view.status,
        state=debate["state"],
        outcome=debate["outcome"],
        winner=names.get(verdict.get("winner"), verdict.get("winner")),
        tie=bool(verdict.get("tie")),
        rounds=sum(past["phase"] != "opening" for past in debate["rounds"]),
        max_rounds=debate["maxRounds"] or 0,
        participants=tuple(names.values()),
        models=tuple(models),
        cost_usd=debate["costTracker"]["totalCost"],
        updated=view.updated,
        error=error_message(debate["lastError"]),
        problem=view.problem,
        unpriced=debate["costTracker"]["unpriced"],
    )


def _transcript_view(view: ThreadView) -> DebateView:
    """Return a debate of which only the journal could be read."""
    return DebateView(
        id=view.id,
        topic=view.title,
        format="",
        status=view.status,
        state="",
        outcome=None,
        winner=None,
        tie=False,
        rounds=0,
        max_rounds=0,
        participants=(),
        models=(),
        cost_usd=str(view.cost_usd),
        updated=view.updated,
        problem=view.problem,
    )


def _current(context: DebateContext) -> Json:
    """Return the round in progress: its phase and number, its responses so far, and the debaters without one.

    `target` is the state that a debate continues in which was paused or has failed.
    """
    return {
        "phase": context["phase"],
        "roundNumber": round_number(context),
        "responses": context["responses"],
        "missing": missing_speakers(context),
        "target": context["resumeTarget"],
    }


def _outermost(value: Any) -> str:
    return value if isinstance(value, str) else str(next(iter(value)))


def _not_begun(given: Json) -> dict[str, Any]:
    config = complete({key: value for key, value in given.items() if key != "onBusy"})
    context: DebateContext = {
        **first_context(),
        "config": config,
        "participants": config["participants"],
        "judge": config["judge"],
        "maxRounds": config["maxRounds"],
    }
    return {**config, **debate_result(context)}
