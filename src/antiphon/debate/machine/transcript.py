"""The transcript as debaters and the judge get it: bounded, with the first and the last turns kept."""

from collections.abc import Sequence
from typing import TypedDict

from antiphon.debate.machine.context import DebateContext, Response, Round
from antiphon.debate.machine.formats import groups
from antiphon.debate.machine.personas import instructions
from antiphon.tokens import BYTES_PER_TOKEN

ASKED = {
    "opening": "Give your opening statement in at most 150 words.",
    "rebuttal": "Round {number}: give your rebuttal in at most 150 words. Answer what was really said.",
    "closing": "Give your closing statement in at most 120 words.",
}
CUT = "\n[...]\n"


class PromptPart(TypedDict):
    """A part of a prompt."""

    type: str
    text: str


class PromptMessage(TypedDict):
    """A message of a prompt as JSON."""

    role: str
    parts: list[PromptPart]


class Speech(TypedDict):
    """A response in the transcript; without a speaker it is a note about a gap."""

    phase: str
    number: int
    speaker: str | None
    text: str


def message(role: str, text: str) -> PromptMessage:
    """Return a message as JSON."""
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def current_groups(context: DebateContext) -> list[list[str]]:
    """Return the speakers of this round, in order."""
    return groups(context["config"]["format"], context["phase"], context["currentRound"], context["participants"])


def speeches(rounds: Sequence[Round]) -> list[Speech]:
    """Return all responses of some rounds, in order."""
    return [speech for past in rounds for speech in _speeches(past["phase"], past["roundNumber"], past["responses"])]


def _speeches(phase: str, number: int, responses: Sequence[Response]) -> list[Speech]:
    return [
        {"phase": phase, "number": number, "speaker": response["participantId"], "text": response["content"]}
        for response in responses
        if not response.get("failed")
    ]


def heard_by(context: DebateContext, speaker: str) -> list[Speech]:
    """Return what a debater has heard: earlier rounds, and in this round the groups before its own."""
    earlier: list[str] = []
    for group in current_groups(context):
        if speaker in group:
            break
        earlier += group
    responses = [response for response in context["responses"] if response["participantId"] in earlier]
    return [*speeches(context["rounds"]), *_speeches(context["phase"], context["currentRound"], responses)]


def fit_speeches(transcript: Sequence[Speech], limit: int) -> list[Speech]:
    """Shorten a transcript to a number of tokens: the first speech and the last ones stay, the middle is left out."""
    allowed = limit * BYTES_PER_TOKEN
    clipped: list[Speech] = [{**speech, "text": clip(speech["text"], allowed // 2)} for speech in transcript]
    if not clipped:
        return []
    first = clipped[0]
    following = clipped[1:]
    size = len(first["text"])
    tail: list[Speech] = []
    for speech in reversed(following):
        size += len(speech["text"])
        if tail and size > allowed:
            break
        tail.append(speech)
    left_out = len(following) - len(tail)
    note = f"[{left_out} turns are left out here]"
    gap: list[Speech] = [{"phase": "", "number": 0, "speaker": None, "text": note}] if left_out else []
    return [first, *gap, *reversed(tail)]


def clip(text: str, most: int) -> str:
    """Remove the middle of a text that is too long."""
    return text if len(text) <= most else text[: most // 2] + CUT + text[-(most // 2) :]


def messages_for(context: DebateContext, speaker: str) -> list[PromptMessage]:
    """Return the prompt of a debater: instructions, transcript, interjections, and the request."""
    participants = {participant["id"]: participant for participant in context["participants"]}
    messages = [message("system", instructions(participants[speaker], context["config"]["topic"]))]
    for speech in fit_speeches(heard_by(context, speaker), context["config"]["contextLimit"]):
        if speech["speaker"] == speaker:
            messages.append(message("assistant", speech["text"]))
        elif speech["speaker"] in participants:
            messages.append(message("user", f"{participants[speech['speaker']]['name']}: {speech['text']}"))
        else:
            messages.append(message("user", speech["text"]))
    messages += [message("user", f"A listener says: {note['text']}") for note in context["interjections"]]
    return [*messages, message("user", ASKED[context["phase"]].format(number=context["currentRound"]))]


def judge_messages(context: DebateContext) -> list[PromptMessage]:
    """Return the prompt of the judge."""
    judge = context["judge"]
    names = {participant["id"]: participant["name"] for participant in context["participants"]}
    assert judge is not None
    sides = "\n".join(f"- {side['id']}: {side['name']}, {side['position']}" for side in context["participants"])
    transcript = "\n\n".join(
        f"[{speech['phase']} {speech['number']}, {speech['speaker']}] "
        f"{names.get(speech['speaker'], speech['speaker'])}: {speech['text']}"
        if speech["speaker"]
        else speech["text"]
        for speech in fit_speeches(speeches(context["rounds"]), context["config"]["contextLimit"] * 4)
    )
    criteria = ", ".join(judge["evaluationCriteria"])
    rules = (
        f"You are {judge['name']}, the judge of a debate. Give every participant, by id, a score from 0 to 100 for "
        f"each of these criteria: {criteria}; and a score for the whole. The one with the highest score wins; there is "
        "no winner when the highest scores are equal. Give your reasoning, and refer to turns by phase, number and id."
    )
    return [message("system", rules), message("user", f"{context['config']['topic']}\n\n{sides}\n\n{transcript}")]
