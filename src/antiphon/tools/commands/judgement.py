"""Judgement of a command: its risk, why, and what it would need.

A line is `read` if the strict reader and the grammar agree on every word of it, and the tables know all of it.
Everything else is judged by its effects.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.tools.commands.dangers import GIT_SETTINGS
from antiphon.tools.commands.effects import base_name, effects, git_subcommand
from antiphon.tools.commands.grammar import Script, Word, parse_script
from antiphon.tools.commands.plain import PlainCommand, plain_commands
from antiphon.tools.commands.reading import reading_problem
from antiphon.tools.risks import COMMAND, ORDER, Risk, command_in

MAX_PATHS = 1_000
# Parts of a word that may be paths: of=.git/config, 'print > ".env"'.
PATH = re.compile(r"[^\s'\"=<>|;&(),:]+")
PLAIN_KINDS = frozenset((
    "test_command", "unary_expression", "binary_expression", "test_operator", "[", "]", "=", "==", "!=", "!",
    "program", "list", "pipeline", "command", "command_name", "word", "number", "raw_string", "string",
    "string_content",
    "concatenation", "redirected_statement", "file_redirect", "file_descriptor", "|", "||", "&&", ";", "\n", '"',
    "$", "<",
    ">", ">>", ">&", "&>", "&>>",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandJudgement:
    """Judgement of a command line."""

    risk: Risk
    """`read` if it changes nothing, `destructive` if it may destroy something or cannot be analysed."""
    reason: str
    """Why it is not `read`, for the question to a person; empty for `read`."""
    parsed: bool
    """Whether the grammar of bash could read it."""
    network: bool
    """Whether it calls a program that uses the network."""
    paths: tuple[str, ...]
    """Literal words and targets of redirections that may be files it changes."""


def judge_command(command: str) -> CommandJudgement:
    """Judge a command line; what cannot be analysed is destructive."""
    if not isinstance(command, str):
        raise TypeError(f"the command is {command!r}; it must be a text")
    script = parse_script(command)
    if script.problem:
        return CommandJudgement("destructive", f"the command cannot be analysed: {script.problem}", False, False, ())
    commands = plain_commands(command)
    if commands is not None and _agrees(script, commands):
        problem = reading_problem(commands)
        if not problem:
            return CommandJudgement("read", "", True, False, ())
    else:
        problem = "it is more than known programs with literal words"
    all_effects = list(effects(script))
    network = any(effect.network for effect in all_effects)
    worst = max(all_effects, key=lambda effect: (ORDER.index(effect.risk), effect.specific), default=None)
    risk: Risk = "write" if worst is None else worst.risk
    reason = worst.reason if worst is not None and (risk == "destructive" or worst.specific) else problem
    return CommandJudgement(risk, reason, True, network, tuple(_paths(script)))


def risk_of_command(command: str) -> Risk:
    """Return the risk of a command line."""
    return judge_command(command).risk


def risk_of_call(tool: str | None, arguments: Mapping[str, Any] | str) -> Risk:
    """Return the risk of a call: that of its tool, or of its command; unknown tools are destructive."""
    if tool == COMMAND:
        command = command_in(arguments)
        return "destructive" if command is None else risk_of_command(command)
    return next((risk for risk in ORDER if risk == tool), "destructive")


def _agrees(script: Script, commands: Sequence[PlainCommand]) -> bool:
    """Return whether the grammar and the strict reader see the same words at the same places."""
    if script.variables or script.hazard or not script.kinds <= PLAIN_KINDS:
        return False
    redirections = sum(command.redirections for command in commands)
    seen = [[(word.start, word.end) for word in call.words] for call in script.calls]
    return len(script.redirections) == redirections and seen == [
        [(word.start, word.end) for word in command.words] for command in commands
    ]


def _paths(script: Script) -> Iterator[str]:
    """Yield the words of a line that may be files, each once, and the parts of words that may be."""
    texts = [redirection.target.text for redirection in script.redirections]
    for call in script.calls:
        texts += [word.text for word in call.words[1:]]
        if call.words and base_name(call.words[0]) == "git" and _sets_git(call.words[1:]):
            texts.append(".git/config")
    parts = [part for text in texts for part in (text, *PATH.findall(text))]
    yield from list(dict.fromkeys(part for part in parts if part))[:MAX_PATHS]


def _sets_git(words: Sequence[Word]) -> bool:
    return git_subcommand(words)[0] in GIT_SETTINGS | {""}
