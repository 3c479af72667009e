"""Environment in which git runs no program that a repository names: no hooks, filters, pagers, aliases or helpers.

Git reads its settings from the repository that it is used in, and many of them are commands.
Settings of fixed names are overridden always; those whose names a repository chooses, such as `alias.x`,
are listed by git itself, which runs nothing to list them, and overridden one by one.
"""

import os
import re
import resource
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from antiphon.tools.programs import system_program

# Prints the difference of two files, in place of a program that a repository names.
PLAIN_DIFF = 'f() { diff -u -- "$2" "$5"; return 0; }; f'
PLAIN_MERGE = "git merge-file -q %A %O %B"
NOTHING = "true"
FIXED: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.editor": NOTHING,
    "core.askPass": "",
    "core.sshCommand": "ssh",
    "core.alternateRefsCommand": NOTHING,
    "sequence.editor": NOTHING,
    "interactive.diffFilter": "cat",
    "credential.helper": "",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultKeyCommand": "",
    "log.showSignature": "false",
    "protocol.ext.allow": "never",
    "safe.bareRepository": "explicit",
}
HARMLESS = ("safe.", "protocol.", "log.")  # those of the fixed settings that run nothing
# Settings with names of the repository's choice, by pattern, with harmless values.
NAMED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), value)
    for pattern, value in (
        (r"alias\..+", ""),
        (r"filter\..+\.(clean|smudge|process)", ""),
        (r"filter\..+\.required", "false"),
        (r"diff\..+\.textconv", "cat"),
        (r"diff\.external|diff\..+\.command", PLAIN_DIFF),
        (r"merge\..+\.driver", PLAIN_MERGE),
        (r"pager\..+", "false"),
        (r"(difftool|mergetool|guitool|browser|man)\..+\.(cmd|path)", NOTHING),
        (r"tar\..+\.command", "cat"),
        (r"trailer\..+\.(cmd|command)", NOTHING),
        (r"credential\..+\.helper", ""),
        (r"remote\..+\.vcs", "none"),
        (r"submodule\..+\.update", "checkout"),
        (r"imap\.tunnel|sendemail\.(.+\.)?(smtpserver|tocmd|cccmd|headercmd|sendmailcmd)", NOTHING),
        (r"instaweb\..+|web\.browser|uploadpack\.packobjectshook|gc\.recentobjectshook", NOTHING),
    )
)
# The first value of these counts, so they cannot be overridden; they run a program for remotes on this machine only.
FIRST_COUNTS = re.compile(r"remote\..+\.(uploadpack|receivepack)", re.IGNORECASE | re.DOTALL)
NO_LOCAL_REMOTES = {"protocol.file.allow": "never"}
VARIABLES: Mapping[str, str] = {
    "GIT_PAGER": "cat",
    "GIT_EDITOR": NOTHING,
    "GIT_SEQUENCE_EDITOR": NOTHING,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "",
    # Overrides core.gitProxy, whose first value counts.
    "GIT_PROXY_COMMAND": "",
}
# Where the settings cannot be listed, git finds no repository.
NO_REPOSITORY = {"GIT_DIR": "/dev/null"}
MOST_REPOSITORIES = 50
MOST_FOLDERS = 2_000
MOST_DEPTH = 8
MOST_NAMES = 500
MOST_BYTES = 1024 * 1024
MOST_NAME = 1_000
MOST_MEMORY = 512 * 1024 * 1024
LIST_S = 2.0


class UnlistedSettings(Exception):
    """The settings of a repository cannot be listed."""


def git_environment(folder: Path) -> dict[str, str]:
    """Return variables with which git, used in a folder or below, runs no program that a repository names.

    The git that lists the settings is the system's, because a command may have put another one into a folder of PATH.
    """
    try:
        names = {name for repository in _repositories(folder) for name in program_settings(repository)}
    except (UnlistedSettings, FileNotFoundError):
        return {**VARIABLES, **NO_REPOSITORY, **_as_variables(FIXED)}
    settings = dict(FIXED)
    for name in names:
        settings.update((name, value) for value in _overrides(name))
        settings.update(NO_LOCAL_REMOTES if FIRST_COUNTS.fullmatch(name) else {})
    return {**VARIABLES, **_as_variables(settings)}


def program_settings(repository: Path) -> dict[str, str]:
    """Return the settings of a repository that are commands; raise `UnlistedSettings` if they cannot be listed.

    Without a git of the system, raise FileNotFoundError.
    """
    git = system_program("git")
    if git is None:
        raise FileNotFoundError("git is not installed in a folder of the system")
    settings = _list_settings(repository, git)
    commands = {name: settings[name] for name in sorted(settings) if _is_command(name)}
    if len(commands) > MOST_NAMES:
        raise UnlistedSettings(f"{repository}: more than {MOST_NAMES} settings that run programs")
    return commands


def _is_command(name: str) -> bool:
    is_fixed = name.lower() in ("core.gitproxy", *(fixed.lower() for fixed in FIXED)) and not name.startswith(HARMLESS)
    return is_fixed or FIRST_COUNTS.fullmatch(name) is not None or any(True for _ in _overrides(name))


def _overrides(name: str) -> Iterator[str]:
    return (value for pattern, value in NAMED if pattern.fullmatch(name))


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = name
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def _repositories(folder: Path) -> Iterator[Path]:
    """Yield a folder, which may be within a repository, and the repositories below it."""
    yield folder
    pending = [(folder, 0)]
    visited = 0
    count = 1
    while pending and visited < MOST_FOLDERS and count < MOST_REPOSITORIES:
        path, depth = pending.pop(0)
        visited += 1
        with suppress(OSError), os.scandir(path) as entries:
            names = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False) or entry.name == ".git"}
            if ".git" in names and depth:
                count += 1
                yield path
            if depth < MOST_DEPTH:
                pending += [(path / name, depth + 1) for name in sorted(names - {".git", "node_modules"})]


def _list_settings(repository: Path, git: str) -> dict[str, str]:
    words = [git, "-C", str(repository), "config", "--list", "--includes", "-z"]
    variables = {"GIT_CONFIG_NOSYSTEM": "1", "HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null", "LC_ALL": "C"}
    safe = _as_variables({"safe.bareRepository": "explicit"})
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**variables, **safe, "PATH": os.defpath},
    ) as process:
        assert process.stdout is not None
        with suppress(AttributeError, OSError, ValueError):
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        timer = threading.Timer(LIST_S, process.kill)
        timer.start()
        output = process.stdout.read(MOST_BYTES + 1)
        if len(output) > MOST_BYTES:
            process.kill()
        process.wait()
        timer.cancel()
    # Exit code 128: the settings cannot be parsed, or git refuses the repository, and with it every command.
    if process.returncode != 0:
        raise UnlistedSettings(f"{repository}: git cannot list its settings")
    settings: dict[str, str] = {}
    for entry in output.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = entry.partition("\n")
        if len(name) > MOST_NAME:
            raise UnlistedSettings(f"{repository}: a setting has a name of more than {MOST_NAME} characters")
        settings[name] = f"{settings[name]}\n{value}" if name in settings else value
    settings.pop("", None)
    return settings
