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
