"""Shell commands taken apart as far as judging them needs: which programs run, with which words, writing where.

This is no shell. What it does not understand it calls unclear, and whoever judges takes that for the worst.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.tools.patterns import matches

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
# Words of the grammar: the command comes after them.
KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "{", "}", "!", "time"})
# What stands before a command and runs it.
PREFIXES = frozenset({"command", "exec", "nohup", "nice", "env", "builtin", "stdbuf", "setsid", "timeout"})
SEPARATORS = (";;", "&&", "||", "|&", ";", "&", "|", "\n", "(", ")")
REDIRECTS = ("&>>", "&>", "<<<", "<<", "<>", ">>", ">|", ">&", "<&", ">", "<")
MOST_DEPTH = 20
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "-", "0", "1", "2"})


@dataclass(slots=True)
class SimpleCommand:
    """One program with its words, and the files that its output is sent to."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    # A variable or a glob decides which program, or which file, is meant.
    varies: bool = False

    @property
    def text(self) -> str:
        """The words in a row."""
        return " ".join(self.words)


@dataclass(slots=True)
class ParsedCommand:
    """A command taken apart: what runs, also within substitutions, and whether all of it was understood."""

    simples: list[SimpleCommand] = field(default_factory=list)
    unclear: bool = False


def parse_command(command: str) -> ParsedCommand:
    """All that a command runs."""
    taken = ParsedCommand()
    _Parser(command, taken).read()
    taken.simples = [one for one in map(_strip_prefixes, taken.simples) if one.words or one.writes]
    return taken


@dataclass(frozen=True, slots=True)
class CommandFilter:
    """Which commands an agent may run: patterns such as `git status*`, each held against every command of a line.

    What is blocked is refused first. With an allow-list, a line passes if all of it is understood and allowed,
    and it sends no output to a file; so neither `;` nor `$(…)` nor `>` carries anything past it.
    """

    allowed: Sequence[str] | None = None
    blocked: Sequence[str] = ()

    def problem(self, command: str) -> str | None:
        """Why a command may not be run, if so."""
        taken = parse_command(command)
        for text in [command.strip(), *(one.text for one in taken.simples)]:
            for pattern in self.blocked:
                if matches(pattern, text):
                    return f"{text!r} is blocked by {pattern!r}"
        if taken.unclear and (self.blocked or self.allowed is not None):
            return "the command is too intricate to be checked; write it more plainly"
        if self.allowed is None:
            return "a variable decides which program runs" if self.blocked and _varies(taken) else None
        return self._not_allowed(taken, self.allowed)

    def _not_allowed(self, taken: ParsedCommand, allowed: Sequence[str]) -> str | None:
        for one in taken.simples:
            if any(target not in HARMLESS_TARGETS for target in one.writes):
                return f"{one.text!r} writes to a file"
            if one.varies or not any(matches(pattern, one.text) for pattern in allowed):
                return f"{one.text!r} is not among the allowed commands: {', '.join(allowed)}"
        return None


def _varies(taken: ParsedCommand) -> bool:
    return any(one.varies for one in taken.simples)


def _strip_prefixes(simple: SimpleCommand) -> SimpleCommand:
    """Without assignments, words of the grammar and what only starts another program."""
    words = list(simple.words)
    while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
        # A variable for one command may change what it does: PATH=., GIT_SSH_COMMAND=…
        simple.varies = simple.varies or words[0] not in KEYWORDS
        words.pop(0)
    while words and words[0].rpartition("/")[2] in PREFIXES:
        prefix = words.pop(0).rpartition("/")[2]
        if words and words[0].startswith("-") and prefix != "command":
            # Which of the words after an option is the program, only the prefix knows.
            return SimpleCommand(["eval", *words], simple.writes, True)
        while words and (words[0].startswith("-") or ASSIGNMENT.match(words[0]) or words[0][:1].isdigit()):
            simple.varies = simple.varies or prefix == "env"
            words.pop(0)
    return SimpleCommand(words, simple.writes, simple.varies)


class _Parser:
    """Reads a command letter by letter."""

    def __init__(self, text: str, taken: ParsedCommand, depth: int = 0) -> None:
        self.text, self.taken, self.depth, self.at = text, taken, depth, 0
        self.simple = SimpleCommand()
        self.word: str | None = None
        self.target = False

    def read(self) -> None:
        while self.at < len(self.text):
            self._piece()
        self._end_simple()

    def _piece(self) -> None:
        rest = self.text
        letter = rest[self.at]
        if letter == "\\":
            self._add(rest[self.at + 1 : self.at + 2].replace("\n", ""))
            self.at += 2
        elif letter == "'":
            self._quoted(letter)
        elif letter == '"':
            self._double()
        elif letter in "$`":
            self._expansion()
        elif operator := next((one for one in REDIRECTS if rest.startswith(one, self.at)), None):
            self._redirect(operator)
        elif operator := next((one for one in SEPARATORS if rest.startswith(one, self.at)), None):
            self.at += len(operator)
            self._end_simple()
        elif letter in " \t\r":
            self.at += 1
            self._end_word()
        elif letter == "#" and self.word is None:
            end = rest.find("\n", self.at)
            self.at = len(rest) if end < 0 else end
        else:
            if letter in "*?[{~" and not self.simple.words:
                self.simple.varies = True
            self._add(letter)
            self.at += 1

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _quoted(self, quote: str) -> None:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            self.taken.unclear = True
            end = len(self.text)
        self._add(self.text[self.at + 1 : end])
        self.at = end + 1

    def _double(self) -> None:
        self.at += 1
        self._add("")
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                self.at += 1
                return
            if letter in "$`":
                self._expansion()
            elif letter == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                self._add(self.text[self.at + 1])
                self.at += 2
            else:
                self._add(letter)
                self.at += 1
        self.taken.unclear = True

    def _expansion(self) -> None:
        if self.text.startswith("$'", self.at):
            # Letters written as numbers: nothing that has to be judged is written so.
            self.taken.unclear = True
            self.at += 1
            return
        if not self.simple.words or self.target:
            self.simple.varies = True
        inner, end = self._inside()
        if inner is not None and self.depth < MOST_DEPTH:
            _Parser(inner, self.taken, self.depth + 1).read()
        elif inner is not None:
            self.taken.unclear = True
        self._add(self.text[self.at : end])
        self.at = end

    def _inside(self) -> tuple[str | None, int]:
        """The command of a substitution that begins here, if it is one, and where it ends."""
        if self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            self.taken.unclear = self.taken.unclear or end < 0 or "\\" in self.text[self.at : end]
            return (self.text[self.at + 1 : end], end + 1) if end > 0 else (None, len(self.text))
        if self.text.startswith("${", self.at):
            end = self.text.find("}", self.at)
            body = self.text[self.at : end]
            self.taken.unclear = self.taken.unclear or end < 0 or "$(" in body or "`" in body or "@" in body
            return None, end + 1 if end > 0 else len(self.text)
        if not self.text.startswith("$(", self.at):
            return None, self.at + 1
        end = self._closing(self.at + 2)
        return self.text[self.at + 2 : end], min(end + 1, len(self.text))

    def _closing(self, at: int) -> int:
        """Where a parenthesis closes; with quotes inside, counting is not enough, so that is unclear."""
        depth = 1
        for end in range(at, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            if depth == 0:
                inside = self.text[at:end]
                self.taken.unclear = self.taken.unclear or (
                    any(quote in inside for quote in "'\"\\") and ("(" in inside or ")" in inside)
                )
                return end
        self.taken.unclear = True
        return len(self.text)

    def _redirect(self, operator: str) -> None:
        if self.word is not None and self.word.isdigit():
            self.word = None
        self._end_word()
        self.at += len(operator)
        if operator in ("<<", "<<<") or self.text.startswith("(", self.at):
            # What follows is a text, or a command as a file.
            self.taken.unclear = True
        self.target = ">" in operator

    def _end_word(self) -> None:
        if self.word is None:
            return
        if self.target:
            self.simple.writes.append(self.word)
            self.target = False
        else:
            self.simple.words.append(self.word)
        self.word = None

    def _end_simple(self) -> None:
        self._end_word()
        self.taken.simples.append(self.simple)
        self.simple = SimpleCommand()
        self.target = False
