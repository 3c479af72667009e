"""The page of the chat says what is true: its picture, events, settings and context are those of the machine."""

import json
import re

import pytest

from antiphon import to_mermaid
from antiphon.chat.machine.context import DEFAULTS, ChatRun, Checkpoint, FlowContext, PendingReply, StoredMessage
from antiphon.chat.machine.flow import flow_machine
from tests.fixtures.charts import load_chart
from tests.paths import DOCS

PAGE = (DOCS / "machines" / "flow.md").read_text(encoding="utf-8")
CHART = load_chart("flow")
SETTINGS = PAGE.partition("\n## Settings\n")[2].partition("\n## ")[0].split("\n")
NAMED = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))


@pytest.mark.requirement("X-10", "E-20")
def test_the_picture_is_current():
    assert f"```mermaid\n{to_mermaid(flow_machine).rstrip()}\n```" in PAGE


@pytest.mark.parametrize("state", ["", *CHART["states"]])
def test_every_event_is_named(state):
    events = (CHART["states"][state] if state else CHART)["on"]

    assert [event for event in events if event not in NAMED] == []


@pytest.mark.requirement("S2-53")
def test_every_output_is_named():
    outputs = re.findall(r"'event': '(\w+)'", str(CHART))

    assert [output for output in outputs if output not in NAMED] == []


def test_every_setting_is_named_with_its_default():
    for setting, default in DEFAULTS.items():
        row = next(line for line in SETTINGS if f"`{setting}`" in line)
        assert json.dumps(default) in row


@pytest.mark.parametrize("shape", [FlowContext, StoredMessage, Checkpoint, PendingReply, ChatRun])
def test_every_key_of_the_context_is_named(shape):
    assert [key for key in shape.__annotations__ if key not in NAMED] == []


@pytest.mark.requirement("S2-B1..S2-B14")
def test_every_decision_is_on_the_page():
    assert [row for row in [f"S2-B{n}" for n in range(1, 15)] + ["S2-51"] if row not in PAGE] == []
