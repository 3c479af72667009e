"""The root of the command line."""

import os
import subprocess
import sys

import pytest

from antiphon.cli.main import main


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["chat"], "chat"),
        (["runs", "list"], "runs list"),
        (["threads", "show", "last"], "threads show"),
        (["models"], "models list"),
        (["db", "stats"], "db stats"),
    ],
)
def test_an_unknown_option_is_reported_with_the_usage_of_its_command(words, command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*words, "--nonsense"])

    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"antiphon {command} [-h]" in err
    assert f"antiphon {command}: error: unrecognized arguments: --nonsense" in err


def test_descriptions_are_wrapped_to_the_width_of_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["play", "--help"])

    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("columns", ["1", "2", "3"])
@pytest.mark.parametrize("words", [["--help"], ["threads", "--help"], ["chart", "draw", "--help"]])
def test_help_is_printed_on_a_terminal_of_any_width(words, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 0
    assert "usage: antiphon" in capsys.readouterr().out


def test_a_mistyped_command_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["chta", "Hello"])

    assert ended.value.code == 2
    assert "unknown command 'chta'; did you mean chat?" in capsys.readouterr().err


def test_help_that_cannot_be_written_is_an_error(tmp_path):
    process = run_in_shell(tmp_path, "--help > /dev/full")

    assert process.returncode == 1
    assert process.stderr.startswith("antiphon --help: cannot write: No space left on device")


def run_in_shell(folder, line):
    """The command with streams as a shell sets them up."""
    environment = {**os.environ, "ANTIPHON_STORE": str(folder / "store.db")}
    return subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m antiphon {line}'],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_full_disk_behind_the_output_is_an_error_of_one_line(tmp_path):
    run_in_shell(tmp_path, "chat -m scripted:chat Hello")

    process = run_in_shell(tmp_path, "threads list > /dev/full")

    assert process.returncode == 1
    assert process.stderr == (
        "antiphon threads: cannot write: No space left on device; free some space, or write elsewhere\n"
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("threads list <&-", 0),
        ("threads list >&-", 0),
        ("threads delete last <&-", 2),
        ("chat -m scripted:chat <&-", 2),
        ("run -m scripted:agents <&-", 2),
    ],
)
def test_closed_streams_are_empty(tmp_path, line, code):
    run_in_shell(tmp_path, "chat -m scripted:chat Hello")

    process = run_in_shell(tmp_path, line)

    assert (process.returncode, "Traceback" in process.stderr) == (code, False)
    assert run_in_shell(tmp_path, "threads list").stdout.count("Hello") == 1
