"""How risky a call is: it reads, it writes, or it may destroy what nobody can bring back.

1. A tool that is not known, and a command that is not understood, are as risky as any.
2. A line of commands is as risky as the riskiest of them, also those in substitutions and behind pipes.
3. A command that is known to read only, sends its output nowhere and names no path outside, reads; one that is not
   known writes.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from antiphon.tools.shell_syntax import HARMLESS_TARGETS, SimpleCommand, parse_command

Risk = Literal["read", "write", "destructive"]
# Of a tool that runs commands, each call is as risky as its command.
COMMAND = "command"
ORDER: tuple[Risk, ...] = ("read", "write", "destructive")
READING = frozenset((
    "ls", "cat", "head", "tail", "wc", "pwd", "echo", "printf", "grep", "egrep", "fgrep", "rg", "file", "stat",
    "du", "df", "which", "type", "whoami", "id", "uname", "date", "true", "false", "test", "[", "diff", "cmp",
    "sort", "uniq", "cut", "tr", "nl", "basename", "dirname", "realpath", "readlink", "tree", "ps", "cd",
    "sha256sum", "md5sum", "tac", "column", "sleep", "seq",
))  # fmt: skip
READING_GIT = frozenset((
    "status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "describe", "shortlog", "grep",
    "cat-file",
))  # fmt: skip
DESTROYING = frozenset((
    "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "fdisk", "parted", "wipefs", "truncate", "sudo", "su",
    "doas", "pkexec", "kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "chown", "chgrp",
    "crontab", "iptables", "nft", "mount", "umount", "systemctl", "service", "launchctl", "eval", "source", ".",
    "ssh", "scp", "rsync", "nc", "ncat", "telnet", "userdel", "usermod", "passwd", "swapoff", "insmod", "rmmod",
))  # fmt: skip
# What may lead out of the folder: a path from the root, from a home, or upwards.
OUTSIDE = re.compile(r"(^|[^\w.*?\]])/|^~|(^|[^\w.])\.\.($|/)|\$.*/")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php"})
# Programs that start another one, named in their words.
STARTERS = frozenset({"xargs", "parallel", "watch", "entr", "busybox"})
LOADERS = frozenset({"curl", "wget", "fetch"})
DESTROYING_GIT: Mapping[str, tuple[str, ...]] = {
    "push": ("--force", "-f", "--force-with-lease", "--delete", "-d", "--mirror", "--prune"),
    "reset": ("--hard", "--merge", "--keep"),
    "clean": ("",),
    "checkout": ("--", ".", "-f", "--force"),
    "restore": ("",),
    "branch": ("-D", "-d", "--delete", "-f", "--force"),
    "stash": ("drop", "clear"),
    "tag": ("-d", "--delete", "-f"),
    "filter-branch": ("",),
    "filter-repo": ("",),
    "reflog": ("expire", "delete"),
    "gc": ("--prune",),
    "update-ref": ("",),
}


def risk_of_call(tool: str | None, arguments: Mapping[str, Any] | str) -> Risk:
    """How risky a call is: as its tool says, or as its command is; what nobody knows is as risky as any."""
    if tool == COMMAND:
        command = command_in(arguments)
        return "destructive" if command is None else risk_of_command(command)
    return next((risk for risk in ORDER if risk == tool), "destructive")


def command_in(arguments: Mapping[str, Any] | str) -> str | None:
    """The command that a call runs, if it has one; arguments as an object, or as the JSON that a model wrote."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    command = arguments.get("command") if isinstance(arguments, Mapping) else None
    return command if isinstance(command, str) else None


def risk_of_command(command: str) -> Risk:
    """How risky a line of commands is."""
    taken = parse_command(command)
    if taken.unclear or _loads_and_runs(taken.simples):
        return "destructive"
    return max((_risk(one) for one in taken.simples), key=ORDER.index, default="read")


def _risk(simple: SimpleCommand) -> Risk:
    if any(target.startswith("/dev/") and target not in HARMLESS_TARGETS for target in simple.writes):
        return "destructive"
    sends = any(target not in HARMLESS_TARGETS for target in simple.writes)
    if not simple.words:
        return "write" if sends else "read"
    word = simple.words[0]
    varies = simple.varies and word not in ("[", "[[")
    if varies and any(letter in word for letter in "$`*?[{~"):
        return "destructive"
    risk = _by_program(word.rpartition("/")[2], simple.words[1:])
    leaves = any(OUTSIDE.search(one) and one not in HARMLESS_TARGETS for one in simple.words[1:])
    return "write" if risk == "read" and (sends or varies or leaves) else risk


def _by_program(program: str, words: list[str]) -> Risk:
    if program in DESTROYING or program.startswith("mkfs."):
        return "destructive"
    if program == "git":
        return _git(words)
    if program in STARTERS:
        return _started(words)
    if program == "find":
        return _find(words)
    if program in SHELLS and "-c" in words:
        # What is in the text of a second shell is judged like the first; of other languages nobody here knows.
        text = words[words.index("-c") + 1 :][:1]
        if program.endswith("sh") and text:
            return max("write", risk_of_command(text[0]), key=ORDER.index)
        return "write"
    if program in ("chmod", "cp", "mv") and any(word.startswith("/") for word in words):
        return "destructive"
    if program == "chmod" and any(word.startswith("-") and "R" in word for word in words):
        return "destructive"
    if program == "sort" and any(word.startswith(("-o", "--output")) for word in words):
        return "write"
    return "read" if program in READING else "write"


def _git(words: list[str]) -> Risk:
    # Options before the verb may name programs to run (`-c core.pager=…`).
    if not words or words[0].startswith("-"):
        return "read" if words in ([], ["--version"]) else "destructive"
    verb, rest = words[0], words[1:]
    signs = DESTROYING_GIT.get(verb)
    if signs is not None and ("" in signs or any(_is_sign(word, signs) for word in rest)):
        return "destructive"
    if verb == "push" and any(word.startswith(("+", ":")) for word in rest):
        return "destructive"
    writes = any(word.startswith(("--output", "--ext-diff", "-O", "--open-files")) for word in rest)
    return "read" if verb in READING_GIT and not writes else "write"


def _is_sign(word: str, signs: tuple[str, ...]) -> bool:
    if word.partition("=")[0] in signs:
        return True
    letters = [sign[1] for sign in signs if len(sign) == 2 and sign.startswith("-") and sign != "--"]
    return word.startswith("-") and not word.startswith("--") and any(letter in word[1:] for letter in letters)


def _started(words: list[str]) -> Risk:
    """How risky a program is that another starts; options make it hard to say which word it is, so any may be."""
    names = {word.rpartition("/")[2] for word in words}
    return "destructive" if names & (DESTROYING | SHELLS | STARTERS | {"git"}) else "write"


def _find(words: list[str]) -> Risk:
    if any(word == "-delete" for word in words):
        return "destructive"
    for number, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            return _started(words[number + 1 :])
    return "write" if any(word.startswith(("-fprint", "-fls")) for word in words) else "read"


def _loads_and_runs(simples: list[SimpleCommand]) -> bool:
    """Whether something from the network may be run: `curl … | sh`."""
    programs = [one.words[0].rpartition("/")[2] for one in simples if one.words]
    return any(one in LOADERS for one in programs) and any(one in SHELLS for one in programs)
