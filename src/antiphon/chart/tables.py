"""The bounded cache of a machine: interned configurations and the decisions made in them.

A hostile chart or a stream of ever new event types must not use up the memory. When `limit` decisions are
cached, all are dropped and computed again as needed, like the states of a lazy automaton.
"""

from typing import Any

from antiphon.chart.configuration import Configuration
from antiphon.chart.nodes import Node

LIMIT = 4096


class Tables:
    """Configurations by their nodes, and the number of decisions they hold."""

    __slots__ = ("_configurations", "_holders", "count", "limit", "machine")

    def __init__(self, machine: Any, limit: int = LIMIT) -> None:
        self.machine = machine
        self.limit = limit
        self.count = 0
        self._configurations: dict[tuple[Node, ...], Configuration] = {}
        self._holders: dict[Configuration, None] = {}

    def intern(self, nodes: tuple[Node, ...]) -> Configuration:
        """Return the one configuration of these nodes."""
        configuration = self._configurations.get(nodes)
        if configuration is None:
            configuration = Configuration(self.machine, nodes)
            if len(self._configurations) < self.limit:
                self._configurations[nodes] = configuration
        return configuration

    def admit(self, configuration: Configuration) -> bool:
        """Count one more decision to keep, clearing the cache if it is full; False if there is no cache."""
        if self.limit == 0:
            return False
        if self.count >= self.limit:
            self._forget()
        self.count += 1
        self._holders[configuration] = None
        return True

    def _forget(self) -> None:
        for configuration in self._holders:
            configuration.decisions.clear()
            configuration.quick.clear()
            configuration.eventless = None
        self._holders.clear()
        self._configurations.clear()
        self.count = 0
