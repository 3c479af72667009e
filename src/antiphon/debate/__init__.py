"""Debates between models, with a judge and a budget."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.debate.judge_function import Hearing, Judge, Ruling
    from antiphon.debate.kind import DEBATE
    from antiphon.debate.machine.config import FieldProblem, InvalidConfig, complete, problems_with, reference
    from antiphon.debate.machine.debate import debate_machine
    from antiphon.debate.machine.failures import MOST_RETRIES
    from antiphon.debate.machine.formats import FORMATS, POSITIONS, phase_of
    from antiphon.debate.record import DebateView
    from antiphon.debate.service import Debates, latest_debates
    from antiphon.debate.settings import load_settings

__getattr__ = lazy_names(
    __name__,
    {
        "judge_function": (
            "Hearing",
            "Judge",
            "Ruling",
        ),
        "kind": ("DEBATE",),
        "machine.config": (
            "FieldProblem",
            "InvalidConfig",
            "complete",
            "problems_with",
            "reference",
        ),
        "machine.debate": ("debate_machine",),
        "machine.failures": ("MOST_RETRIES",),
        "machine.formats": (
            "FORMATS",
            "POSITIONS",
            "phase_of",
        ),
        "record": ("DebateView",),
        "service": (
            "Debates",
            "latest_debates",
        ),
        "settings": ("load_settings",),
    },
)

__all__ = [
    "DEBATE",
    "FORMATS",
    "MOST_RETRIES",
    "POSITIONS",
    "DebateView",
    "Debates",
    "FieldProblem",
    "Hearing",
    "InvalidConfig",
    "Judge",
    "Ruling",
    "complete",
    "debate_machine",
    "latest_debates",
    "load_settings",
    "phase_of",
    "problems_with",
    "reference",
]
