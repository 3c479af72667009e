"""Strict reader of plain lines: known words, quotes and operators only, so that no reading of bash can differ.

A line is plain if it is a list of simple commands (`|`, `&&`, `||`, `;`, newlines) with literal words. It knows neither
assignments nor expansions nor comments; the only redirections are those of input from a file, of output to
`/dev/null`, and of errors to the output. Only a plain line that the grammar reads in the same way can be judged `read`.
"""

import re
from dataclasses import dataclass, field

BLANK = re.compile(r"[ \t]+")
SEPARATOR = re.compile(r"(?:\|\||&&|\||;|\n)[ \t\n]*")
# Redirections begin a token, so that a word such as `a2>&1` is not one.
HARMLESS = re.compile(r"(?:[12]?>&[12]|(?:[12]|&)?>>?[ \t]*/dev/null|<[ \t]*/dev/null)(?=[ \t\n|;]|$)")
INPUT = re.compile(r"<[ \t]*(?=[A-Za-z0-9_./'\"-])")
# Bytes above 127 are allowed in quotes, where every encoding treats them alike.
SINGLE = re.compile(r"'([^'\n\t\x00-\x1f\x7f]*)'")
DOUBLE = re.compile(r"\"((?:[^\"$`\\\x00-\x1f\x7f]|\\[\x20-\x7e]|\$(?=\"))*)\"")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~ ])")
BARE = re.compile(r"[A-Za-z0-9_./:=,@%+^!-]+")
# Tildes after letters and digits, and braces after @, are those of revisions: HEAD~2, main@{1}.
TILDE = re.compile(r"(?<=[A-Za-z0-9^~])~")
REVISION = re.compile(r"(?<=@)\{[A-Za-z0-9]+\}")
GLOB = re.compile(r"[*?]+")
# The program `[` and its last word.
BRACKET = re.compile(r"[\[\]](?=[ \t\n|;&]|$)")
ESCAPE_IN_QUOTES = re.compile(r"\\([$`\"\\])")


@dataclass(slots=True)
class PlainWord:
    """Literal word with its place in the bytes of the line."""

    start: int
    end: int
    text: str = ""
    glob: bool = False
    """Whether it contains a `*` or a `?` that bash expands."""
    bare: bool = True
    """Whether it has neither quotes nor escapes."""


@dataclass(slots=True)
class PlainCommand:
    """Simple command of a plain line, and the file that it reads as its input."""

    words: list[PlainWord] = field(default_factory=list)
    inputs: list[PlainWord] = field(default_factory=list)
    redirections: int = 0


def plain_commands(command: str) -> list[PlainCommand] | None:
    """Return the commands of a plain line, or None if the line is not plain."""
    # One character for each byte, so that places are those of the grammar.
    return _Reader(command.strip(" \n").encode().decode("latin-1"), _leading(command)).read()


def _leading(command: str) -> int:
    return len(command) - len(command.lstrip(" \n"))


class _Reader:
    """Reads a plain line from the left to the right."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.at = 0
        self.commands = [PlainCommand()]

    def read(self) -> list[PlainCommand] | None:
        while self.at < len(self.text):
            if self._skip(BLANK):
                continue
            if separator := self._skip(SEPARATOR):
                if not self._separate(separator[0]):
                    return None
            elif self._skip(HARMLESS):
                self.commands[-1].redirections += 1
            elif not self._operand():
                return None
        return self.commands if all(command.words for command in self.commands) else None

    def _skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def _separate(self, separator: str) -> bool:
        """Begin the next command; return whether one has ended here."""
        if not self.commands[-1].words:
            return False
        # A last semicolon ends the line.
        if self.at < len(self.text) or not separator.startswith(";"):
            self.commands.append(PlainCommand())
        return True

    def _operand(self) -> bool:
        """Read a word, or an input with its file; return whether there was one."""
        is_input = self._skip(INPUT) is not None
        word = self._word()
        if word is None:
            return False
        if is_input:
            self.commands[-1].inputs.append(word)
            self.commands[-1].redirections += 1
        else:
            self.commands[-1].words.append(word)
        return True

    def _word(self) -> PlainWord | None:
        start = self.at
        word = PlainWord(start + self.offset, start)
        if bracket := self._skip(BRACKET):
            word.text = bracket[0]
        while not bracket and self._piece(word):
            pass
        # A word ends at a blank or a separator, and at nothing else.
        if self.at == start or self.text[self.at : self.at + 1] not in ("", " ", "\t", "\n", "|", ";", "&"):
            return None
        word.end = self.at + self.offset
        word.text = word.text.encode("latin-1").decode()
        return word

    def _piece(self, word: PlainWord) -> bool:
        if match := self._skip(BARE) or self._skip(TILDE) or self._skip(REVISION):
            word.text += match[0]
            return True
        if match := self._skip(GLOB):
            word.glob = True
            word.text += match[0]
            return True
        if match := self._skip(SINGLE) or self._skip(ESCAPED):
            word.text += match[1]
        elif match := self._skip(DOUBLE):
            word.text += ESCAPE_IN_QUOTES.sub(r"\1", match[1])
        else:
            return False
        word.bare = False
        return True
