"""What a person gives to threads in this process: modes of permission, and models by address or file."""

from collections import defaultdict

from antiphon.threads.errors import Refused
from antiphon.threads.machine.permission_rules import MODES, Mode


class Grants:
    """Modes and models by the ids of threads; they hold as long as the process."""

    __slots__ = ("_models", "_modes")

    def __init__(self) -> None:
        self._modes: dict[str, Mode] = {}
        self._models: defaultdict[str, set[str]] = defaultdict(set)

    def give(self, thread: str, mode: str) -> None:
        """Let a mode hold for a thread, in place of that of its settings; raise `Refused` if there is no such mode."""
        known = next((known for known in MODES if known == mode), None)
        if known is None:
            raise Refused(f"{mode!r} is not a permission mode; known: {', '.join(MODES)}")
        self._modes[thread] = known

    def withdraw(self, thread: str) -> None:
        """Forget what was given to a thread."""
        self._modes.pop(thread, None)
        self._models.pop(thread, None)

    def mode_of(self, thread: str) -> Mode | None:
        """Return the mode that was given to a thread, or None."""
        return self._modes.get(thread)

    def name_model(self, thread: str, reference: str) -> None:
        """Let a thread from a file ask a model by address or file."""
        self._models[thread].add(reference)

    def has_model(self, thread: str, reference: str) -> bool:
        """Return whether a person has named a model for a thread."""
        return reference in self._models.get(thread, ())
