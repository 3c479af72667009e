"""The root of the command line."""

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
