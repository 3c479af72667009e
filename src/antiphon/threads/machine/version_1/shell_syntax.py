"""Parser for shell commands, as far as needed to judge them: programs, arguments and redirections.

This is not a complete shell grammar. What it cannot parse is marked unclear, and callers assume the worst.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.tools.patterns import matches

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
# Keywords, which are followed by a command.
KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "{", "}", "!", "time"})
# Programs that run the command in their arguments.
PREFIXES = frozenset({"command", "exec", "nohup", "nice", "env", "builtin", "stdbuf", "setsid", "timeout"})
SEPARATORS = (";;", "&&", "||", "|&", ";", "&", "|", "\n", "(", ")")
REDIRECTS = ("&>>", "&>", "<<<", "<<", "<>", ">>", ">|", ">&", "<&", ">", "<")
MAX_DEPTH = 20
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "-", "0", "1", "2"})


@dataclass(slots=True)
class SimpleCommand:
    """Program with its arguments, and the files that its output is redirected to."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    # The program or a file depends on a variable or a glob.
    varies: bool = False

    @property
    def text(self) -> str:
        """Words joined by spaces."""
        return " ".join(self.words)


@dataclass(slots=True)
class ParsedCommand:
    """Simple commands of a command line, including substitutions, and whether all of it was parsed."""

    commands: list[SimpleCommand] = field(default_factory=list)
    unclear: bool = False


def parse_command(command: str) -> ParsedCommand:
    """Parse a command line into simple commands."""
    parsed = ParsedCommand()
    _Parser(command, parsed).read()
    parsed.commands = [simple for simple in map(_strip_prefixes, parsed.commands) if simple.words or simple.writes]
    return parsed


@dataclass(frozen=True, slots=True)
class FormerFilter:
    """Commands that an agent may run: patterns such as `git status*`, matched with every command of a line.

    Blocked commands are rejected first. With an allow-list, a line passes if all of it can be parsed and is allowed,
    and it writes to no file, so `;`, `$(…)` and `>` cannot bypass the list.
    """

    allowed: Sequence[str] | None = None
    blocked: Sequence[str] = ()

    def problem(self, command: str) -> str | None:
        """Return why a command may not be run, or None."""
        parsed = parse_command(command)
        for text in [command.strip(), *(simple.text for simple in parsed.commands)]:
            for pattern in self.blocked:
                if matches(pattern, text):
                    return f"{text!r} is blocked by {pattern!r}"
        if parsed.unclear and (self.blocked or self.allowed is not None):
            return "cannot analyse this command; use a simpler one"
        if self.allowed is None:
            return "the program depends on a variable; name it directly" if self.blocked and _varies(parsed) else None
        return self._not_allowed(parsed, self.allowed)

    def _not_allowed(self, parsed: ParsedCommand, allowed: Sequence[str]) -> str | None:
        for simple in parsed.commands:
            if any(target not in HARMLESS_TARGETS for target in simple.writes):
                return f"{simple.text!r} writes to a file"
            if simple.varies or not any(matches(pattern, simple.text) for pattern in allowed):
                return f"{simple.text!r} is not an allowed command; allowed: {', '.join(allowed)}"
        return None


def _varies(parsed: ParsedCommand) -> bool:
    return any(simple.varies for simple in parsed.commands)


def _strip_prefixes(simple: SimpleCommand) -> SimpleCommand:
    """Remove assignments, keywords, and programs that only start another program."""
    words = list(simple.words)
    while words and (words[0] in KEYWORDS or ASSIGNMENT.match(words[0])):
        # An assignment may change what the command does: PATH=., GIT_SSH_COMMAND=…
        simple.varies = simple.varies or words[0] not in KEYWORDS
        words.pop(0)
    while words and words[0].rpartition("/")[2] in PREFIXES:
        prefix = words.pop(0).rpartition("/")[2]
        if words and words[0].startswith("-") and prefix != "command":
            # Only the prefix knows which word after an option is the program.
            return SimpleCommand(["eval", *words], simple.writes, True)
        while words and (words[0].startswith("-") or ASSIGNMENT.match(words[0]) or words[0][:1].isdigit()):
            simple.varies = simple.varies or prefix == "env"
            words.pop(0)
    return SimpleCommand(words, simple.writes, simple.varies)


class _Parser:
    """Reads a command character by character."""

    def __init__(self, text: str, parsed: ParsedCommand, depth: int = 0) -> None:
        self.text = text
        self.parsed = parsed
        self.depth = depth
        self.at = 0
        self.simple = SimpleCommand()
        self.word: str | None = None
        self.target = False

    def read(self) -> None:
        while self.at < len(self.text):
            self._piece()
        self._end_simple()

    def _piece(self) -> None:
        text = self.text
        character = text[self.at]
        if character == "\\":
            self._add(text[self.at + 1 : self.at + 2].replace("\n", ""))
            self.at += 2
        elif character == "'":
            self._single_quoted(character)
        elif character == '"':
            self._double_quoted()
        elif character in "$`":
            self._expansion()
        elif operator := next((token for token in REDIRECTS if text.startswith(token, self.at)), None):
            self._redirect(operator)
        elif operator := next((token for token in SEPARATORS if text.startswith(token, self.at)), None):
            self.at += len(operator)
            self._end_simple()
        elif character in " \t\r":
            self.at += 1
            self._end_word()
        elif character == "#" and self.word is None:
            end = text.find("\n", self.at)
            self.at = len(text) if end < 0 else end
        else:
            if character in "*?[{~" and not self.simple.words:
                self.simple.varies = True
            self._add(character)
            self.at += 1

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _single_quoted(self, quote: str) -> None:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            self.parsed.unclear = True
            end = len(self.text)
        self._add(self.text[self.at + 1 : end])
        self.at = end + 1

    def _double_quoted(self) -> None:
        self.at += 1
        self._add("")
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return
            if character in "$`":
                self._expansion()
            elif character == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                self._add(self.text[self.at + 1])
                self.at += 2
            else:
                self._add(character)
                self.at += 1
        self.parsed.unclear = True

    def _expansion(self) -> None:
        if self.text.startswith("$'", self.at):
            # Characters may be written as numbers, which is not parsed.
            self.parsed.unclear = True
            self.at += 1
            return
        if not self.simple.words or self.target:
            self.simple.varies = True
        inner, end = self._inside()
        if inner is not None and self.depth < MAX_DEPTH:
            _Parser(inner, self.parsed, self.depth + 1).read()
        elif inner is not None:
            self.parsed.unclear = True
        self._add(self.text[self.at : end])
        self.at = end

    def _inside(self) -> tuple[str | None, int]:
        """Return the command of the substitution that begins here, or None, and where it ends."""
        if self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            self.parsed.unclear = self.parsed.unclear or end < 0 or "\\" in self.text[self.at : end]
            return (self.text[self.at + 1 : end], end + 1) if end > 0 else (None, len(self.text))
        if self.text.startswith("${", self.at):
            end = self.text.find("}", self.at)
            body = self.text[self.at : end]
            self.parsed.unclear = self.parsed.unclear or end < 0 or "$(" in body or "`" in body or "@" in body
            return None, end + 1 if end > 0 else len(self.text)
        if not self.text.startswith("$(", self.at):
            return None, self.at + 1
        end = self._closing(self.at + 2)
        return self.text[self.at + 2 : end], min(end + 1, len(self.text))

    def _closing(self, at: int) -> int:
        """Return where a parenthesis closes; quotes inside make that unclear, because they may contain parentheses."""
        depth = 1
        for end in range(at, len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            if depth == 0:
                inside = self.text[at:end]
                self.parsed.unclear = self.parsed.unclear or (
                    any(quote in inside for quote in "'\"\\") and ("(" in inside or ")" in inside)
                )
                return end
        self.parsed.unclear = True
        return len(self.text)

    def _redirect(self, operator: str) -> None:
        if self.word is not None and self.word.isdigit():
            self.word = None
        self._end_word()
        self.at += len(operator)
        if operator in ("<<", "<<<") or self.text.startswith("(", self.at):
            # A here-document, or a process substitution.
            self.parsed.unclear = True
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
        self.parsed.commands.append(self.simple)
        self.simple = SimpleCommand()
        self.target = False
