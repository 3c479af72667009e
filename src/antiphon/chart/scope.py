"""The scope of users' functions: their actor, its system, `spawn`, and the facts of their step."""

from collections.abc import Callable
from typing import Any, NamedTuple

from antiphon.chart.errors import EngineError


class Facts(NamedTuple):
    """Facts of a step that are not in its event: its time, and sources of ids and random numbers."""

    now: float | None = None  # milliseconds since the epoch
    new_id: Callable[[], str] | None = None
    random: Callable[[], float] | None = None


NO_FACTS = Facts()


class FactScope:
    """The facts of a step. In a durable tree they are the same whenever the step is replayed."""

    __slots__ = ()

    def _find_facts(self) -> Facts:
        raise NotImplementedError

    @property
    def now(self) -> float:
        """Time of the step in milliseconds since the epoch."""
        now = self._find_facts().now
        if now is None:
            raise _unknown("now")
        return now

    def new_id(self) -> str:
        """Return an id that no other call returns: 32 hexadecimal digits."""
        new_id = self._find_facts().new_id
        if new_id is None:
            raise _unknown("new_id")
        return new_id()

    def random(self) -> float:
        """Return a random number from 0.0 up to, but not including, 1.0."""
        random = self._find_facts().random
        if random is None:
            raise _unknown("random")
        return random()


class Scope(FactScope):
    """The actor a function runs in, its system, `spawn` where spawning is allowed, and the facts of the step."""

    __slots__ = ("_facts", "_spawn", "self", "system")

    def __init__(
        self,
        self_: Any = None,
        system: Any = None,
        spawn: Callable[..., Any] | None = None,
        facts: Facts | None = None,
    ) -> None:
        self.self = self_
        self.system = system
        self._spawn = spawn
        self._facts = facts

    def spawn(self, src: Any, **options: Any) -> Any:
        """Spawn a child and return its reference; options are `id`, `input`, `system_id`, `sync_snapshot`."""
        if self._spawn is None:
            raise EngineError("spawn is only available while context is computed; elsewhere use spawn_child")
        return self._spawn(src, **options)

    def _find_facts(self) -> Facts:
        if self._facts is not None or self.system is None:
            return self._facts or NO_FACTS
        facts: Facts = self.system.facts
        return facts


def guard_scope(source: Any) -> Scope:
    """Return the scope of a guard; `source` is the work of a step, an actor, the facts of a pure step, or None."""
    if source is None or isinstance(source, Facts):
        return Scope(facts=source)
    scope: Scope = source.scope() if hasattr(source, "scope") else Scope(source, source.system)
    return scope


def _unknown(name: str) -> EngineError:
    return EngineError(f"scope.{name} is not known in a pure step; pass {name}=… to transition or initial_transition")
