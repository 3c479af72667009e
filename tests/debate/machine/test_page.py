"""The page of the debate machine is current: its picture, and a line for everything the machine knows."""

import json
import re

import pytest

from antiphon import to_mermaid
from antiphon.debate.machine.config import DEFAULTS, RULES
from antiphon.debate.machine.context import first_context
from antiphon.debate.machine.debate import debate_machine
from antiphon.debate.machine.formats import FORMATS
from antiphon.debate.service import Debates
from tests.fixtures.charts import load_chart
from tests.paths import DOCS

PAGE = (DOCS / "machines" / "debate.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|")]
NAMED = set(re.findall(r"`([\w.-]+)`", "\n".join(ROWS)))


@pytest.mark.requirement("X-10", "E-20", "S4-117")
def test_the_picture_is_current():
    assert to_mermaid(debate_machine).strip() in PAGE


@pytest.mark.requirement("S4-16..S4-27", "S4-39..S4-53")
def test_every_state_event_and_key_of_the_context_is_named():
    events = {type for type in debate_machine.events if not type.startswith("xstate.")}
    wanted = {*load_chart("debate")["states"], "collectingResponses", "processingRound", *events, *first_context()}

    assert wanted - NAMED == set()


@pytest.mark.requirement("S4-28")
def test_every_setting_is_named_with_its_default():
    for setting in RULES:
        row = next(line for line in ROWS if line.startswith(f"| `{setting}` |"))
        if setting in DEFAULTS:
            assert f"| `{json.dumps(DEFAULTS[setting])}` |" in row


SEED_GUARDS = [
    "allParticipantsReady",
    "allArgumentsReceived",
    "maxRoundsReached",
    "costLimitExceeded",
    "costWarningThreshold",
    "canRetry",
    "shouldAutoStop",
]
SEED_ACTIONS = [
    "initializeParticipants",
    "setupCostTracking",
    "promptOpeningArguments",
    "startParticipantStreams",
    "updateStreamingContent",
    "recordCompletedStream",
    "startDebateRound",
    "trackRoundCosts",
    "recordRound",
    "incrementRound",
    "displayCostWarning",
    "compileTranscript",
    "invokeJudge",
    "trackJudgeCosts",
    "calculateFinalCosts",
    "persistDebateResults",
    "emitCompletion",
    "saveStateSnapshot",
    "cancelActiveStreams",
    "restoreState",
    "logError",
    "cleanupConnections",
    "calculateRoundCost",
]


@pytest.mark.requirement("S4-54..S4-60", "S4-83..S4-105")
def test_every_guard_and_action_of_the_seed_has_its_name_or_its_line():
    bound = {*debate_machine.implementations.guards, *debate_machine.implementations.actions}

    assert {name for name in (*SEED_GUARDS, *SEED_ACTIONS) if name not in bound} == {"calculateRoundCost"}
    assert any(line.startswith("| `calculateRoundCost` |") for line in ROWS)


def test_every_format_is_described():
    assert [name for name in FORMATS if not any(line.startswith(f"| `{name}` |") for line in ROWS)] == []


@pytest.mark.requirement("S4-B1..S4-B28")
def test_every_decision_has_its_line():
    assert [number for number in range(1, 29) if not any(line.startswith(f"| S4-B{number} |") for line in ROWS)] == []


def test_everything_that_debates_can_do_is_named():
    members = {name for name, member in vars(Debates).items() if callable(member) and not name.startswith("_")}

    assert {name for name in members if f"`{name}`" not in PAGE} == set()
