"""The intended differences between the five documents and the code, by document and line.

Each says what we do in that line, and why. The list is exact: a difference that is not here fails, and so does one
that is here and no longer exists.
"""

from typing import Any, NamedTuple

from antiphon.chat import FlowState


class Difference(NamedTuple):
    """What we do instead of what a line says, and the reason."""

    ours: Any
    reason: str


DIFFERENCES: dict[str, dict[int, Difference]] = {
    "000": {
        40: Difference("sending", "the machine of the document sends at once, too: SEND leads to `sending` (line 392)"),
        103: Difference({True, False}, "a spent quota is a limit that waiting does not lift, so it is not retried"),
        511: Difference("s1", "line 500 and test UNIT-022 keep the session; an explicit null ends it"),
    },
    "001": {
        164: Difference(
            "AGENT_TOOL_CALL: toolCall.id is missing: expected a text", "results are matched to calls by id"
        ),
        350: Difference("executing", "CONTINUE lets the same agent go on, so there is nothing to select"),
    },
    "002": {
        60: Difference(
            FlowState.CONVERGING, "the diagram and the tables disagree; the tables keep the state (line 166)"
        ),
        221: Difference(
            "ValueError: Invalid action 'message' for state DORMANT. Valid actions: configure, start",
            "the message also names the actions that are valid",
        ),
        224: Difference(
            "ValueError: Invalid action 'fork' for state DORMANT. Valid actions: configure, start",
            "the message also names the actions that are valid",
        ),
    },
    "003": {},
    "004": {
        210: Difference(False, "keys stay in the environment of the provider, and never in a context"),
        297: Difference(
            ["awaitingArguments", "error"], "debaters that are not ready are an error that names the field"
        ),
        354: Difference(None, "a judge that is not known yet is null, not an object without its keys"),
        360: Difference("0", "amounts are decimal texts, which add up exactly"),
        362: Difference(None, "no threshold is null; a threshold of 0 would warn at once"),
        459: Difference("error", "the guard reads the error before this one, so a first error would be lost"),
        462: Difference(0, "retries are counted when they happen, in every state, and not when an error comes"),
        483: Difference(["compileTranscript", "invokeJudge"], "the judge is charged when it has answered"),
        509: Difference(
            "awaitingArguments", "the diagram returns to the last state; a round without openings has no base"
        ),
        530: Difference(0.009, "input and output have prices of their own; the helper charges the same tokens twice"),
        659: Difference(
            {"debating": "collectingResponses"}, "the substates of lines 106 and 107 are part of the value"
        ),
        720: Difference(
            "debating", "a restored machine takes no step of its own; the limit is noticed with the next event"
        ),
    },
}
