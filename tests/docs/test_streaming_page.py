"""The page of the streaming machine is current: its picture, and a line for everything the machine knows."""

import re
from typing import get_args, get_type_hints

import pytest

from antiphon import to_mermaid
from antiphon.chat.streaming_chat import StreamingChat
from antiphon.threads import errors
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.streaming_reply import DEFAULT_SETTINGS, initial_context
from antiphon.threads.machine.streaming_types import StreamingEvent
from tests.fixtures.charts import load_chart
from tests.paths import DOCS

PAGE = (DOCS / "machines" / "streaming.md").read_text(encoding="utf-8")
TOLD = set(re.findall(r"`([\w.]+)`", "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))))


@pytest.mark.requirement("X-10", "E-20")
def test_the_picture_is_current():
    assert to_mermaid(streaming_machine).strip() in PAGE


def test_every_state_has_its_line_in_the_words_of_the_chart():
    for name, state in load_chart("streaming")["states"].items():
        described = state["description"].rstrip(".")
        assert f"| `{name}` | {described[0].lower()}{described[1:]} |" in PAGE


@pytest.mark.requirement("S0-10..S0-19")
def test_every_key_of_the_context_and_every_setting_has_its_line():
    assert set(initial_context()) - TOLD == set()
    assert set(DEFAULT_SETTINGS) - TOLD == set()


def test_the_defaults_of_settings_are_those_of_the_code():
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    for key, value in DEFAULT_SETTINGS.items():
        [line] = [line for line in lines if f"`{key}`" in line.split("|")[1] and "what" not in line.split("|")[1]]
        shown = {None: "null", False: "false"}.get(value, str(value)) if not isinstance(value, dict) else "`{}`"
        assert shown in line.split("|")[2]


@pytest.mark.requirement("S0-20..S0-29")
def test_every_event_has_its_line():
    types = {name for event in get_args(StreamingEvent) for name in get_args(get_type_hints(event)["type"])}

    assert types - TOLD == set()


@pytest.mark.requirement("S0-56..S0-63")
def test_every_member_of_a_chat_has_its_line():
    members = {name for name in vars(StreamingChat) if not name.startswith("_")}

    assert {name for name in members if not re.search(rf"`(?:await )?{name}\b", PAGE)} == set()


@pytest.mark.parametrize("error", ["Busy", "OverBudget", "NothingToRetry", "NotOpen", "UnknownSetting"])
def test_every_error_of_a_chat_is_named(error):
    assert issubclass(getattr(errors, error), errors.ThreadError)
    assert f"`{error}`" in PAGE


@pytest.mark.requirement("S0-77")
@pytest.mark.parametrize(
    "fact",
    [
        "2-6 Create Streaming State Machine",
        "epic 2 First Conversation",
        "critical",
        "2026-01-24",
        "7 hours",
        "`orion://`",
    ],
)
def test_the_page_says_where_the_machine_comes_from(fact):
    assert fact in PAGE
