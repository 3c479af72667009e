"""Completion: the words that may come next, and the scripts in the shells that run them."""

import asyncio
import os
import shutil
import subprocess
import sys

import pytest

from antiphon import App
from antiphon.cli.help.candidates import complete
from antiphon.cli.main import COMMANDS, main


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user with a store of two threads, an alias and a template."""
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ANTIPHON_TEMPLATES", str(tmp_path / "templates"))
    (tmp_path / "config.toml").write_text('[alias]\nfast = "scripted:chat"\n')
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "brief.toml").write_text('prompt = "x"')
    return tmp_path


@pytest.fixture
def threads(home):
    """The ids of a chat and of a debate."""

    async def create():
        async with App(home / "store.db") as app:
            chat = await app.chats.create(model="scripted:demo", title="A chat")
            return chat, await app.debates.create(topic="Should cars leave our city?", models=["scripted:debate"])

    return asyncio.run(create())


def words(*typed):
    return [candidate.word for candidate in complete(list(typed)) or ()]


def test_commands_and_options_are_completed():
    assert words("") == [*COMMANDS, "--help", "--version"]
    assert words("ch") == ["chat", "chart"]
    assert words("chat", "--max-") == ["--max-tool-rounds", "--max-cost", "--max-time"]
    assert words("config", "") == ["show", "get", "set", "unset", "path", "edit"]
    assert words("config", "s") == ["show", "set"]


def test_the_options_of_the_default_subcommand_are_those_of_the_command():
    assert "--all" in words("models", "--")
    assert "--all" not in words("models", "install", "--")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["chat", "-m", "fa"], ["fast"]),
        (["chat", "-m", "scripted:d"], ["scripted:debate", "scripted:demo"]),
        (["chat", "--model=scripted:de"], ["--model=scripted:debate", "--model=scripted:demo"]),
        (["debate", "-m", "x:y", "-m", "scripted:dem"], ["scripted:demo"]),
        (["chat", "-t", ""], ["brief"]),
        (["templates", "show", ""], ["brief"]),
        (["chat", "--mode", "auto"], ["auto-edit", "auto"]),
        (["chat", "-o", "te"], ["temperature"]),
        (["chat", "-o", "temperature", ""], []),
        (["chat", "-o", "thinking", ""], ["none", "low", "medium", "high"]),
        (["debate", "--format", ""], ["oxford", "lincoln-douglas", "roundtable"]),
        (["debate", "--format=ro"], ["--format=roundtable"]),
        (["debate", "--on-limit", ""], ["error", "judge"]),
        (["config", "get", "al"], ["alias.fast"]),
        (["config", "set", "th"], ["thinking"]),
        (["keys", "set", "an"], ["anthropic"]),
        (["usage", "--by", "m"], ["model"]),
        (["help", "config", "un"], ["unset"]),
        (["nonsense", ""], []),
        (["chat", "--nonsense", "--thr"], ["--thread"]),
    ],
)
def test_values_are_completed(typed, expected):
    assert words(*typed) == expected


@pytest.mark.parametrize("typed", [["chat", "-a", ""], ["chat", "--mcp", "x"], ["chart", "check", ""]])
def test_files_are_left_to_the_shell(typed):
    assert complete(typed) is None


def test_ids_are_those_of_the_kind(threads):
    chat, debate = threads

    assert words("chat", "--thread", "") == ["last", chat]
    assert words("debates", "show", "") == ["last", debate]
    assert set(words("threads", "show", "")) == {"last", chat, debate}


def test_without_a_store_there_are_no_ids():
    assert words("threads", "show", "") == ["last"]


def test_every_position_of_every_command_can_be_completed():
    for name in COMMANDS:
        for typed in ([name, ""], [name, "-"], [name, "--"], [name, "x", "y", ""]):
            complete(typed)


@pytest.fixture
def shell(home):
    """Return a function that runs a line in a shell which finds the command."""
    folder = home / "bin"
    folder.mkdir()
    program = folder / "antiphon"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m antiphon "$@"\n')
    program.chmod(0o755)

    def run(*command):
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(home)}
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=environment, cwd=home, check=False
        )
        return process.stdout.split(), process.stderr

    return run


BASH = """
eval "$(antiphon completion bash)"
compopt() { :; }
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
_antiphon
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { :; }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@" }
_files() { print files }
eval "$(antiphon completion zsh)"
words=("${(@s: :)1}")
CURRENT=$#words
_antiphon
"""
LINES = [
    ("antiphon chat --max-c", ["--max-cost"]),
    ("antiphon config uns", ["unset"]),
    ("antiphon chat -m fa", ["fast"]),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash_completes(shell, line, expected):
    assert shell("bash", "--norc", "-c", BASH, "bash", line) == (expected, "")


def test_bash_completes_behind_a_colon_and_files(shell, home):
    (home / "notes.txt").touch()

    assert shell("bash", "--norc", "-c", BASH, "bash", "antiphon chat -m scripted:d")[0] == ["debate", "demo"]
    assert shell("bash", "--norc", "-c", BASH, "bash", "antiphon chat -a no")[0] == ["notes.txt"]


@pytest.mark.parametrize(("line", "expected"), [*LINES, ("antiphon chat -a no", ["files"])])
def test_zsh_completes(shell, line, expected):
    assert shell("zsh", "-f", "-c", ZSH, "zsh", line) == (expected, "")


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish_completes(shell, line, expected):
    script = f"antiphon completion fish | source; complete -C '{line}'"

    assert shell("fish", "--no-config", "-c", script)[0][:1] == expected


def test_a_broken_file_of_settings_is_no_candidate(home, capsys):
    (home / "config.toml").write_text("broken")

    assert main(["completion", "candidates", "--", "chat", "-m", ""]) == 2
    assert capsys.readouterr().out == ""
