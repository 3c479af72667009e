"""The speakers of a round: those an event is about, those who have answered, and those who are missing."""

from antiphon.debate.machine.context import DebateContext
from antiphon.debate.machine.events import DebaterFields
from antiphon.threads.machine.streaming_types import ReplyCompleted


def speaker_of(context: DebateContext, event: DebaterFields | ReplyCompleted) -> str | None:
    """Return the debater of an event: by its id, or by the request in progress."""
    speaker = event.get("participantId")
    if speaker is not None:
        return str(speaker)
    request = event.get("requestId")
    if request is None:
        return None
    return next((id for id, stream in context["activeStreams"].items() if stream["requestId"] == request), None)


def speaker_of_request(request: str) -> str:
    """Return the debater in the id of a request: `phase-round-debater-number`."""
    return request.split("-", 2)[2].rsplit("-", 1)[0]


def missing_speakers(context: DebateContext) -> list[str]:
    """Return the debaters without a response in this round."""
    answered = {response["participantId"] for response in context["responses"]}
    return [speaker["id"] for speaker in context["participants"] if speaker["id"] not in answered]


def is_missing(context: DebateContext, event: DebaterFields | ReplyCompleted) -> bool:
    """Return whether an event is about a debater without a response in this round; each speaks once."""
    return event.get("participantId") in missing_speakers(context)


def is_active_reply(context: DebateContext, event: DebaterFields | ReplyCompleted) -> bool:
    """Return whether an event is about a reply in progress."""
    return event.get("requestId") is not None and speaker_of(context, event) is not None


def is_of_judge(context: DebateContext, event: DebaterFields | ReplyCompleted) -> bool:
    """Return whether an event is about the judge."""
    return context["judge"] is not None and event.get("participantId") == context["judge"]["id"]


def round_number(context: DebateContext) -> int:
    """Return the number of the round within its phase: there is one round of openings."""
    return max(1, context["currentRound"])
