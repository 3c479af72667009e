"""A server that answers like the model providers do, faults included, for tests without a network or a key."""

from antiphon.testing.fake_llm.scenarios import SCENARIOS, Scenario
from antiphon.testing.fake_llm.server import FakeLLM, ReceivedRequest

__all__ = ["SCENARIOS", "FakeLLM", "ReceivedRequest", "Scenario"]
