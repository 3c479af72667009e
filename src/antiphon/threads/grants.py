"""Modes of permission that a person gives to threads in this process."""

from antiphon.threads.errors import Refused
from antiphon.threads.machine.permission_rules import MODES, Mode


class Grants:
    """Modes by the ids of threads; they hold as long as the process."""

    __slots__ = ("_modes",)

    def __init__(self) -> None:
        self._modes: dict[str, Mode] = {}

    def give(self, thread: str, mode: str) -> None:
        """Let a mode hold for a thread, in place of that of its settings; raise `Refused` if there is no such mode."""
        known = next((known for known in MODES if known == mode), None)
        if known is None:
            raise Refused(f"{mode!r} is not a permission mode; known: {', '.join(MODES)}")
        self._modes[thread] = known

    def withdraw(self, thread: str) -> None:
        """Forget the mode that was given to a thread."""
        self._modes.pop(thread, None)

    def mode_of(self, thread: str) -> Mode | None:
        """Return the mode that was given to a thread, or None."""
        return self._modes.get(thread)
