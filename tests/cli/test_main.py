"""The root of the command line."""

import io
import os
import subprocess
import sys

import pytest

from antiphon.cli.main import main
from tests.fixtures.chats import script


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


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("chta", "did you mean: antiphon chat? antiphon --help lists all"),
        ("thread", "did you mean: antiphon threads? antiphon --help lists all"),
        ("xyzzy", 'antiphon --help lists all, antiphon chat "…" asks a question'),
        ("", 'antiphon --help lists all, antiphon chat "…" asks a question'),
    ],
)
def test_an_unknown_command_is_reported_with_the_nearest_one(word, advice, capsys):
    code = main([word, "-m", "scripted:chat"])

    assert (code, capsys.readouterr().err) == (2, f"antiphon: unknown command {word!r}; {advice}\n")


def test_a_question_without_a_command_is_asked_as_the_chat_does(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    model = script(tmp_path, [{"text": "A monoid of endofunctors."}])

    code = main(["What is a monad?", "-m", model])

    assert (code, capsys.readouterr().out) == (0, "A monoid of endofunctors.\n")


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
