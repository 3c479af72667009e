"""Filter of the commands that an agent may run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphon.tools.commands import dangers
from antiphon.tools.commands.effects import (
    HARMLESS_TARGETS,
    MAX_NESTED_SHELLS,
    base_name,
    effects,
    git_subcommand,
    shell_texts,
    started_words,
)
from antiphon.tools.commands.grammar import INSTALL, CommandCall, Script, Word, parse_script
from antiphon.tools.patterns import matches

UNCLEAR = "cannot analyse this command; use a simpler one"
VARIABLE = "the program depends on a variable; name it directly"


@dataclass(frozen=True, slots=True)
class CommandFilter:
    """Commands that an agent may run: patterns such as `git status*`, matched with every command of a line.

    Blocked commands are rejected first, also as the words of a program that starts another. With an allow-list, a line
    passes if all of it is allowed, and it sets no variable and writes to no file. What cannot be analysed is rejected.
    """

    allowed: Sequence[str] | None = None
    blocked: Sequence[str] = ()

    def __post_init__(self) -> None:
        # A text is a sequence, too: each of its characters would be a pattern, and `*` matches everything.
        for name, patterns in (("allowed", self.allowed), ("blocked", self.blocked)):
            if isinstance(patterns, str) or not all(isinstance(pattern, str) for pattern in patterns or ()):
                raise TypeError(f"{name} is {patterns!r}; it must be a list of patterns, such as ['ls*']")

    def problem(self, command: str) -> str | None:
        """Return why a command may not be run, or None."""
        if self.allowed is None and not self.blocked:
            return None
        pattern = next((pattern for pattern in self.blocked if matches(pattern, command.strip())), None)
        if pattern is not None:
            return f"{command.strip()!r} is blocked by {pattern!r}"
        return self._script_problem(parse_script(command), 0)

    def _script_problem(self, script: Script, depth: int) -> str | None:
        if script.problem or script.hazard or depth > MAX_NESTED_SHELLS:
            return f"{UNCLEAR} ({INSTALL})" if script.problem == INSTALL else UNCLEAR
        problem = next((text for call in script.calls if (text := self._call_problem(call, depth))), None)
        if problem is not None:
            return problem
        # Code that an allowed interpreter runs is allowed with it.
        refused = ("code", "program") if self.blocked else ("program",)
        reason = next((effect.reason for effect in effects(script) if effect.runs in refused), None)
        if reason is not None:
            return f"{UNCLEAR}: {reason}"
        return None if self.allowed is None else _change(script)

    def _call_problem(self, call: CommandCall, depth: int) -> str | None:
        for words in _commands(call):
            text = " ".join(word.text for word in words)
            for pattern in self.blocked:
                if _matches(pattern, words):
                    return f"{text!r} is blocked by {pattern!r}"
                if _may_match(pattern, words):
                    return f"{text!r} depends on a variable and may be blocked by {pattern!r}"
        if call.words and not call.words[0].literal:
            return VARIABLE
        if self.allowed is not None and not any(matches(pattern, call.text) for pattern in self.allowed):
            return f"{call.text!r} is not an allowed command; allowed: {', '.join(self.allowed)}"
        return self._nested_problem(call, depth)

    def _nested_problem(self, call: CommandCall, depth: int) -> str | None:
        """Check what a call runs: the text of a shell, and the commands of `find -exec`."""
        shells = [words for words in _commands(call) if base_name(words[0]) in dangers.SHELLS]
        texts = [text.text for words in shells for text in shell_texts(words) or ()]
        texts += [word.text for word in started_words(call.words) if re.search(r"\s", word.text) and word.literal]
        scripts = [parse_script(text) for text in texts]
        problem = next((text for script in scripts if (text := self._script_problem(script, depth + 1))), None)
        if problem is not None or self.allowed is None or not call.words or base_name(call.words[0]) != "find":
            return problem
        calls = map(CommandCall, _executed(call.words))
        return next((text for started in calls if (text := self._call_problem(started, depth + 1))), None)


def _change(script: Script) -> str | None:
    """Return the variable that a line sets or the file that it writes to, as a problem, or None."""
    if script.variables:
        return f"it sets the variable {script.variables[0]}"
    targets = [item.target.text for item in script.redirections if item.operator != "<"]
    target = next((target for target in targets if target not in HARMLESS_TARGETS | {"0", "1", "2", "-"}), None)
    return None if target is None else f"it writes to a file: {target}"


def _commands(call: CommandCall) -> Iterator[Sequence[Word]]:
    """Yield the words of a call, and those of every command that it may start."""
    if call.words:
        yield call.words
        started = started_words(call.words)
        yield from (started[number:] for number in range(len(started)))


def _executed(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands that find runs."""
    start = None
    for number, word in enumerate(words):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            start = number + 1
        elif start is not None and word.text in (";", "+"):
            yield tuple(words[start:number])
            start = None
    if start is not None:
        yield tuple(words[start:])


def _texts(words: Sequence[Word]) -> Iterator[str]:
    """Yield a command as text: as written, without the folder of its program, without options before git's command."""
    rest = [word.text for word in words[1:]]
    yield " ".join([words[0].text, *rest])
    yield " ".join([words[0].text.rpartition("/")[2], *rest])
    if base_name(words[0]) == "git":
        subcommand, arguments, problem = git_subcommand(words[1:])
        if not problem:
            yield " ".join(["git", subcommand, *(word.text for word in arguments)])


def _matches(pattern: str, words: Sequence[Word]) -> bool:
    return any(matches(pattern, text) for text in _texts(words))


def _may_match(pattern: str, words: Sequence[Word]) -> bool:
    """Return whether a command matches a pattern, or may do so with some value of its variables."""
    if _matches(pattern, words):
        return True
    number = next((number for number, word in enumerate(words) if not word.literal), None)
    if not number:
        return False
    head = pattern.partition("*")[0]
    literal = [word.text for word in words[:number]] + [words[number].head]
    starts = (" ".join(literal), " ".join([literal[0].rpartition("/")[2], *literal[1:]]))
    return any(start.startswith(head) or head.startswith(start) for start in starts)
