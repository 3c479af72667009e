"""How much to take at once: what is ready is split in two when computing one half hides the other's way to the disk."""

MEMORY = 0.8  # how much of what was measured before still counts


class Pace:
    """How long a turn takes to compute, and a commit to become durable, of late."""

    __slots__ = ("_flush_s", "_turn_s")

    def __init__(self) -> None:
        self._turn_s = self._flush_s = 0.0

    def computed(self, turns: int, took_s: float) -> None:
        """Learn how long so many turns took."""
        self._turn_s = MEMORY * self._turn_s + (1 - MEMORY) * took_s / turns

    def flushed(self, took_s: float) -> None:
        """Learn how long the disk took."""
        self._flush_s = MEMORY * self._flush_s + (1 - MEMORY) * took_s

    def share(self, ready: int) -> int:
        """How many of the trees that are ready should be stored first, while nothing is being stored."""
        pays = ready > 1 and ready * self._turn_s > self._flush_s
        return (ready + 1) // 2 if pays else ready
