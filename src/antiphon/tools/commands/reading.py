"""Decision whether a plain command only reads: its program, its options and its operands are all in the tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from antiphon.tools.commands.git_readers import GIT_READERS, GLOBAL_FLAGS
from antiphon.tools.commands.plain import PlainCommand, PlainWord
from antiphon.tools.commands.readers import (
    FIND_TEXTS,
    FIND_VALUES,
    FIND_WORDS,
    PS_WORDS,
    READERS,
    TEST_OPERATORS,
    VERSIONS,
    ReadOnlyUse,
)

FOLDERS = ("/bin/", "/usr/bin/")
NULL = "/dev/null"
# Paths that may lead out of the folder: absolute, in a home, or upwards.
OUTSIDE = re.compile(r"(^|[^\w.*?\]])/|^~|(^|[^\w.])\.\.($|/)|/\.\.($|/)")
# Names of files that usually hold keys.
SECRET = re.compile(
    r"(^|[/:=])(\.env(rc)?(?!\.(example|sample|template|dist)\b)(\.[^/]*)?|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx)"
    r"|id_(rsa|dsa|ecdsa|ed25519)[^/]*|\.(netrc|npmrc|pypirc|git-credentials|htpasswd|pgpass)|\.(ssh|aws|gnupg|kube)(/.*)?"
    r"|\.docker/config\.json|credentials(\.\w+)?|secrets\.(json|toml|ini|ya?ml))$",
    re.IGNORECASE,
)
HIDDEN_GLOB = re.compile(r"(^|/)\.[^/]*[*?]")
NUMBER = re.compile(r"-\d+")
# Of sed: print, delete or quit at lines, and substitutions without a program, a file or an escape in them.
ADDRESS = r"(?:\d+|\$|/[A-Za-z0-9_ .:=#-]+/)"
SED = re.compile(
    rf"(?:(?:{ADDRESS}(?:,(?:{ADDRESS}|\+\d+))?)?[pdq=]|s/[^/\\\[\n]+/[^/\\\n]*/[gpI]*)"
    rf"(?:; ?(?:{ADDRESS}(?:,(?:{ADDRESS}|\+\d+))?)?[pdq=])*"
)
# Of awk: conditions about lines, and fields that are printed.
CONDITION = r"(?:N[RF] ?(?:==|>=|<=|<|>|!=) ?\d+|/[A-Za-z0-9_ .:=#-]+/)"
FIELD = r"(?:\$(?:\d+|NF)|N[RF]|\"[^\"\\|<>]*\")"
AWK = re.compile(rf"(?:{CONDITION}(?: ?(?:&&|\|\|) ?{CONDITION})*)? ?(?:\{{ ?print(?: {FIELD}(?:,? ?{FIELD})*)? ?\}})?")
PRINTF = re.compile(r"(?:[^%\\]|%%|\\[nt\\\"]|%-?\d*(?:\.\d+)?[sdbqcxXouf])*")
GIT_PROGRAM = re.compile(r"%[-+ ]*G|signature")
# Formats that git knows by name; any other name is one of the settings.
GIT_FORMATS = frozenset({"oneline", "short", "medium", "full", "fuller", "reference", "email", "raw"})
# Values begin with a dash only if they are numbers or permissions.
FIND_VALUE = re.compile(r"(?!-)|-\d+[a-zA-Z]?$|-[ugoa]*[+=]?[rwxst]+$|-[0-7]{3,4}$")
NAME = re.compile(r"[\w.+-]+")


def reading_problem(commands: Sequence[PlainCommand]) -> str:
    """Return why a plain line does more than read, or an empty text."""
    moved = False
    for command in commands:
        problem = _command_problem(command)
        if problem:
            return problem
        program = command.words[0].text.rpartition("/")[2]
        if program == "git" and moved:
            return "git would use the settings of another folder"
        moved = moved or program == "cd"
    return ""


def _command_problem(command: PlainCommand) -> str:
    first = command.words[0]
    folder, slash, program = first.text.rpartition("/")
    if not first.bare or first.glob or (slash and f"{folder}/" not in FOLDERS):
        return f"it runs {first.text!r}, which is not a known program"
    words = command.words[1:]
    problem = next((problem for word in command.inputs if (problem := _path_problem(word))), "")
    if problem or ([word.text for word in words] == ["--version"] and program in VERSIONS):
        return problem
    special = SPECIAL.get(program)
    if special is not None:
        return special(words)
    reader = READERS.get(program)
    return f"{program} is not a program that only reads" if reader is None else _use_problem(program, reader, words)


def _use_problem(program: str, reader: ReadOnlyUse, words: Sequence[PlainWord]) -> str:
    """Check the words of a program with the table of its options."""
    table = option_table(reader.options)
    operands: list[PlainWord] = []
    used: set[str] = set()
    pending = list(words)
    while pending:
        word = pending.pop(0)
        text = word.text
        if text == "--":
            if any(word.text.startswith("-") for word in pending):
                return f"{program} has a word that looks like an option"
            operands += pending
            break
        if word.glob and _may_be_option(word) and not reader.globs:
            return f"a file could be named like an option of {program}"
        if not text.startswith("-") or text == "-":
            operands.append(word)
        elif reader.numbers and NUMBER.fullmatch(text):
            continue
        elif word.glob and not _is_text_option(table, text):
            return f"an option of {program} contains a glob"
        else:
            problem = _option_problem(program, table, text, pending, used)
            if problem:
                return problem
    return _operand_problem(program, reader, operands, used)


def _option_problem(program: str, table: Mapping[str, str], text: str, pending: list[PlainWord], used: set[str]) -> str:
    """Check one word of options; take the value from the pending words where it needs one."""
    name, equals, value = text.partition("=")
    if not text.startswith("--"):
        name = text[:2]
        value = text[2:]
        while value and table.get(name) == "":
            used.add(name)
            name = f"-{value[0]}"
            value = value[1:]
        equals = value
    kind = table.get(name)
    if kind is None or (equals and kind == ""):
        return f"{program} is called with the option {name}"
    used.add(name)
    if not equals and kind in (":", "=", "%") and pending:
        word = pending.pop(0)
        if word.text.startswith("-") or word.glob:
            return f"the value of {name} is not plain"
        value = word.text
    if kind == "%" and value and value not in GIT_FORMATS and ("%" not in value or GIT_PROGRAM.search(value)):
        return "a format of git may run a program"
    return _text_problem(value) if kind in (":", "?") else ""


def _is_text_option(table: Mapping[str, str], text: str) -> bool:
    """Return whether a glob stands in the text of a long option, and so expands to the same option: --include=*.py."""
    name, equals, _ = text.partition("=")
    return bool(equals) and table.get(name) == "=" and not re.search(r"[*?]", name)


def _operand_problem(program: str, reader: ReadOnlyUse, operands: Sequence[PlainWord], used: set[str]) -> str:
    is_list = bool(used & set(reader.lists.split()))
    if reader.operands is not None and not is_list:
        if len(operands) > reader.operands:
            return f"{program} is called with {len(operands)} operands"
        # A glob may become several: `uniq src/*` writes to the second.
        if any(word.glob for word in operands):
            return f"{program} is called with a glob"
    if program == "date" and any(not word.text.startswith("+") for word in operands):
        return "date may set the clock"
    if reader.script and operands and (operands[0].glob or not re.fullmatch(reader.script, operands[0].text)):
        return f"the script of {program} is not analysed"
    texts = 0 if used & set(reader.text_option.split()) else reader.texts
    return next((problem for word in operands[texts:] if (problem := _path_problem(word))), "")


def _may_be_option(word: PlainWord) -> bool:
    return word.text[:1] in "*?-"


def _path_problem(word: PlainWord) -> str:
    if word.glob and HIDDEN_GLOB.search(word.text):
        return f"{word.text!r} may lead out of the workspace"
    return _text_problem(word.text)


def _text_problem(text: str) -> str:
    if text == NULL:
        return ""
    if OUTSIDE.search(text):
        return f"{text!r} leads out of the workspace"
    return f"{text!r} may contain secrets" if SECRET.search(text) else ""


@cache
def option_table(options: str) -> Mapping[str, str]:
    """Return the options of a table with the kind of their values."""
    table: dict[str, str] = {}
    for option in options.split():
        kind = option[-1] if option[-1] in ":=?%" else ""
        name = option.removesuffix(kind) if kind else option
        names = [name] if name.startswith("--") or kind else [f"-{letter}" for letter in name[1:]]
        table.update(dict.fromkeys(names, kind))
    return table


def _git(words: Sequence[PlainWord]) -> str:
    pending = list(words)
    while pending and pending[0].text in GLOBAL_FLAGS:
        pending.pop(0)
    names = [word.text for word in pending[:2] if not word.glob]
    subcommand = " ".join(names)
    if subcommand in GIT_READERS and len(names) == 2:
        return _use_problem(f"git {subcommand}", GIT_READERS[subcommand], pending[2:])
    reader = GIT_READERS.get(names[0]) if names else None
    if reader is None:
        return f"git {names[0]} may change something" if names else "git is called without a subcommand"
    return _use_problem(f"git {names[0]}", reader, pending[1:])


def _find(words: Sequence[PlainWord]) -> str:
    pending = list(words)
    while pending:
        word = pending.pop(0)
        if word.glob and _may_be_option(word):
            return "a file could be named like an option of find"
        if word.text in FIND_VALUES:
            value = pending.pop(0) if pending else None
            if value is not None and (value.glob or not FIND_VALUE.match(value.text)):
                return f"the value of {word.text} is not plain"
            problem = "" if value is None or word.text in FIND_TEXTS else _path_problem(value)
        elif word.text.startswith("-") or word.text in FIND_WORDS:
            problem = "" if word.text in FIND_WORDS else f"find is called with {word.text}"
        else:
            problem = _path_problem(word)
        if problem:
            return problem
    return ""


def _test(words: Sequence[PlainWord]) -> str:
    for word in words:
        if word.glob or (word.text.startswith("-") and word.text not in TEST_OPERATORS):
            return f"test is called with {word.text!r}"
        if word.text not in TEST_OPERATORS and (problem := _path_problem(word)):
            return problem
    return "" if len(words) <= 4 else "test is called with many words"


def _bracket(words: Sequence[PlainWord]) -> str:
    return _test(words[:-1]) if words and words[-1].text == "]" else "a test has no end"


def _echo(words: Sequence[PlainWord]) -> str:
    return next((problem for word in words if word.glob and (problem := _path_problem(word))), "")


def _printf(words: Sequence[PlainWord]) -> str:
    if not words or words[0].text.startswith("-") or any(word.glob for word in words):
        return "printf is called with an option or a glob"
    return "" if PRINTF.fullmatch(words[0].text) else "the format of printf may set a variable"


def _command(words: Sequence[PlainWord]) -> str:
    plain = [word.text for word in words if not word.glob]
    names = plain[1:]
    if len(plain) == len(words) and plain[:1] in (["-v"], ["-V"]) and names and all(map(NAME.fullmatch, names)):
        return ""
    return "command runs a program"


def _ps(words: Sequence[PlainWord]) -> str:
    return next((f"ps is called with {word.text!r}" for word in words if word.text not in PS_WORDS), "")


def _sed(words: Sequence[PlainWord]) -> str:
    return _script_problem("sed", SED, ("-n", "-E", "-r", "-nE", "-nr", "-En"), words)


def _awk(words: Sequence[PlainWord]) -> str:
    pending = list(words)
    while pending and re.fullmatch(r"-F(?:[^\\\w]|\\t|t)?", pending[0].text):
        option = pending.pop(0)
        if option.text == "-F" and (not pending or not re.fullmatch(r"[^\\]|\\t", pending.pop(0).text)):
            return "the separator of awk is not plain"
    return _script_problem("awk", AWK, (), pending)


def _script_problem(program: str, pattern: re.Pattern[str], options: Sequence[str], words: Sequence[PlainWord]) -> str:
    """Check a program with a script, followed by files; awk takes a word with `=` for an assignment."""
    pending = list(words)
    while pending and pending[0].text in options:
        pending.pop(0)
    if not pending or pending[0].glob or not pending[0].text or not pattern.fullmatch(pending[0].text):
        return f"the script of {program} is not analysed"
    for word in pending[1:]:
        if word.text.startswith("-") or "=" in word.text or (word.glob and _may_be_option(word)):
            return f"{program} is called with {word.text!r}"
        if problem := _path_problem(word):
            return problem
    return ""


SPECIAL: Mapping[str, Callable[[Sequence[PlainWord]], str]] = {
    "git": _git, "find": _find, "test": _test, "[": _bracket,
    "echo": _echo, "printf": _printf, "command": _command, "ps": _ps,
    "sed": _sed, "awk": _awk,
}  # fmt: skip
