"""The start of a debate: its configuration and its participants."""

from antiphon.debate.machine.config import complete, problems_with
from antiphon.debate.machine.context import NO_COSTS, DebateContext, DebateUpdate, Json
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


def is_config_valid(context: DebateContext, event: ConfigFields) -> bool:
    """Return whether the configuration has no problems."""
    return not problems_with(merge_config(context, event))


def configure(context: DebateContext, event: ConfigFields) -> DebateUpdate:
    """Set the configuration."""
    config = complete(merge_config(context, event))
    return {
        "config": config,
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
    problem = problems_with(merge_config(context, event))[0]
    message = f"{problem.field}: {problem.message}"
    error = failure("validation", message, retryable=False, at=event.get("at"), field=problem.field)
    return {"lastError": error, "runId": event.get("runId")}


def all_participants_ready(context: DebateContext, event: InitComplete) -> bool:
    """Return whether there are two to four debaters with models and different ids."""
    participants = event.get("participants") or []
    ids = [participant.get("id") for participant in participants]
    has_models = all(participant.get("model") for participant in participants)
    return 2 <= len(participants) <= 4 and len(set(ids)) == len(ids) and has_models


def opens_debate(context: DebateContext, event: InitComplete) -> bool:
    """Return whether the debaters are ready and no round has begun."""
    return context["resumeTarget"] in (None, "awaitingArguments") and all_participants_ready(context, event)


def set_participants(context: DebateContext, event: InitComplete) -> DebateUpdate:
    """Set the debaters, the judge and the prices of their models."""
    ids = [participant["id"] for participant in event["participants"]]
    return {
        "participants": event["participants"],
        "judge": event.get("judge") or context["judge"],
        "prices": {**context["prices"], **(event.get("prices") or {})},
        # The open round forgets debaters that do not take part any more.
        "responses": [response for response in context["responses"] if response["participantId"] in ids],
    }
