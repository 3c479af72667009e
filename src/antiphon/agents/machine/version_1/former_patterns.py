"""Search of the patterns of version 1, which had all of `re`: lookaround, references, conditions, atomic groups.

What the linear search accepts is searched by that. Anything else is searched by backtracking that comes to no place
twice and takes at most `MOST_STEPS` steps, because `re` itself cannot be stopped inside a step.
A pattern that is not valid, or takes longer, never matches.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from antiphon.agents.machine.output_patterns import (
    PatternError,
    Surroundings,
    character_source,
    compile_pattern,
    holds_at,
)

MOST_STEPS = 1_000_000
MOST_INSTRUCTIONS = 20_000
Instruction = tuple[Any, ...]
Program = list[Instruction]
Groups = tuple[int, ...]  # for each group that is referred to: where it was opened last, its start and its end
State = tuple[int, int, Groups]


class _TooLong(Exception):
    """The search has taken all of its steps."""


def search_former(pattern: str, output: str) -> bool:
    """Return whether a pattern occurs in an output, ignoring case, as `re` finds it."""
    try:
        return compile_pattern(pattern).matches(output)
    except PatternError:
        program = _compile(pattern)
    if program is None:
        return False
    try:
        return _Search(output, program.groups).run(program.instructions)
    except _TooLong:
        return False


@dataclass(slots=True)
class _Compiled:
    instructions: Program
    groups: int


@lru_cache(maxsize=64)
def _compile(pattern: str) -> _Compiled | None:
    try:
        tree = _parser.parse(pattern, re.IGNORECASE)
        compiler = _Compiler({group: number for number, group in enumerate(sorted(_references(tree)))})
        return _Compiled(compiler.compile(tree, tree.state.flags), len(compiler.numbers))
    except (re.error, OverflowError, RecursionError, PatternError):
        return None


def _references(items: Any) -> set[int]:
    """Return the groups that a part of a pattern refers to."""
    groups: set[int] = set()
    for operation, value in items:
        if str(operation) == "GROUPREF":
            groups.add(value)
        elif str(operation) == "GROUPREF_EXISTS":
            groups.add(value[0])
        groups.update(*(_references(part) for part in _parts(value)))
    return groups


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _parts(each)


@dataclass(slots=True)
class _Compiler:
    """Compiles a parsed pattern to instructions."""

    numbers: dict[int, int]
    size: int = 0

    def compile(self, items: Any, flags: int) -> Program:
        """Return the program of a part of a pattern that is matched by itself."""
        program: Program = []
        self._add_all(program, items, flags)
        self._add(program, "match")
        return program

    def _add(self, program: Program, *instruction: Any) -> int:
        self.size += 1
        if self.size > MOST_INSTRUCTIONS:
            raise PatternError("it is too large")
        program.append(instruction)
        return len(program) - 1

    def _add_all(self, program: Program, items: Any, flags: int) -> None:
        for operation, value in items:
            self._add_item(program, str(operation), value, flags)

    def _add_item(self, program: Program, operation: str, value: Any, flags: int) -> None:
        match operation:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                self._add(program, "read", re.compile(character_source(operation, value), flags & ~re.DEBUG))
            case "AT":
                self._add(program, "at", str(value), flags)
            case "BRANCH":
                self._add_branches(program, value[1], flags)
            case "SUBPATTERN":
                self._add_group(program, value, flags)
            case "MAX_REPEAT" | "MIN_REPEAT":
                self._add_repeat(program, value, flags, is_greedy=operation == "MAX_REPEAT")
            case "POSSESSIVE_REPEAT":
                inner: Program = []
                self._add_repeat(inner, value, flags, is_greedy=True)
                self._add(inner, "match")
                self._add(program, "atomic", inner)
            case "ATOMIC_GROUP":
                self._add(program, "atomic", self.compile(value, flags))
            case "ASSERT" | "ASSERT_NOT":
                direction, content = value
                width = content.getwidth()[0] if direction < 0 else 0
                self._add(program, "look", self.compile(content, flags), operation == "ASSERT", width)
            case "GROUPREF":
                self._add(program, "repeat", self.numbers[value], bool(flags & re.IGNORECASE))
            case "GROUPREF_EXISTS":
                self._add_condition(program, value, flags)
            case "FAILURE":
                self._add(program, "fail")
            case _:
                raise PatternError(f"{operation} is unknown")

    def _add_branches(self, program: Program, branches: Any, flags: int) -> None:
        ends: list[int] = []
        for branch in branches[:-1]:
            split = self._add(program, "split")
            self._add_all(program, branch, flags)
            ends.append(self._add(program, "jump"))
            program[split] = ("split", split + 1, len(program))
        self._add_all(program, branches[-1], flags)
        for end in ends:
            program[end] = ("jump", len(program))

    def _add_group(self, program: Program, value: Any, flags: int) -> None:
        group, added, removed, content = value
        number = self.numbers.get(group)
        if number is not None:
            self._add(program, "open", number)
        self._add_all(program, content, (flags | added) & ~removed)
        if number is not None:
            self._add(program, "close", number)

    def _add_repeat(self, program: Program, value: Any, flags: int, *, is_greedy: bool) -> None:
        least, most, content = value
        for _ in range(min(least, MOST_INSTRUCTIONS + 1)):
            self._add_all(program, content, flags)
            self._add(program, "jump", len(program) + 1)  # so that a repeat of nothing is bounded, too
        is_endless = most == _constants.MAXREPEAT
        splits: list[int] = []
        for _ in range(1 if is_endless else min(most - least, MOST_INSTRUCTIONS + 1)):
            splits.append(self._add(program, "split"))
            self._add_all(program, content, flags)
        if is_endless:
            self._add(program, "jump", splits[0])
        for split in splits:
            ways = (split + 1, len(program))
            program[split] = ("split", *(ways if is_greedy else ways[::-1]))

    def _add_condition(self, program: Program, value: Any, flags: int) -> None:
        group, if_set, otherwise = value
        test = self._add(program, "exists")
        self._add_all(program, if_set, flags)
        end = self._add(program, "jump")
        program[test] = ("exists", self.numbers[group], len(program))
        self._add_all(program, otherwise or (), flags)
        program[end] = ("jump", len(program))


@dataclass(slots=True)
class _Search:
    """Search in one text."""

    text: str
    groups: int
    steps: int = 0
    ends: dict[tuple[int, int, Groups], tuple[int, Groups] | None] = field(default_factory=dict)

    def run(self, program: Program) -> bool:
        """Return whether a program matches anywhere."""
        visited: set[State] = set()
        empty: Groups = (-1,) * (3 * self.groups)
        return any(self._match(program, start, empty, visited) is not None for start in range(len(self.text) + 1))

    def _match(self, program: Program, at: int, groups: Groups, visited: set[State]) -> tuple[int, Groups] | None:
        """Return the end of the first match at a place, with its groups; what was visited leads to none."""
        stack: list[State] = [(0, at, groups)]
        while stack:
            state: State | None = stack.pop()
            while state is not None:
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise _TooLong
                counter, at, groups = state
                match program[counter]:
                    case ("match",):
                        return at, groups
                    case ("split", first, second):
                        if state in visited:
                            break
                        visited.add(state)
                        stack.append((second, at, groups))
                        state = (first, at, groups)
                    case ("jump", target):
                        state = (target, at, groups)
                    case instruction:
                        state = self._step(instruction, counter, at, groups)
        return None

    def _step(self, instruction: Instruction, counter: int, at: int, groups: Groups) -> State | None:
        """Return the state after an instruction that has one way only; None if it fails."""
        following = counter + 1
        match instruction:
            case ("read", reader):
                is_read = at < len(self.text) and reader.match(self.text[at]) is not None
                return (following, at + 1, groups) if is_read else None
            case ("at", condition, flags):
                return (following, at, groups) if holds_at(condition, flags, self._place(at)) else None
            case ("open", number):
                return following, at, (*groups[: 3 * number], at, *groups[3 * number + 1 :])
            case ("close", number):
                opened = groups[3 * number]
                return following, at, (*groups[: 3 * number + 1], opened, at, *groups[3 * number + 3 :])
            case ("exists", number, otherwise):
                return (following if groups[3 * number + 2] >= 0 else otherwise), at, groups
            case ("repeat", number, ignores_case):
                end = self._end_of_copy(at, groups[3 * number + 1], groups[3 * number + 2], ignores_case=ignores_case)
                return None if end is None else (following, end, groups)
            case ("atomic", program):
                ended = self._match_apart(program, at, groups)
                return None if ended is None else (following, *ended)
            case ("look", program, is_wanted, width):
                ended = self._match_apart(program, at - width, groups) if at >= width else None
                if (ended is not None) is not is_wanted:
                    return None
                return following, at, groups if ended is None else ended[1]
        return None

    def _match_apart(self, program: Program, at: int, groups: Groups) -> tuple[int, Groups] | None:
        key = (id(program), at, groups)
        if key not in self.ends:
            self.ends[key] = self._match(program, at, groups, set())
        return self.ends[key]

    def _end_of_copy(self, at: int, start: int, end: int, *, ignores_case: bool) -> int | None:
        if end < 0:
            return None
        former = self.text[start:end]
        copy = self.text[at : at + len(former)]
        is_same = [*map(str.lower, copy)] == [*map(str.lower, former)] if ignores_case else copy == former
        return at + len(former) if is_same else None

    def _place(self, at: int) -> Surroundings:
        before = self.text[at - 1] if at else ""
        is_last = at >= len(self.text) - (self.text[-1:] == "\n")
        return Surroundings(before, self.text[at : at + 1], is_last)
