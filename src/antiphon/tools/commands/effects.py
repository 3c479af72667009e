"""Effects of a command line that does more than read: what it may destroy, and whether it uses the network.

1. A line has the effects of all its calls, also of those in substitutions, functions and nested shells.
2. Every word after a program that starts another one may be the name of that other one.
3. Code of other languages, and texts that a shell evaluates later, are not analysed, and so may destroy.
4. A program that is not known writes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from antiphon.tools.commands import dangers
from antiphon.tools.commands.grammar import CommandCall, Redirection, Script, Word, parse_script
from antiphon.tools.commands.reading import OUTSIDE, SED
from antiphon.tools.risks import Risk

MAX_NESTED_SHELLS = 4
MAX_STARTED_WORDS = 200
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=")
SUBSTITUTION = re.compile(r"\$\(|`")
# Builtins that evaluate the index of an array, and so a substitution in it.
INDEXES = frozenset((
    "test", "[", "[[", "printf", "read", "unset", "declare", "typeset", "local", "readonly", "export", "getopts",
    "wait",
))  # fmt: skip
DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly", "env", "read"})
CALCULATES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
SED_OPTION = re.compile(r"-[nErisz]*e?|-i\.\w+|--in-place|--quiet|--regexp-extended")
SED_SCRIPT = re.compile(
    rf"{SED.pattern}|s(?P<end>[/|,#@!%:_])(?:\\.|(?!(?P=end))[^\\\n])*(?P=end)(?:\\.|(?!(?P=end))[^\\\n])*(?P=end)[gpiI0-9]*"
)
AWK_CONDITION = re.compile(r"N[RF] ?>=? ?\d+")
VERSIONED = re.compile(r"((?:python|pypy|perl|ruby|lua|php|node|guile)\d?)[\d.]*")


@dataclass(frozen=True, slots=True)
class CommandEffect:
    """One effect of a line, in words for a person."""

    risk: Risk
    reason: str
    network: bool = False
    specific: bool = True
    """Whether the reason says more than that the program is not known to read."""
    runs: Literal["", "code", "program"] = ""
    """`code` that is not analysed, or a `program` that is named by an option or a variable."""


def effects(script: Script, depth: int = 0) -> Iterator[CommandEffect]:
    """Yield the effects of a parsed line."""
    if script.problem:
        yield CommandEffect("destructive", f"the command cannot be analysed: {script.problem}")
    if script.hazard:
        yield CommandEffect("destructive", script.hazard)
    for name in script.variables:
        yield _variable_effect(name)
    for redirection in script.redirections:
        yield from _redirection_effects(redirection)
    texts = [word.text for call in script.calls for word in call.words]
    indexes = script.variables or any(call.words and call.words[0].text in INDEXES for call in script.calls)
    if indexes and any(SUBSTITUTION.search(text) for text in texts if not text.startswith(("$(", "`", '"'))):
        yield CommandEffect("destructive", "a text contains a command that may run", runs="program")
    for call in script.calls:
        yield from call_effects(call, depth)


def call_effects(call: CommandCall, depth: int = 0) -> Iterator[CommandEffect]:
    """Yield the effects of one call."""
    if not call.words:
        return
    program = call.words[0]
    if not program.literal:
        yield CommandEffect("destructive", f"the program {program.text!r} depends on something else", runs="program")
        return
    yield from _own_effects(call.words, depth)
    started = started_words(call.words)
    if len(started) > MAX_STARTED_WORDS:
        yield CommandEffect(
            "destructive", f"{base_name(program)} is called with more words than are analysed", runs="program"
        )
        return
    first = next((word for word in started if not re.match(r"-|\d|\w+=", word.text)), None)
    if first is not None and not first.literal:
        yield CommandEffect(
            "destructive", f"{base_name(program)} runs a program that depends on something else", runs="program"
        )
    for number in range(len(started)):
        yield from _started_effects(base_name(program), started[number:], depth)


def started_words(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words in which a program names the one it starts."""
    if base_name(words[0]) in dangers.STARTERS:
        return words[1:]
    if base_name(words[0]) == "find":
        for number, word in enumerate(words):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                return words[number + 1 :]
    return ()


def base_name(word: Word) -> str:
    """Return the name of a program without its folder and its version."""
    name = word.text.rpartition("/")[2]
    versioned = VERSIONED.fullmatch(name)
    return versioned[1] if versioned else name


def shell_texts(words: Sequence[Word]) -> list[Word] | None:
    """Return the words that a shell may run as commands (`-c`), or None if it runs a file."""
    options = [word.text for word in words[1:] if word.text.startswith(("-", "+"))]
    if not any(re.fullmatch(r"[-+]\w*c\w*", option) for option in options):
        return None
    return [word for word in words[1:] if not word.text.startswith(("-", "+"))]


def _started_effects(starter: str, words: Sequence[Word], depth: int) -> Iterator[CommandEffect]:
    name = base_name(words[0])
    if starter in ("xargs", "parallel") and name in ("git", "find", "tar", "make", "sed", "sort"):
        yield CommandEffect("destructive", f"{starter} calls {name} with unknown words", runs="program")
    if words[0].literal and re.search(r"\s", words[0].text) and depth < MAX_NESTED_SHELLS:
        # Some split a word into those of a command: env -S, watch, parallel.
        yield from effects(parse_script(words[0].text), depth + 1)
    if ASSIGNMENT.match(words[0].text):
        yield _variable_effect(words[0].text.partition("=")[0])
    elif words[0].literal and _is_known(name):
        yield from _own_effects(words, depth)


def _is_known(name: str) -> bool:
    """Return whether a word names a program of the tables; any other word is none, or one that writes."""
    return (
        name in dangers.DESTRUCTIVE | dangers.EVALUATES | dangers.SHELLS | dangers.EDITORS | dangers.NETWORK
        or name in dangers.INTERPRETERS
        or name in dangers.LONG_OPTIONS
        or name in dangers.NETWORK_SUBCOMMANDS
        or name in dangers.REPLACES
        or name.startswith("mkfs.")
        or name == "find"
    )


def _own_effects(words: Sequence[Word], depth: int) -> Iterator[CommandEffect]:
    """Yield the effects of a program, apart from those it starts."""
    name = base_name(words[0])
    yield CommandEffect("write", f"{name} may change files", _uses_network(name, words[1:]), specific=False)
    if name in dangers.DESTRUCTIVE or name.startswith("mkfs."):
        yield CommandEffect("destructive", f"{name} may destroy something")
    elif name in dangers.EVALUATES:
        yield CommandEffect("destructive", f"{name} runs commands that are not analysed", runs="code")
    elif name in dangers.EDITORS:
        yield CommandEffect("destructive", f"{name} runs commands of its own", runs="code")
    elif name in dangers.SHELLS:
        yield from _shell_effects(name, words, depth)
    elif name in dangers.INTERPRETERS and _runs_code(name, words[1:]):
        yield CommandEffect("destructive", f"{name} runs code that is not analysed", runs="code")
    elif name == "git":
        yield from _git_effects(words[1:])
    elif name == "find" and any(word.text == "-delete" or (not word.literal and word.head == "") for word in words[1:]):
        yield CommandEffect("destructive", "find may delete files")
    elif name in ("sed", "gsed", "awk", "gawk", "mawk", "nawk") and _has_unknown_script(name, words[1:]):
        yield CommandEffect("destructive", f"the script of {name} may run commands", runs="code")
    yield from _option_effects(name, words[1:])
    yield from _builtin_effects(name, words[1:])


def _option_effects(name: str, words: Sequence[Word]) -> Iterator[CommandEffect]:
    long_options = dangers.LONG_OPTIONS.get(name, ())
    letters = dangers.SHORT_OPTIONS.get(name, "")
    for number, word in enumerate(words):
        bundle = (word.text.startswith("-") and not word.text.startswith("--")) or (name == "tar" and number == 0)
        if abbreviates(word.text, long_options) or (bundle and any(letter in word.text for letter in letters)):
            yield CommandEffect(
                "destructive",
                f"{name} is called with {word.text!r}, which may destroy or run something",
                runs="program",
            )
    if name in ("make", "gmake") and any(
        re.match(r"(SHELL|\.SHELLFLAGS|MAKEFLAGS)[:+]?=|-f-?$", word.text) for word in words
    ):
        yield CommandEffect("destructive", f"{name} is told to run something else", runs="program")
    if name in dangers.REPLACES and any(is_outside(word.text) for word in words):
        yield CommandEffect("destructive", f"{name} may replace files out of the workspace")


def _builtin_effects(name: str, words: Sequence[Word]) -> Iterator[CommandEffect]:
    texts = [word.text for word in words]
    if name in DECLARES:
        names = [match[1] for text in texts if (match := ASSIGNMENT.match(text))]
        for variable in names + (texts if name == "read" else []):
            yield _variable_effect(variable)
    if (
        name == "printf"
        and texts
        and (texts[0].startswith("-") or "n" in re.findall(r"%[^a-zA-Z]*([a-zA-Z])", texts[0]))
    ):
        yield CommandEffect("destructive", "printf may set a variable", runs="program")
    if name in ("test", "[", "[[") and any(text in ("-v", "-R") for text in texts):
        yield CommandEffect("destructive", f"{name} may evaluate the name of a variable", runs="program")
    if name == "[[" and any(text in CALCULATES for text in texts):
        yield CommandEffect("destructive", "a calculation in [[ may run code", runs="program")


def _variable_effect(name: str) -> CommandEffect:
    if dangers.decides_programs(name):
        return CommandEffect("destructive", f"{name} decides which programs run", runs="program")
    return CommandEffect("write", f"it sets the variable {name}")


def _redirection_effects(redirection: Redirection) -> Iterator[CommandEffect]:
    target = redirection.target
    if target.text.startswith(("/dev/tcp", "/dev/udp")):
        yield CommandEffect("destructive", "it opens a connection", network=True)
    elif (
        redirection.operator == "<"
        or target.text in HARMLESS_TARGETS
        or (redirection.operator in (">&", "<&") and re.fullmatch(r"\d|-|\d-", target.text))
    ):
        return
    elif not target.literal:
        yield CommandEffect("destructive", f"it writes to a file that depends on something else: {target.text}")
    elif is_outside(target.text):
        yield CommandEffect("destructive", f"it writes to {target.text!r}, out of the workspace")
    else:
        yield CommandEffect("write", f"it writes to {target.text!r}")


def is_outside(text: str) -> bool:
    """Return whether a path leads out of the workspace, other than to temporary files."""
    return text not in HARMLESS_TARGETS and bool(OUTSIDE.search(text)) and not re.match(r"/tmp/(?!.*\.\.)", text)


def abbreviates(text: str, options: Sequence[str]) -> bool:
    """Return whether a word is one of these long options, or begins like one."""
    name = text.partition("=")[0]
    return len(name) > 2 and name.startswith("--") and any(option.startswith(name) for option in options)


def _shell_effects(name: str, words: Sequence[Word], depth: int) -> Iterator[CommandEffect]:
    texts = shell_texts(words)
    files = [word for word in words[1:] if not word.text.startswith(("-", "+"))]
    if texts is None:
        odd = [
            word
            for word in words[1:]
            if word.text.startswith(("--rcfile", "--init", "/dev/", "-s")) or not word.literal
        ]
        if odd or not files:
            yield CommandEffect("destructive", f"{name} runs what it reads", runs="code")
        return
    if depth >= MAX_NESTED_SHELLS or not all(text.literal for text in texts):
        yield CommandEffect("destructive", f"{name} runs a text that is not analysed", runs="code")
        return
    for text in texts:
        yield from effects(parse_script(text.text), depth + 1)


def _runs_code(name: str, words: Sequence[Word]) -> bool:
    """Return whether an interpreter runs code of the line or of its input, not a file."""
    letters = dangers.INTERPRETERS[name]
    files = 0
    for word in words:
        text = word.text
        if text == "-" or (not word.literal and word.head == "") or abbreviates(text, dangers.CODE_OPTIONS):
            return True
        if text.startswith("-") and not text.startswith("--"):
            if any(letter in text for letter in letters):
                return True
            if name.startswith(("python", "pypy")) and text in ("-m", "-V", "-h"):
                return False
        elif not text.startswith("-"):
            files += 1
            if name.startswith(("python", "pypy")):
                return False
    return files == 0 and not any(word.text in ("--version", "-v", "-V", "--help", "-h") for word in words)


def _has_unknown_script(name: str, words: Sequence[Word]) -> bool:
    """Return whether a script of sed or awk may run commands."""
    operands = [word for word in words if not (word.literal and word.text.startswith("-"))]
    if "sed" in name:
        options = [word.text for word in words if word.literal and word.text.startswith("-")]
        scripts = [words[number + 1] for number, word in enumerate(words[:-1]) if word.text == "-e"] or operands[:1]
        known = all(SED_OPTION.fullmatch(option) for option in options)
        return not known or not all(word.literal and SED_SCRIPT.fullmatch(word.text) for word in scripts)
    if any(not word.literal for word in operands[:1]):
        return True
    code = " ".join(word.text for word in words if not re.fullmatch(r"-F.|[|;,:]", word.text)).replace("||", "")
    return bool(re.search(r"system|getline|\||@|>", re.sub(AWK_CONDITION, "", code)))


def _git_effects(words: Sequence[Word]) -> Iterator[CommandEffect]:
    subcommand, arguments, problem = git_subcommand(words)
    if problem:
        yield CommandEffect("destructive", problem, runs="program")
        return
    options = dangers.GIT_DESTRUCTIVE.get(subcommand)
    texts = [word.text for word in arguments]
    if options is not None and ("" in options or any(_is_git_option(text, options) for text in texts)):
        yield CommandEffect("destructive", f"git {subcommand} may destroy something")
    elif options is not None and any(not word.literal and word.head == "" for word in arguments):
        yield CommandEffect(
            "destructive", f"git {subcommand} is called with words that depend on something else", runs="program"
        )
    if subcommand == "checkout" and not dangers.GIT_NEW_BRANCH.intersection(texts):
        yield CommandEffect("destructive", "git checkout may discard changes")
    if subcommand == "push" and any(text.startswith(("+", ":")) for text in texts):
        yield CommandEffect("destructive", "git push may overwrite or delete a branch")
    if subcommand == "config" and (
        any(dangers.GIT_PROGRAMS.match(text) for text in texts) or any(text.startswith("!") for text in texts)
    ):
        yield CommandEffect("destructive", "git will run a program of this setting", runs="program")
    if any("ext::" in text for text in texts):
        yield CommandEffect("destructive", "git runs a program of the address", runs="program")


def git_subcommand(words: Sequence[Word]) -> tuple[str, Sequence[Word], str]:
    """Return the subcommand of git, its words, and why it cannot be told, or an empty text."""
    pending = list(words)
    while pending and pending[0].text.startswith("-"):
        option = pending.pop(0)
        if option.text == "-C" and pending:
            pending.pop(0)
        elif option.text not in dangers.GIT_GLOBALS or not option.literal:
            return "", pending, f"git is called with {option.text!r}, which may name a program"
    if pending and not pending[0].literal:
        return "", pending, "the subcommand of git depends on something else"
    return (pending[0].text if pending else ""), pending[1:], ""


def _is_git_option(text: str, options: Sequence[str]) -> bool:
    if text in options or abbreviates(text, options):
        return True
    letters = [option[1] for option in options if re.fullmatch(r"-\w", option)]
    return text.startswith("-") and not text.startswith("--") and any(letter in text[1:] for letter in letters)


def _uses_network(name: str, words: Sequence[Word]) -> bool:
    if name in dangers.NETWORK:
        return True
    if name == "git":
        subcommand, _, problem = git_subcommand(words)
        return bool(problem) or subcommand in dangers.NETWORK_SUBCOMMANDS["git"] or subcommand == "remote"
    texts = [word.text for word in words]
    if name in ("python", "python3") and texts[:2] in (["-m", "pip"], ["-m", "uv"]):
        name = "pip"
        texts = texts[2:]
    subcommands = dangers.NETWORK_SUBCOMMANDS.get("pip" if name in ("pip3", "pip") else name, frozenset())
    # Yarn, npm and others install if no subcommand is named.
    operands = [text for text in texts if not text.startswith("-")]
    return any(text in subcommands for text in operands[:3]) or (name == "yarn" and not operands)
