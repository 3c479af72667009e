"""The start of a debate: its configuration and its participants."""

from antiphon.debate.machine.config import (
    FieldProblem,
    complete,
    complete_topic,
    has_debaters,
    problems_with,
    problems_with_topic,
)
from antiphon.debate.machine.context import NO_COSTS, DebateContext, DebateError, DebateUpdate, Json
from antiphon.debate.machine.events import ConfigFields, InitComplete, Said
from antiphon.debate.machine.failures import failure


def merge_config(context: DebateContext, event: ConfigFields) -> Json:
    """Merge the configuration from the input, from the event, and the topic from a message."""
    config: Json = {**context["given"], **(event.get("config") or {})}
    if event.get("participants") is not None:
        config["participants"] = event["participants"]
    if event.get("judge") is not None:
        config["judge"] = event["judge"]
    text = text_in(event)
    if event["type"] == "message" and text:
        config["topic"] = text
    return config


def text_in(event: ConfigFields | Said) -> str:
    """Return the text of a person's message."""
    text = event.get("text")
    if text:
        return str(text)
    return "".join(part["text"] for part in event.get("parts") or [] if part["type"] == "text")


def config_problems(context: DebateContext, event: ConfigFields) -> list[FieldProblem]:
    """Return the problems of the configuration; only START_DEBATE may bring a topic alone."""
    config = merge_config(context, event)
    return problems_with_topic(config) if starts_with_topic(config, event) else problems_with(config)


def starts_with_topic(config: Json, event: ConfigFields) -> bool:
    """Return whether the debaters are to come with INIT_COMPLETE."""
    return event["type"] == "START_DEBATE" and not has_debaters(config)


def is_config_valid(context: DebateContext, event: ConfigFields) -> bool:
    """Return whether the configuration has no problems."""
    return not config_problems(context, event)


def configure(context: DebateContext, event: ConfigFields) -> DebateUpdate:
    """Set the configuration."""
    given = merge_config(context, event)
    config = complete_topic(given) if starts_with_topic(given, event) else complete(given)
    return {
        "config": config,
        "given": given,
        "participants": config["participants"],
        "judge": config["judge"],
        "maxRounds": config["maxRounds"],
        "retryCount": 0,
        "startedAt": event.get("at"),
        "lastAt": event.get("at"),
        "runId": event.get("runId"),
        "costTracker": NO_COSTS,
    }


def set_config_error(context: DebateContext, event: ConfigFields) -> DebateUpdate:
    """Set the error of the first field that is wrong."""
    problem = config_problems(context, event)[0]
    return {"lastError": _field_error(problem, event.get("at")), "runId": event.get("runId")}


def _field_error(problem: FieldProblem, at: float | None) -> DebateError:
    message = f"{problem.field}: {problem.message}"
    return failure("validation", message, retryable=False, at=at, field=problem.field)


def merge_debaters(context: DebateContext, event: InitComplete) -> Json:
    """Merge the configuration with the debaters and the judge of an event."""
    config: Json = {**context["config"], "participants": event.get("participants") or []}
    config["judge"] = event.get("judge") or context["config"]["judge"] or context["given"].get("judge")
    tokens = context["given"].get("maxTokens")
    return config if tokens is None else {**config, "maxTokens": tokens}


def all_participants_ready(context: DebateContext, event: InitComplete) -> bool:
    """Return whether the debaters and the judge fit the configuration."""
    return not problems_with(merge_debaters(context, event))


def opens_debate(context: DebateContext, event: InitComplete) -> bool:
    """Return whether the debaters are ready and no round has begun."""
    return context["resumeTarget"] in (None, "awaitingArguments") and all_participants_ready(context, event)


def brings_debaters(context: DebateContext, event: InitComplete) -> bool:
    """Return whether debaters have come from outside whose models are not open and have no prices yet."""
    is_expected = context["driver"] == "actors" and not context["config"]["participants"]
    return is_expected and not event.get("prices") and all_participants_ready(context, event)


def set_participants(context: DebateContext, event: InitComplete) -> DebateUpdate:
    """Set the debaters, the judge and the prices of their models."""
    complete_config = complete(merge_debaters(context, event))
    participants = complete_config["participants"]
    judge = complete_config["judge"]
    config = context["config"].copy()
    config["participants"] = participants
    config["judge"] = judge
    ids = [participant["id"] for participant in participants]
    return {
        "config": config,
        "participants": participants,
        "judge": judge,
        "prices": {**context["prices"], **(event.get("prices") or {})},
        # The open round forgets debaters that do not take part any more.
        "responses": [response for response in context["responses"] if response["participantId"] in ids],
    }


def set_participants_error(context: DebateContext, event: InitComplete) -> DebateUpdate:
    """Set the error of the first field of the debaters that is wrong."""
    problem = problems_with(merge_debaters(context, event))[0]
    return {"lastError": _field_error(problem, event.get("at", context["lastAt"]))}
