"""Search of regular expressions in time linear in the text, for rules that agent files bring.

`re` backtracks: `(a+)+$` takes exponential time, and nothing can stop it inside a step.
Here the pattern is parsed by `re` and run as a set of states, one step for each character of the text.
What needs backtracking (backreferences, lookaround, conditions, atomic groups) is refused.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MOST_CHARACTERS = 500  # of a pattern
MOST_STATES = 200
MOST_SEARCHED = 100_000  # characters of a text
MOST_CACHED = 4_096
ACCEPT = -1
CATEGORIES = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
UNBOUNDED = {
    "ASSERT": "a lookaround",
    "ASSERT_NOT": "a lookaround",
    "GROUPREF": "a backreference",
    "GROUPREF_EXISTS": "a condition",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}
SearchOutput = Callable[[str, str], bool]
"""Function that returns whether a pattern occurs in an output."""
START = ""  # the character before the first and after the last


class PatternError(ValueError):
    """A pattern that cannot be searched in bounded time; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a position in a text."""

    before: str
    after: str
    is_last: bool
    """At most a newline follows."""


@dataclass(slots=True)
class Automaton:
    """States of a pattern: each has a character to read, a condition on the place, or only followers."""

    readers: list[re.Pattern[str] | None] = field(default_factory=list)
    conditions: list[tuple[str, int] | None] = field(default_factory=list)
    followers: list[list[int]] = field(default_factory=list)
    start: int = 0
    cache: dict[tuple[frozenset[int], Surroundings], frozenset[int]] = field(default_factory=dict)

    def add(
        self,
        followers: Iterable[int],
        reader: re.Pattern[str] | None = None,
        condition: tuple[str, int] | None = None,
    ) -> int:
        """Add a state and return its number."""
        if len(self.followers) >= MOST_STATES:
            raise PatternError(f"it is too large; repeat less, or with * and +; at most {MOST_STATES} parts")
        self.readers.append(reader)
        self.conditions.append(condition)
        self.followers.append(list(followers))
        return len(self.followers) - 1

    def matches(self, text: str) -> bool:
        """Return whether the pattern occurs in a text."""
        states: frozenset[int] = frozenset()
        before = START
        for number, after in enumerate([*text, START]):
            is_last = number >= len(text) - (text[-1:] == "\n")
            states = self._step(states, Surroundings(before, after, is_last))
            if ACCEPT in states:
                return True
            before = after
        return False

    def _step(self, states: frozenset[int], place: Surroundings) -> frozenset[int]:
        """Return the states after the next character; `ACCEPT` among them if the pattern has matched."""
        key = (states, place)
        if key not in self.cache:
            if len(self.cache) >= MOST_CACHED:
                self.cache.clear()
            self.cache[key] = self._read(self._closure({*states, self.start}, place), place.after)
        return self.cache[key]

    def _closure(self, states: set[int], place: Surroundings) -> set[int]:
        """Add the states that are reached without a character."""
        pending = list(states)
        while pending:
            state = pending.pop()
            if state == ACCEPT or self.readers[state] is not None:
                continue
            condition = self.conditions[state]
            if condition is not None and not holds_at(*condition, place):
                continue
            pending += [each for each in self.followers[state] if each not in states]
            states.update(self.followers[state])
        return states

    def _read(self, states: set[int], character: str) -> frozenset[int]:
        if ACCEPT in states:
            return frozenset((ACCEPT,))
        after: set[int] = set()
        for state in states:
            reader = self.readers[state]
            if reader is not None and character and reader.match(character):
                after.update(self.followers[state])
        return frozenset(after)


def search_output(pattern: str, output: str) -> bool:
    """Return whether a pattern occurs in an output, ignoring case; one that is refused never does."""
    automaton = _compile_or_none(pattern)
    return automaton is not None and automaton.matches(output[:MOST_SEARCHED])


def check_pattern(pattern: str) -> None:
    """Raise `PatternError` if a pattern cannot be searched in bounded time."""
    compile_pattern(pattern)


@lru_cache(maxsize=64)
def _compile_or_none(pattern: str) -> Automaton | None:
    try:
        return compile_pattern(pattern)
    except PatternError:
        return None


def compile_pattern(pattern: str) -> Automaton:
    """Compile a pattern, which ignores case; raise `PatternError` if that is not possible."""
    if len(pattern) > MOST_CHARACTERS:
        raise PatternError(f"it has more than {MOST_CHARACTERS} characters; shorten it")
    automaton = Automaton()
    try:
        tree = _parser.parse(pattern, re.IGNORECASE)
        automaton.start = _build(automaton, list(tree), tree.state.flags, ACCEPT)
    except (re.error, OverflowError) as error:
        raise PatternError(str(error)) from error
    except RecursionError as error:
        raise PatternError("it is nested too deeply; use fewer brackets") from error
    return automaton


def _build(automaton: Automaton, items: Sequence[tuple[Any, Any]], flags: int, after: int) -> int:
    """Add the states of a sequence, which lead to `after`; return the first."""
    for operation, value in reversed(items):
        after = _build_item(automaton, str(operation), value, flags, after)
    return after


def _build_item(automaton: Automaton, operation: str, value: Any, flags: int, after: int) -> int:
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return automaton.add([after], reader=re.compile(character_source(operation, value), flags & ~re.DEBUG))
        case "AT":
            return automaton.add([after], condition=(str(value), flags))
        case "BRANCH":
            return automaton.add([_build(automaton, list(branch), flags, after) for branch in value[1]])
        case "SUBPATTERN":
            _, added, removed, content = value
            return _build(automaton, list(content), (flags | added) & ~removed, after)
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _build_repeat(automaton, value, flags, after)
        case _:
            name = UNBOUNDED.get(operation, operation.lower())
            raise PatternError(f"it has {name}, which could take very long; write it without")


def _build_repeat(automaton: Automaton, value: Any, flags: int, after: int) -> int:
    least, most, content = value
    if most == _constants.MAXREPEAT:
        loop = automaton.add([after])
        automaton.followers[loop].append(_build(automaton, list(content), flags, loop))
        after = loop
    else:
        end = after
        for _ in range(_bounded(most - least)):
            after = automaton.add([end, _build(automaton, list(content), flags, after)])
    for _ in range(_bounded(least)):
        after = _build(automaton, list(content), flags, after)
    return after


def _bounded(count: int) -> int:
    # A repeat of nothing adds no states, so that their number does not bound it.
    return min(count, MOST_STATES + 1)


def character_source(operation: str, value: Any) -> str:
    """Return an expression for one character, so that `re` itself decides what it matches."""
    match operation:
        case "LITERAL":
            return re.escape(chr(value))
        case "NOT_LITERAL":
            return f"[^{_escape(value)}]"
        case "ANY":
            return "."
        case _:
            return f"[{''.join(_class_part(str(kind), part) for kind, part in value)}]"


def _class_part(kind: str, part: Any) -> str:
    match kind:
        case "NEGATE":
            return "^"
        case "LITERAL":
            return _escape(part)
        case "RANGE":
            return f"{_escape(part[0])}-{_escape(part[1])}"
        case _:
            return CATEGORIES[str(part).removeprefix("CATEGORY_")]


def _escape(code: int) -> str:
    return f"\\U{code:08x}"


def holds_at(condition: str, flags: int, place: Surroundings) -> bool:
    """Return whether a condition on a place, such as the start of a line, holds."""
    match condition:
        case "AT_BEGINNING":
            return not place.before or bool(flags & re.MULTILINE and place.before == "\n")
        case "AT_BEGINNING_STRING":
            return not place.before
        case "AT_END":
            return place.is_last or bool(flags & re.MULTILINE and place.after == "\n")
        case "AT_END_STRING":
            return not place.after
        case _:
            at_boundary = _is_word(place.before, flags) != _is_word(place.after, flags)
            # As in Python before 3.14, an empty text has neither.
            return at_boundary if condition == "AT_BOUNDARY" else not at_boundary and place.before + place.after != ""


def _is_word(character: str, flags: int) -> bool:
    if not character:
        return False
    return re.match(r"\w", character, flags & re.ASCII) is not None
