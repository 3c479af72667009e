"""Version 1 of the risk of a tool call: it reads, it writes, or it may destroy something irrecoverably.

1. Unknown tools, and commands that cannot be analysed, are destructive.
2. A command line has the highest risk of its commands, including those in substitutions and pipes.
3. A command reads if it is known to read only, redirects no output and names no path outside; an unknown command
   writes.
"""

import re
from collections.abc import Mapping
from typing import Any

from antiphon.threads.machine.version_1.shell_syntax import HARMLESS_TARGETS, SimpleCommand, parse_command
from antiphon.tools.risks import COMMAND, ORDER, Risk, command_in

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
DESTRUCTIVE = frozenset((
    "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "fdisk", "parted", "wipefs", "truncate", "sudo", "su",
    "doas", "pkexec", "kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "chown", "chgrp",
    "crontab", "iptables", "nft", "mount", "umount", "systemctl", "service", "launchctl", "eval", "source", ".",
    "ssh", "scp", "rsync", "nc", "ncat", "telnet", "userdel", "usermod", "passwd", "swapoff", "insmod", "rmmod",
))  # fmt: skip
# Paths that may lead out of the folder: absolute, in a home, or upwards.
OUTSIDE = re.compile(r"(^|[^\w.*?\]])/|^~|(^|[^\w.])\.\.($|/)|\$.*/")
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php"})
# Programs that start another one, given by their arguments.
STARTERS = frozenset({"xargs", "parallel", "watch", "entr", "busybox"})
DOWNLOADERS = frozenset({"curl", "wget", "fetch"})
DESTRUCTIVE_GIT: Mapping[str, tuple[str, ...]] = {
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
    """Return the risk of a call: that of its tool, or of its command; unknown tools are destructive."""
    if tool == COMMAND:
        command = command_in(arguments)
        return "destructive" if command is None else risk_of_command(command)
    return next((risk for risk in ORDER if risk == tool), "destructive")


def risk_of_command(command: str) -> Risk:
    """Return the risk of a command line."""
    parsed = parse_command(command)
    if parsed.unclear or _downloads_and_runs(parsed.commands):
        return "destructive"
    return max((_risk(simple) for simple in parsed.commands), key=ORDER.index, default="read")


def _risk(simple: SimpleCommand) -> Risk:
    if any(target.startswith("/dev/") and target not in HARMLESS_TARGETS for target in simple.writes):
        return "destructive"
    sends = any(target not in HARMLESS_TARGETS for target in simple.writes)
    if not simple.words:
        return "write" if sends else "read"
    word = simple.words[0]
    varies = simple.varies and word not in ("[", "[[")
    if varies and any(character in word for character in "$`*?[{~"):
        return "destructive"
    risk = _program_risk(word.rpartition("/")[2], simple.words[1:])
    leaves = any(OUTSIDE.search(argument) and argument not in HARMLESS_TARGETS for argument in simple.words[1:])
    return "write" if risk == "read" and (sends or varies or leaves) else risk


def _program_risk(program: str, words: list[str]) -> Risk:
    if program in DESTRUCTIVE or program.startswith("mkfs."):
        return "destructive"
    if program == "git":
        return _git_risk(words)
    if program in STARTERS:
        return _started_risk(words)
    if program == "find":
        return _find_risk(words)
    if program in SHELLS and "-c" in words:
        # The text of a nested shell is judged like a command; code of other languages is not analysed.
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


def _git_risk(words: list[str]) -> Risk:
    # Options before the subcommand may name programs to run (`-c core.pager=…`).
    if not words or words[0].startswith("-"):
        return "read" if words in ([], ["--version"]) else "destructive"
    subcommand = words[0]
    arguments = words[1:]
    options = DESTRUCTIVE_GIT.get(subcommand)
    if options is not None and ("" in options or any(_is_option(word, options) for word in arguments)):
        return "destructive"
    if subcommand == "push" and any(word.startswith(("+", ":")) for word in arguments):
        return "destructive"
    writes = any(word.startswith(("--output", "--ext-diff", "-O", "--open-files")) for word in arguments)
    return "read" if subcommand in READING_GIT and not writes else "write"


def _is_option(word: str, options: tuple[str, ...]) -> bool:
    if word.partition("=")[0] in options:
        return True
    letters = [option[1] for option in options if len(option) == 2 and option.startswith("-") and option != "--"]
    return word.startswith("-") and not word.startswith("--") and any(letter in word[1:] for letter in letters)


def _started_risk(words: list[str]) -> Risk:
    """Return the risk of a program started by another; any word may be its name, because of options."""
    names = {word.rpartition("/")[2] for word in words}
    return "destructive" if names & (DESTRUCTIVE | SHELLS | STARTERS | {"git"}) else "write"


def _find_risk(words: list[str]) -> Risk:
    if any(word == "-delete" for word in words):
        return "destructive"
    for number, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            return _started_risk(words[number + 1 :])
    return "write" if any(word.startswith(("-fprint", "-fls")) for word in words) else "read"


def _downloads_and_runs(commands: list[SimpleCommand]) -> bool:
    """Return whether something from the network may be run: `curl … | sh`."""
    programs = {command.words[0].rpartition("/")[2] for command in commands if command.words}
    return bool(programs & DOWNLOADERS) and bool(programs & SHELLS)
