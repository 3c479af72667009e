"""Fake server that responds like the model providers, faults included, for tests without network or keys."""

from antiphon.testing.fake_llm.scenarios import SCENARIOS, Scenario
from antiphon.testing.fake_llm.server import FakeLLM, ReceivedRequest

__all__ = ["SCENARIOS", "FakeLLM", "ReceivedRequest", "Scenario"]
