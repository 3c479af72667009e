"""Document 004, the debate machine: states, context, events, guards, machine, examples and tests, line by line."""

from typing import get_args, get_type_hints

import pytest

from antiphon import create_actor
from antiphon.chart.explore.labels import written_transitions
from antiphon.debate import debate_machine
from antiphon.debate.machine import context as types
from antiphon.debate.machine.config import DEFAULTS
from antiphon.debate.machine.debate import JUDGE_TIMEOUT_MS
from antiphon.debate.machine.guards import GUARDS
from antiphon.debate.machine.replies import OPENING_TIMEOUT_MS
from antiphon.runtime.coalescing import COALESCE_MS
from tests.seeds.reading import Reading, differences, listed, outermost

CONFIG = {
    "id": "debate-123",
    "topic": "Should AI be regulated?",
    "format": "oxford",
    "maxRounds": 5,
    "timeoutPerRound": 60,
    "costLimit": 5.0,
    "warnAtCost": 3.0,
}
START = {"type": "START_DEBATE", "config": CONFIG}
MODEL = {"provider": "anthropic", "modelId": "claude-sonnet", "temperature": 0.7, "maxTokens": 1000}
IDS = ("debater-1", "debater-2")
PARTICIPANTS = [
    {"id": id, "name": id, "model": MODEL, "position": side, "systemPrompt": "Argue.", "color": color}
    for id, side, color in zip(IDS, ("for", "against"), ("blue", "red"), strict=True)
]
READY = {"type": "INIT_COMPLETE", "participants": PARTICIPANTS}
RESPONSES = [
    {"participantId": id, "content": f"I am {id}.", "tokensUsed": 1000, "latencyMs": 7, "timestamp": 5} for id in IDS
]
OPENINGS = {"type": "ARGUMENTS_READY", "responses": RESPONSES}
ROUND = {"type": "ROUND_COMPLETE", "round": {"responses": RESPONSES}}
VERDICT = {
    "winner": "debater-1",
    "scores": {"debater-1": 80, "debater-2": 70},
    "reasoning": "The first answered.",
    "criteria": {"clarity": "Both were clear."},
    "tokensUsed": 500,
    "timestamp": 9,
}
JUDGED = {"type": "VERDICT_READY", "verdict": VERDICT}
TIMEOUT = {"type": "timeout", "message": "Claude API timeout", "participantId": "debater-1", "retryable": True}
ERROR = {"type": "ERROR", "error": {**TIMEOUT, "timestamp": 6}}
FATAL = {"type": "ERROR", "error": {**TIMEOUT, "retryable": False, "timestamp": 6}}
WARNING = {"threshold": 3.0, "currentCost": 3.15, "timestamp": 7, "acknowledged": False}
WARNED = {"type": "COST_WARNING", "warning": WARNING}
CHUNK = {"type": "STREAM_CHUNK", "participantId": "debater-1", "chunk": "I"}
SPOKEN = {"type": "STREAM_COMPLETE", "participantId": "debater-1"}
AWAITING = (START, READY)
DEBATING = (*AWAITING, OPENINGS)
JUDGING = (*DEBATING, *[ROUND] * 5)


def debate(*events):
    """A debate that the caller drives, after some events, without an event loop."""
    actor = create_actor(debate_machine, input={"driver": "events"}).start()
    for event in events:
        actor.send({"type": event} if isinstance(event, str) else event)
    return actor.get_snapshot()


def state(*events):
    return outermost(debate(*events))


def context(*events):
    return debate(*events).context


def states():
    for line, name in enumerate(get_args(types.State), start=60):
        theirs = [
            "idle",
            "initializing",
            "awaitingArguments",
            "debating",
            "judgeEvaluating",
            "completed",
            "paused",
            "error",
        ]
        yield Reading(line, f"'{name}'", name, theirs[line - 60])
    inner = set(debate_machine.root.states["debating"].states)
    yield Reading(106, "collectingResponses", "collectingResponses" in inner, True)
    yield Reading(107, "processingRound", "processingRound" in inner, True)
    yield Reading(97, "120 seconds", OPENING_TIMEOUT_MS, 120_000)
    yield Reading(122, "180 seconds", JUDGE_TIMEOUT_MS, 180_000)
    yield Reading(109, "default 5", DEFAULTS["maxRounds"], 5)


def next_states(name):
    """The states to which the transitions of a state lead."""
    node = debate_machine.root.states[name]
    transitions = [*written_transitions(node), *(one for child in node.walk() for one in written_transitions(child))]
    return {target.key for one in transitions for target in one.targets or ()}


def details():
    """What the document says of each state in words: where it leads, and how it ends."""
    theirs = {
        76: ("idle", {"initializing", "error"}),
        86: ("initializing", {"awaitingArguments", "error"}),
        96: ("awaitingArguments", {"debating", "error", "paused"}),
        112: ("debating", {"debating", "judgeEvaluating", "paused", "error"}),
        121: ("judgeEvaluating", {"completed", "error"}),
        139: ("paused", {"awaitingArguments", "debating", "judgeEvaluating", "completed", "error"}),
        148: ("error", {"initializing", "completed"}),
    }
    for line, (name, targets) in theirs.items():
        yield Reading(line, "Next States", targets <= next_states(name), True)
    yield Reading(75, "Valid debate config", state({**START, "config": {}}), "error")
    told = []
    actor = create_actor(debate_machine, input={"driver": "events"})
    actor.on("completed", told.append)
    actor.on("result", told.append)
    actor.start()
    for event in (*JUDGING, JUDGED):
        actor.send(event)
    yield Reading(129, "completion event", [event["type"] for event in told], ["result", "completed"])
    yield Reading(130, "Final State", actor.get_snapshot().status, "done")
    kept = actor.get_snapshot().output
    yield Reading(131, "transcript, verdict, costs", {"rounds", "verdict", "costTracker"} <= set(kept), True)


FIELDS = {
    types.DebateContext: {155: "config", 158: "participants", 159: "judge", 162: "currentRound", 163: "maxRounds",
        164: "rounds", 167: "activeStreams", 170: "costTracker", 171: "tokenUsage", 174: "verdict", 177: "lastError",
        178: "retryCount"},
    types.DebateConfig: {182: "id", 183: "topic", 184: "format", 185: "maxRounds", 186: "timeoutPerRound",
        187: "costLimit", 188: "warnAtCost"},
    types.Participant: {192: "id", 193: "name", 194: "model", 195: "position", 196: "systemPrompt", 197: "color"},
    types.Judge: {201: "id", 202: "name", 203: "model", 204: "evaluationCriteria"},
    types.LLMModel: {208: "provider", 209: "modelId", 210: "apiKey", 211: "temperature", 212: "maxTokens"},
    types.Round: {216: "roundNumber", 217: "timestamp", 218: "responses", 219: "tokensUsed", 220: "costThisRound"},
    types.Response: {224: "participantId", 225: "content", 226: "tokensUsed", 227: "latencyMs", 228: "timestamp"},
    types.CostTracker: {232: "totalCost", 233: "costByModel", 234: "warningThreshold", 235: "limitThreshold",
        236: "warnings"},
    types.ModelTokenUsage: {240: "inputTokens", 241: "outputTokens", 242: "totalCost", 243: "requestCount"},
    types.JudgeVerdict: {247: "winner", 248: "scores", 249: "reasoning", 250: "criteria", 251: "tokensUsed",
        252: "timestamp"},
    types.DebateError: {256: "type", 257: "message", 258: "participantId", 259: "retryable", 260: "timestamp"},
    types.CostWarning: {264: "threshold", 265: "currentCost", 266: "timestamp", 267: "acknowledged"},
}  # fmt: skip


def fields():
    for kind, lines in FIELDS.items():
        for line, name in lines.items():
            yield Reading(line, name, name in get_type_hints(kind), True)


def events():
    declared = debate_machine.event_types
    named = {275: START, 276: READY, 277: OPENINGS, 278: ROUND, 279: "ALL_ROUNDS_COMPLETE", 280: JUDGED, 281: "PAUSE"}
    named |= {282: "RESUME", 283: "STOP", 284: ERROR, 285: "RETRY", 286: WARNED, 287: "ACKNOWLEDGE_WARNING"}
    named |= {288: CHUNK, 289: SPOKEN}
    for line, given in named.items():
        event = {"type": given} if isinstance(given, str) else given
        problem = declared.check(event)
        yield Reading(line, event["type"], problem and problem.text, None)


def guards():
    nobody = {**READY, "participants": [{**one, "model": None} for one in PARTICIPANTS]}
    yield Reading(297, "allParticipantsReady", [state(START, event) for event in (READY, nobody)],
        ["awaitingArguments", "initializing"])  # fmt: skip
    few = {**OPENINGS, "responses": RESPONSES[:1]}
    walks = ((*AWAITING, few), (*AWAITING, CHUNK, OPENINGS), DEBATING)
    yield Reading(
        302, "allArgumentsReceived", [state(*walk) for walk in walks], [*["awaitingArguments"] * 2, "debating"]
    )
    yield Reading(308, "maxRoundsReached", [state(*JUDGING[:-1]), state(*JUDGING)], ["debating", "judgeEvaluating"])
    at = {"config": {"costLimit": 5.0}, "costTracker": {"totalCost": "5", "limitThreshold": "5"}}
    below = {**at, "costTracker": {**at["costTracker"], "totalCost": "4.99"}}
    for line, name in ((313, "costLimitExceeded"), (332, "shouldAutoStop")):
        yield Reading(line, name, [GUARDS[name](context) for context in (at, below)], [True, False])
    tracker = {"totalCost": "3", "warningThreshold": "3", "warnings": []}
    cheap = {"costTracker": {**tracker, "totalCost": "2.99"}}
    warns = [GUARDS["costWarningThreshold"](context) for context in ({"costTracker": tracker}, cheap)]
    yield Reading(319, "costWarningThreshold", warns, [True, False])
    yield Reading(326, "canRetry", [state(*DEBATING, ERROR, "RETRY"), state(*DEBATING, FATAL, "RETRY")],
        ["initializing", "error"])  # fmt: skip
    tries = [ERROR, "RETRY", READY] * 3
    yield Reading(328, "retryCount < 3", state(*DEBATING, *tries, ERROR, "RETRY"), "error")


def first_context():
    begun = context()
    theirs = {352: ("config", {}), 353: ("participants", []), 354: ("judge", {}), 355: ("currentRound", 0)}
    theirs |= {356: ("maxRounds", 5), 357: ("rounds", []), 358: ("activeStreams", {}), 365: ("tokenUsage", {})}
    theirs |= {366: ("retryCount", 0)}
    for line, (key, value) in theirs.items():
        yield Reading(line, key, begun[key], value)
    for line, (key, value) in {360: ("totalCost", 0), 361: ("costByModel", {}), 363: ("warnings", [])}.items():
        yield Reading(line, key, begun["costTracker"][key], value)
    yield Reading(362, "warningThreshold", begun["costTracker"]["warningThreshold"], 0)


def transitions():
    """Every transition of the machine in the document."""
    yield Reading(345, "id:", debate_machine.id, "debate")
    yield Reading(346, "initial", state(), "idle")
    started = context(START)
    taken = {key: started["config"][key] for key in CONFIG}
    yield Reading(371, "START_DEBATE", state(START), "initializing")
    yield Reading(374, "event.config", taken, CONFIG)
    yield Reading(375, "retryCount", started["retryCount"], 0)
    yield Reading(384, "INIT_COMPLETE", state(*AWAITING), "awaitingArguments")
    yield Reading(388, "event.participants", context(*AWAITING)["participants"], PARTICIPANTS)
    yield Reading(391, "ERROR", state(START, ERROR), "error")
    yield Reading(394, "event.error", context(START, ERROR)["lastError"], ERROR["error"])
    yield Reading(403, "STREAM_CHUNK", context(*AWAITING, CHUNK)["activeStreams"]["debater-1"]["text"], "I")
    spoken = context(*AWAITING, CHUNK, SPOKEN)
    yield Reading(406, "STREAM_COMPLETE", (spoken["activeStreams"], spoken["responses"][0]["content"]), ({}, "I"))
    yield Reading(409, "ARGUMENTS_READY", state(*DEBATING), "debating")
    [opening] = context(*DEBATING)["rounds"]
    yield Reading(415, "roundNumber", opening["roundNumber"], 1)
    yield Reading(
        417, "event.responses", [one["content"] for one in opening["responses"]], [one["content"] for one in RESPONSES]
    )
    yield Reading(418, "tokensUsed", opening["tokensUsed"], 2000)
    yield Reading(422, "currentRound", context(*DEBATING)["currentRound"], 1)
    yield Reading(425, "PAUSE", state(*AWAITING, "PAUSE"), "paused")
    yield Reading(426, "ERROR", state(*AWAITING, ERROR), "error")
    yield Reading(429, "event.error", context(*AWAITING, ERROR)["lastError"], ERROR["error"])
    yield Reading(438, "STREAM_CHUNK", context(*DEBATING, CHUNK)["activeStreams"]["debater-1"]["text"], "I")
    yield Reading(
        441, "ROUND_COMPLETE", [state(*DEBATING, *[ROUND] * count) for count in (4, 5)], ["debating", "judgeEvaluating"]
    )
    rounds = context(*JUDGING)["rounds"]
    yield Reading(445, "recordRound", [one["roundNumber"] for one in rounds], [1, 1, 2, 3, 4, 5])
    yield Reading(449, "incrementRound", context(*DEBATING, ROUND)["currentRound"], 2)
    yield Reading(452, "COST_WARNING", len(context(*DEBATING, WARNED)["costTracker"]["warnings"]), 1)
    yield Reading(455, "PAUSE", state(*DEBATING, "PAUSE"), "paused")
    yield Reading(456, "STOP", state(*DEBATING, "STOP"), "judgeEvaluating")
    yield Reading(457, "ERROR", state(*DEBATING, ERROR), "error")
    yield Reading(459, "canRetry", state(*DEBATING, FATAL), "debating")
    yield Reading(462, "retryCount", context(*DEBATING, ERROR)["retryCount"], 1)
    yield Reading(485, "VERDICT_READY", state(*JUDGING, JUDGED), "completed")
    verdict = context(*JUDGING, JUDGED)["verdict"]
    yield Reading(488, "event.verdict", {key: verdict[key] for key in VERDICT}, VERDICT)
    yield Reading(491, "ERROR", state(*JUDGING, ERROR), "error")
    yield Reading(494, "event.error", context(*JUDGING, ERROR)["lastError"], ERROR["error"])
    yield Reading(501, "final", debate(*JUDGING, JUDGED).status, "done")
    yield Reading(508, "RESUME", state(*DEBATING, "PAUSE", "RESUME"), "debating")
    yield Reading(509, "#debate.debating", state(*AWAITING, "PAUSE", "RESUME"), "debating")
    yield Reading(512, "STOP", state(*DEBATING, "PAUSE", "STOP"), "completed")
    yield Reading(519, "RETRY", state(*DEBATING, ERROR, "RETRY"), "initializing")
    yield Reading(523, "STOP", state(*DEBATING, ERROR, "STOP"), "completed")


def cost_limit():
    dear = [{**one, "usage": {"input": 0, "output": 10}, "costUsd": 2.75} for one in RESPONSES]
    spent = debate(*AWAITING, {**OPENINGS, "responses": dear})
    yield Reading(467, "{", outermost(spent), "error")
    error = spent.context["lastError"]
    for line, key, value in (
        (472, "type", "cost_limit"),
        (473, "message", "Cost limit exceeded"),
        (474, "retryable", False),
    ):
        yield Reading(line, key, error[key], value)
    price = {"input": "3", "output": "15"}
    ready = {**READY, "prices": {"anthropic:claude-sonnet": price}}
    used = [{**one, "usage": {"input": 1000, "output": 100}} for one in RESPONSES]
    [opening] = context(START, ready, {**OPENINGS, "responses": used})["rounds"]
    theirs = sum(one["tokensUsed"] * (0.003 + 0.015) / 1000 for one in RESPONSES)
    yield Reading(530, "calculateRoundCost", float(opening["costThisRound"]), theirs)


ENTRIES = {
    382: ("initializing", ["initializeParticipants", "setupCostTracking"]),
    401: ("awaitingArguments", ["promptOpeningArguments", "startParticipantStreams"]),
    436: ("debating", ["startDebateRound", "trackRoundCosts"]),
    483: ("judgeEvaluating", ["compileTranscript", "invokeJudge", "trackJudgeCosts"]),
    502: ("completed", ["calculateFinalCosts", "persistDebateResults", "emitCompletion"]),
    506: ("paused", ["saveStateSnapshot", "cancelActiveStreams"]),
    517: ("error", ["logError", "cleanupConnections"]),
}


def entries():
    """The entry actions of each state are among ours."""
    for line, (name, theirs) in ENTRIES.items():
        written = debate_machine.config["states"][name]["entry"]
        ours = [action["type"] if isinstance(action, dict) else action for action in written]
        yield Reading(line, "entry", [action for action in theirs if action in ours], theirs)


def happy_path():
    actor = create_actor(debate_machine, input={"driver": "events"})
    actor.start()
    actor.send(START)
    yield Reading(559, "initializing", outermost(actor.get_snapshot()), "initializing")
    actor.send(READY)
    yield Reading(566, "awaitingArguments", outermost(actor.get_snapshot()), "awaitingArguments")
    actor.send(OPENINGS)
    now = actor.get_snapshot()
    yield Reading(573, "round 1", (outermost(now), now.context["currentRound"]), ("debating", 1))
    for _ in range(4):
        actor.send(ROUND)
    now = actor.get_snapshot()
    yield Reading(577, "round N+1", (outermost(now), now.context["currentRound"]), ("debating", 5))
    actor.send(ROUND)
    yield Reading(581, "judgeEvaluating", outermost(actor.get_snapshot()), "judgeEvaluating")
    actor.send(JUDGED)
    yield Reading(588, "completed", outermost(actor.get_snapshot()), "completed")


def other_flows():
    yield Reading(605, "error", state(*DEBATING, ERROR), "error")
    walk = (*DEBATING, ROUND, ERROR, "RETRY")
    resumed = debate(*walk, READY)
    ours = (state(*walk), outermost(resumed), resumed.context["currentRound"])
    yield Reading(609, "resumes", ours, ("initializing", "debating", 2))
    warned = debate(*DEBATING, WARNED)
    yield Reading(625, "modal", (outermost(warned), len(warned.context["costTracker"]["warnings"])), ("debating", 1))
    seen = debate(*DEBATING, WARNED, "ACKNOWLEDGE_WARNING")
    ours = (outermost(seen), seen.context["costTracker"]["warnings"][0]["acknowledged"])
    yield Reading(629, "continues", ours, ("debating", True))
    stopped = (*DEBATING, WARNED, "STOP")
    yield Reading(633, "completed", (state(*stopped), state(*stopped, JUDGED)), ("judgeEvaluating", "completed"))


def display():
    """What the component of the document shows."""
    running = debate(*DEBATING, WARNED)
    yield Reading(659, "state.value", running.value, "debating")
    yield Reading(661, "totalCost", running.context["costTracker"]["totalCost"] is not None, True)
    yield Reading(662, "warnings[0]", float(running.context["costTracker"]["warnings"][0]["threshold"]), 3.0)
    yield Reading(664, "matches", running.matches("debating"), True)
    yield Reading(666, "participants", [one["id"] for one in running.context["participants"]], list(IDS))
    yield Reading(667, "currentRound", running.context["currentRound"], 1)
    yield Reading(668, "rounds", len(running.context["rounds"]), 1)
    over = debate(*JUDGING, JUDGED)
    yield Reading(671, "matches", over.matches("completed"), True)
    yield Reading(672, "verdict", over.context["verdict"]["winner"], "debater-1")


def own_tests():
    actor = create_actor(debate_machine)
    actor.start()
    yield Reading(690, "idle", actor.get_snapshot().value, "idle")
    actor.send(START)
    yield Reading(697, "initializing", actor.get_snapshot().value, "initializing")
    # The document changes the context of an idle machine, which no engine looks at; here the debate is in a round.
    running = create_actor(debate_machine, snapshot=debate(*DEBATING)).start().get_persisted_snapshot()
    tracker = {**running["context"]["costTracker"], "totalCost": "5.5", "warningThreshold": "3", "limitThreshold": "5"}
    spent = {**running, "context": {**running["context"], "costTracker": tracker}}
    actor = create_actor(debate_machine, snapshot=spent)
    actor.start()
    yield Reading(720, "error", outermost(actor.get_snapshot()), "error")
    actor.send(CHUNK)
    yield Reading(721, "cost_limit", actor.get_snapshot().context["lastError"]["type"], "cost_limit")


def performance():
    yield Reading(729, "100ms", COALESCE_MS <= 100, True)
    yield Reading(731, "activeStreams", context(*AWAITING, CHUNK, SPOKEN)["activeStreams"], {})


PASSAGES = [states, details, fields, events, guards, first_context, transitions, cost_limit, entries, happy_path,
            other_flows, display, own_tests, performance]  # fmt: skip


@pytest.mark.requirement("S4-106..S4-111", "S4-123")
@pytest.mark.parametrize("passage", PASSAGES)
def test_the_debate_holds_line_by_line(passage):
    readings = list(passage())

    assert differences(readings) == listed("004", readings)
