"""What was said, as each debater and the judge get it: bounded, with the first and the last turn kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.debate.machine.context import DebateContext
from antiphon.debate.machine.formats import groups
from antiphon.debate.machine.personas import instructions
from antiphon.tokens import BYTES_PER_TOKEN

Turn = dict[str, Any]
ASKED = {
    "opening": "Give your opening statement in at most 150 words.",
    "rebuttal": "Round {number}: give your rebuttal in at most 150 words. Answer what was really said.",
    "closing": "Give your closing statement in at most 120 words.",
}
CUT = "\n[...]\n"


def message(role: str, text: str) -> dict[str, Any]:
    """A message as JSON."""
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def current_groups(context: DebateContext) -> list[list[str]]:
    """Who speaks in this round, in order."""
    return groups(context["config"]["format"], context["phase"], context["currentRound"], context["participants"])


def turns(rounds: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """All that was said in some rounds, in order."""
    return [
        {"phase": one["phase"], "number": one["roundNumber"], "speaker": said["participantId"], "text": said["content"]}
        for one in rounds
        for said in one["responses"]
        if not said.get("failed")
    ]


def heard_by(context: DebateContext, speaker: str) -> list[Turn]:
    """What a debater has heard: earlier rounds, and in this one whoever spoke before, not whoever speaks beside."""
    earlier: list[str] = []
    for group in current_groups(context):
        if speaker in group:
            break
        earlier += group
    now = {"phase": context["phase"], "roundNumber": context["currentRound"]}
    said = [one for one in context["responses"] if one["participantId"] in earlier]
    return turns([*context["rounds"], {**now, "responses": said}])


def bounded(said: Sequence[Turn], limit: int) -> list[Turn]:
    """As much as fits into so many tokens: the first turn and the last ones, the middle is left out."""
    allowed = limit * BYTES_PER_TOKEN
    kept = [{**turn, "text": clipped(turn["text"], allowed // 2)} for turn in said]
    if not kept:
        return []
    first, rest = kept[0], kept[1:]
    size = len(first["text"])
    tail: list[Turn] = []
    for turn in reversed(rest):
        size += len(turn["text"])
        if tail and size > allowed:
            break
        tail.append(turn)
    left_out = len(rest) - len(tail)
    gap = [{"speaker": None, "text": f"[{left_out} turns are left out here]"}] if left_out else []
    return [first, *gap, *reversed(tail)]


def clipped(text: str, most: int) -> str:
    """A text without its middle, if it is too long."""
    return text if len(text) <= most else text[: most // 2] + CUT + text[-(most // 2) :]


def messages_for(context: DebateContext, speaker: str) -> list[dict[str, Any]]:
    """What a debater is asked: its instructions, what was said, what a person threw in, and what it is to do."""
    who = {one["id"]: one for one in context["participants"]}
    said = [message("system", instructions(who[speaker], context["config"]["topic"]))]
    for turn in bounded(heard_by(context, speaker), context["config"]["contextLimit"]):
        if turn["speaker"] == speaker:
            said.append(message("assistant", turn["text"]))
        else:
            name = who[turn["speaker"]]["name"] if turn["speaker"] in who else None
            said.append(message("user", f"{name}: {turn['text']}" if name else turn["text"]))
    said += [message("user", f"A listener says: {one['text']}") for one in context["interjections"]]
    return [*said, message("user", ASKED[context["phase"]].format(number=context["currentRound"]))]


def judge_messages(context: DebateContext) -> list[dict[str, Any]]:
    """What the judge is asked."""
    judge, names = context["judge"], {one["id"]: one["name"] for one in context["participants"]}
    assert judge is not None
    sides = "\n".join(f"- {one['id']}: {one['name']}, {one['position']}" for one in context["participants"])
    told = "\n\n".join(
        f"[{turn['phase']} {turn['number']}, {turn['speaker']}] {names.get(turn['speaker'], turn['speaker'])}: "
        f"{turn['text']}"
        if turn["speaker"]
        else turn["text"]
        for turn in bounded(turns(context["rounds"]), context["config"]["contextLimit"] * 4)
    )
    criteria = ", ".join(judge["evaluationCriteria"])
    rules = (
        f"You are {judge['name']}, the judge of a debate. Give every participant, by id, a score from 0 to 100 for "
        f"each of these criteria: {criteria}; and a score for the whole. The one with the highest score wins; there is "
        "no winner when the highest scores are equal. Give your reasoning, and refer to turns by phase, number and id."
    )
    return [message("system", rules), message("user", f"{context['config']['topic']}\n\n{sides}\n\n{told}")]
