"""Bash read with tree-sitter's grammar: the programs a line calls, with their words, redirections and assignments.

A text that bash may read otherwise than the grammar is a problem, and callers assume the worst of it:

1. errors of the grammar, and nodes that are not in the list;
2. control characters and invisible ones, which the grammar takes for blanks, and bash for characters;
3. continuations of a line within a word, expansions with quotes or braces in them, `$[`, escapes in backquotes;
4. here-documents whose end is not a plain word, or more than one of them;
5. reserved words where the grammar sees a program.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

INSTALL = "the grammar of bash is not installed; run: pip install 'antiphon[tools]'"
# The parser needs up to a quarter of a second for a line of this length, and the square of that for longer ones.
MAX_BYTES = 8_000
MAX_DEPTH = 150
NODES = frozenset((
    "ansi_c_string", "arithmetic_expansion", "array", "binary_expression", "brace_expression",
    "c_style_for_statement", "case_item", "case_statement", "command", "command_name", "command_substitution",
    "comment", "compound_statement", "concatenation", "declaration_command", "do_group", "elif_clause", "else_clause",
    "expansion", "file_descriptor", "file_redirect", "for_statement", "function_definition", "heredoc_body",
    "heredoc_content", "heredoc_end", "heredoc_redirect", "heredoc_start", "herestring_redirect", "if_statement",
    "list", "negated_command", "number", "parenthesized_expression", "pipeline", "postfix_expression",
    "process_substitution", "program", "raw_string", "redirected_statement", "simple_expansion",
    "special_variable_name", "string", "string_content", "subscript", "subshell", "ternary_expression",
    "test_command", "test_operator", "translated_string", "unary_expression", "unset_command", "variable_assignment",
    "variable_assignments", "variable_name", "while_statement", "word",
))  # fmt: skip
RESERVED = frozenset((
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "{", "}", "!", "case", "esac", "in",
    "select", "function", "]]",
))  # fmt: skip
EXPANSION = re.compile(r"\$\{#?(?:\w+|[@*#?$!-])(?:\[[\w@*]+\])?(?:[-:+=?%#/^,][^'\"`\\{}$()]*)?\}")
HEREDOC = re.compile(r"(?<!<)<<(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2(?=[\s|;&>)])")
CONTINUED_WORD = re.compile(r"[^ \t\n]\\\n[^ \t\n]|^\\\n")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPE_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
# Characters of a word that bash may expand, unless they are quoted.
EXPANDED = re.compile(r"(?<!\\)[*?\[{]|^~|[=:]~")


@dataclass(frozen=True, slots=True)
class Word:
    """Word of a command, and its place in the bytes of the line."""

    text: str
    """The value of the word; its source if it is not literal."""
    literal: bool
    """Whether bash passes on this text, whatever the variables and files."""
    head: str
    """The literal text at its beginning."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CommandCall:
    """Call of a program, a builtin or a function."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """Words joined by spaces."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Redirection:
    """Redirection of a command: its operator and its target."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a line calls, in the order of the line, also in substitutions; or why it cannot be analysed."""

    calls: tuple[CommandCall, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    variables: tuple[str, ...] = ()
    """Names of variables that are set."""
    kinds: frozenset[str] = frozenset()
    """Kinds of its syntax nodes."""
    hazard: str = ""
    """A construct in which values of variables may run as commands."""
    problem: str = ""


def parse_script(command: str) -> Script:
    """Parse a command line."""
    problem = text_problem(command)
    if problem:
        return Script(problem=problem)
    try:
        parser = _parser()
    except ImportError:
        return Script(problem=INSTALL)
    source = command.encode()
    return _Reader(source).read(parser.parse(source).root_node)


def text_problem(command: str) -> str:
    """Return why a text is not given to the grammar, or an empty text."""
    if len(command) > MAX_BYTES or len(command.encode("utf-8", "replace")) > MAX_BYTES:
        return f"it is longer than {MAX_BYTES:,} bytes"
    hidden = next((character for character in command if is_hidden(character)), None)
    if hidden is not None:
        return f"it contains the invisible character U+{ord(hidden):04X}"
    if CONTINUED_WORD.search(command):
        return "a line is continued within a word"
    if any(not EXPANSION.match(command, start.start()) for start in re.finditer(r"\$\{", command)):
        return "it contains an expansion that is not simple"
    if "$[" in command or re.search(r"`[^`]*\\", command):
        return "it contains an outdated form of substitution"
    return _heredoc_problem(command)


def is_hidden(character: str) -> bool:
    """Return whether a character is a control character, a blank other than space, or not visible."""
    if character in "\n\t" or " " <= character <= "~":
        return False
    return unicodedata.category(character)[0] not in "LMNPS" or character == "\ufffd"


def _heredoc_problem(command: str) -> str:
    if "<<" not in command.replace("<<<", ""):
        return ""
    heredocs = list(HEREDOC.finditer(command))
    if len(heredocs) != 1 or command.replace("<<<", "").count("<<") != 1:
        return "it contains a here-document that is not simple"
    dash, _, end = heredocs[0].groups()
    body = command[heredocs[0].end() :].split("\n")[1:]
    lines = [line.lstrip("\t") if dash else line for line in body]
    # Nothing may follow the here-document, so that its end is the same for every reader.
    return "" if lines and end in lines and not any(lines[lines.index(end) + 1 :]) else "a here-document has no end"


@cache
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Reader:
    """Collects the calls of a syntax tree."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.calls: list[CommandCall] = []
        self.redirections: list[Redirection] = []
        self.variables: list[str] = []
        self.hazard = ""

    def read(self, root: "Node") -> Script:
        kinds = set()
        pending = [(root, 0)]
        while pending:
            node, depth = pending.pop()
            if node.is_error or node.is_missing or depth > MAX_DEPTH:
                return Script(problem="it is not valid bash, or nested too deeply")
            if node.is_named and node.type not in NODES:
                return Script(problem=f"it contains a construct that is not analysed ({node.type})")
            kinds.add(node.type)
            self._visit(node)
            pending += [(child, depth + 1) for child in reversed(node.children)]
        problem = self._reserved()
        return Script(
            tuple(self.calls), tuple(self.redirections), tuple(self.variables), frozenset(kinds), self.hazard, problem
        )

    def _reserved(self) -> str:
        programs = [call.words[0].text for call in self.calls if call.words]
        word = next((program for program in programs if program in RESERVED), None)
        return "" if word is None else f"the word {word!r} stands where a program is expected"

    def _visit(self, node: "Node") -> None:
        kind = node.type
        if kind in ("command", "declaration_command", "unset_command"):
            self.calls.append(CommandCall(tuple(self._words(node))))
        elif kind == "test_command":
            self.calls.append(CommandCall(tuple(map(self._word, _leaves(node)))))
        elif kind == "file_redirect":
            self._redirect(node)
        elif kind in ("variable_assignment", "for_statement"):
            names = [child for child in node.children if child.type in ("variable_name", "subscript")][:1]
            self.variables += [self._text(name).partition("[")[0] for name in names]
        elif kind == "subscript" and not re.fullmatch(r"\w+\[[\w@*]+\]", self._text(node)):
            self.hazard = self.hazard or "the index of an array may run code"
        elif kind == "variable_name" and _is_calculated(node):
            self.hazard = self.hazard or "a calculation with variables may run code"
        elif kind == "expansion":
            self._expand(self._text(node))

    def _expand(self, text: str) -> None:
        if re.search(r"@[A-Za-z]|^\$\{!", text):
            self.hazard = self.hazard or "an expansion may run code"
        if assignment := re.match(r"\$\{(\w+):?=", text):
            self.variables.append(assignment[1])

    def _words(self, node: "Node") -> Iterator[Word]:
        for child in node.children:
            if child.type == "variable_assignment" and node.type == "command":
                continue
            if child.type not in ("file_redirect", "herestring_redirect", "heredoc_redirect", "comment"):
                yield self._word(child.children[0] if child.type == "command_name" else child)

    def _redirect(self, node: "Node") -> None:
        targets = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        operators = [child.type for child in node.children if not child.is_named]
        for target in targets:
            self.redirections.append(Redirection(operators[0] if operators else ">", self._word(target)))

    def _word(self, node: "Node") -> Word:
        value = self._value(node)
        source = self._text(node)
        if value is not None:
            return Word(value, True, value, node.start_byte, node.end_byte)
        return Word(source, False, self._head(node), node.start_byte, node.end_byte)

    def _value(self, node: "Node") -> str | None:
        """Return the text that bash passes on for a node, or None if that depends on something."""
        text = self._text(node)
        match node.type:
            case "word" | "number" | "file_descriptor" | "variable_name" | "test_operator":
                return ESCAPE.sub(_unescape, text) if text == "{}" or not EXPANDED.search(text) else None
            case "raw_string":
                return text[1:-1]
            case "string":
                plain = all(child.type in ('"', "string_content", "$") for child in node.children)
                return ESCAPE_IN_QUOTES.sub(_unescape, text[1:-1]) if plain and text.startswith('"') else None
            case "concatenation" if text == "{}":
                return text
            case "concatenation":
                values = [self._value(child) for child in node.children]
                complete = sum(child.end_byte - child.start_byte for child in node.children) == len(text.encode())
                expands = any(child.type == "word" and "{" in self._text(child) for child in node.children)
                return (
                    "".join(value for value in values if value)
                    if complete and not expands and None not in values
                    else None
                )
        return text if not node.is_named else None

    def _head(self, node: "Node") -> str:
        """Return the literal text before the first expansion."""
        if node.type == "word":
            text = self._text(node)
            expanded = EXPANDED.search(text)
            return ESCAPE.sub(_unescape, text[: expanded.start()] if expanded else text)
        head = ""
        for child in node.children if node.type == "concatenation" else ():
            value = self._value(child)
            if value is None:
                return head + self._head(child)
            head += value
        return head

    def _text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _unescape(escape: re.Match[str]) -> str:
    return "" if escape[1] == "\n" else escape[1]


def _leaves(node: "Node") -> Iterator["Node"]:
    """Yield the operators and words of a test."""
    for child in node.children:
        if child.type.endswith("_expression"):
            yield from _leaves(child)
        else:
            yield child


def _is_calculated(node: "Node") -> bool:
    """Return whether a variable is part of a calculation."""
    parent = node.parent
    while parent is not None and parent.type.endswith("_expression"):
        parent = parent.parent
    if parent is None or node.parent is None:
        return False
    if parent.type == "compound_statement":
        return bool(parent.children) and parent.children[0].type == "(("
    return parent.type in ("arithmetic_expansion", "c_style_for_statement")
