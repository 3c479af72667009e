"""The names that others build on."""

from typing import get_type_hints

from antiphon.machines.streaming import streaming_machine
from antiphon.machines.streaming_types import StreamEvent, StreamingContext, StreamingEvent
from antiphon.services.streaming_chat import StreamingChat
from tests.architecture import rules


def test_machine_types_and_driver_can_be_imported():
    """S0-67, S0-69."""
    assert streaming_machine.id == "streaming"
    assert {"requestId", "text", "settings"} <= get_type_hints(StreamingContext).keys()
    assert get_type_hints(StreamingChat.context.fget)["return"] is StreamingContext
    assert set(StreamEvent.__args__) < set(StreamingEvent.__args__)


def test_what_the_machine_needs_does_not_know_of_it():
    """S0-95."""
    assert not rules.MAY_IMPORT["providers"] & {"machines", "services"}
    assert not rules.MAY_IMPORT["machines"] & {"providers", "services"}
