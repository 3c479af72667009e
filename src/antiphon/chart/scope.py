"""The scope of users' functions: their actor, its system, and `spawn`."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.errors import EngineError


class Scope:
    """The actor a function runs in, its system, and `spawn` where spawning is allowed."""

    __slots__ = ("_spawn", "self", "system")

    def __init__(self, self_: Any = None, system: Any = None, spawn: Callable[..., Any] | None = None) -> None:
        self.self = self_
        self.system = system
        self._spawn = spawn

    def spawn(self, src: Any, **options: Any) -> Any:
        """Spawn a child and return its reference; options are `id`, `input`, `system_id`, `sync_snapshot`."""
        if self._spawn is None:
            raise EngineError("spawn is only available while context is computed; elsewhere use spawn_child")
        return self._spawn(src, **options)
