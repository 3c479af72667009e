"""The names that others build on."""

from typing import get_type_hints

import pytest

import antiphon.chat
from antiphon.chat.streaming_chat import StreamingChat
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.streaming_types import StreamEvent, StreamingContext, StreamingEvent
from tests.architecture import rules


@pytest.mark.requirement("S0-67", "S0-69")
def test_machine_types_and_driver_can_be_imported():
    assert streaming_machine.id == "streaming"
    assert {"requestId", "text", "settings"} <= get_type_hints(StreamingContext).keys()
    assert get_type_hints(StreamingChat.context.fget)["return"] is StreamingContext
    assert set(StreamEvent.__args__) < set(StreamingEvent.__args__)


@pytest.mark.requirement("S0-97", "S0-67")
def test_the_package_lists_machine_driver_helpers_and_types_in_one_place():
    machine_and_types = {"streaming_machine", "StreamingContext", "StreamingEvent", "StreamingSnapshot"}
    driver_and_helpers = {"StreamingChat", "BufferedStream", "StreamState", "batch_events"}

    assert machine_and_types | driver_and_helpers <= set(antiphon.chat.__all__)
    assert antiphon.chat.streaming_machine is streaming_machine
    assert all(getattr(antiphon.chat, name) is not None for name in antiphon.chat.__all__)


@pytest.mark.requirement("S0-95")
def test_what_the_machine_needs_does_not_know_of_it():
    assert not rules.MAY_IMPORT["providers"] & {"threads", "chat", "agents", "debate"}
    assert not rules.MAY_IMPORT["threads.machine"] & {"providers"}
