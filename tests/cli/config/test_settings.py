"""The user's settings: one table of keys, options before variables before the file, and no file ignored in silence."""

import io

import pytest

from antiphon.cli.config.settings import SETTINGS, load_config
from antiphon.cli.default_model import choose_model
from antiphon.cli.frame import UsageError
from antiphon.cli.main import main


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of the settings, which does not exist yet."""
    path = tmp_path / "config" / "config.toml"
    monkeypatch.setenv("ANTIPHON_CONFIG", str(path))
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return path


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_a_value_is_set_read_and_removed(file, capsys):
    assert main(["config", "set", "max-cost", "0.5"]) == 0
    assert main(["config", "get", "max-cost"]) == 0
    assert capsys.readouterr().out == "0.5\n"
    assert main(["config", "unset", "max-cost"]) == 0

    assert main(["config", "get", "max-cost"]) == 1
    assert capsys.readouterr().err == "antiphon config: max-cost is not set; set it with: antiphon config set\n"


def test_a_change_keeps_comments_and_the_other_values(file):
    write(file, '# mine\nplain = true # always\n\n[alias]\nfast = "scripted:chat"\n\n[chat]\nmodel = "fast"\n')

    main(["config", "set", "alias.slow", "scripted:demo"])
    main(["config", "set", "thinking", "yes"])
    main(["config", "set", "chat.model", "slow"])
    main(["config", "unset", "alias.fast"])

    assert file.read_text() == (
        '# mine\nplain = true # always\nthinking = true\n\n[alias]\nslow = "scripted:demo"\n\n[chat]\nmodel = "slow"\n'
    )


def test_the_file_is_for_its_owner_alone(file):
    main(["config", "set", "plain", "true"])

    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set", "modl", "x:y"], "there is no setting 'modl'; did you mean model?"),
        (["set", "zzz", "1"], "there is no setting 'zzz'; known: model, "),
        (["set", "max-cost", "-1"], "max-cost is '-1'; it must be a number from 0.0001 to 100,000"),
        (["set", "mode", "yolo"], "mode is 'yolo'; it must be one of plan, ask, auto-edit, auto"),
        (["set", "plain", "maybe"], "plain is 'maybe'; it must be true or false"),
        (["set", "model", "nope"], "'nope' is not a model reference"),
        (["set", "chat.model", "nope"], "'nope' is not a model reference"),
        (["set", "model", "nothing:"], "'nothing:' is not a model reference"),
        (["set", "alias.fast", "fast"], "'fast' is not a model reference"),
        (["set", "alias.a b", "scripted:chat"], "an alias has letters, digits"),
        (["get", "plan"], "did you mean plain?"),
        (["unset", "plan"], "did you mean plain?"),
    ],
)
def test_what_is_unknown_or_wrong_is_refused_and_changes_nothing(file, words, message, capsys):
    assert main(["config", *words]) == 2

    assert message in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plain = ", "is not TOML"),
        ("plane = true", "there is no setting 'plane'; did you mean plain?"),
        ("plain = 3", "plain is 3; it must be true or false"),
        ("[chat]\nplain = true", "there is no setting 'chat.plain'"),
        ('[alias]\nfast = ["a:b"]', "alias.fast must be a text"),
    ],
)
@pytest.mark.parametrize(
    "words", [["chat", "-m", "scripted:demo", "Hello"], ["config"], ["config", "set", "plain", "on"]]
)
def test_a_broken_file_is_one_line_and_exit_code_2(file, text, message, words, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    write(file, text)

    assert main(words) == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert str(file) in error
    assert file.read_text() == text


def test_a_file_that_is_a_folder_is_an_error(file, capsys):
    file.mkdir(parents=True)

    assert main(["config"]) == 2
    assert "cannot be read: Is a directory" in capsys.readouterr().err


def test_options_win_over_variables_and_these_over_the_file(file, monkeypatch):
    write(file, 'model = "scripted:demo"\n[chat]\nmodel = "scripted:chat"\n')

    assert choose_model().reference == "scripted:chat"
    assert choose_model(command="run").reference == "scripted:demo"
    monkeypatch.setenv("ANTIPHON_MODEL", "scripted:agents")
    assert choose_model().reference == "scripted:agents"
    monkeypatch.setenv("ANTIPHON_CHAT_MODEL", "scripted:debate")
    assert choose_model().reference == "scripted:debate"
    assert choose_model("scripted:demo").reference == "scripted:demo"


def test_an_alias_stands_for_its_model(file, monkeypatch):
    write(file, 'model = "fast"\n[alias]\nfast = "scripted:demo"\n"gpt.6" = "openai:gpt-6.1-sol"\n')

    assert choose_model().reference == "scripted:demo"
    assert choose_model("gpt.6").reference == "openai:gpt-6.1-sol"


def test_a_wrong_variable_is_named(file, monkeypatch):
    monkeypatch.setenv("ANTIPHON_MAX_COST", "much")

    with pytest.raises(UsageError, match="ANTIPHON_MAX_COST is 'much'"):
        load_config().get("chat", "max-cost")


def test_the_list_says_where_values_come_from(file, monkeypatch, capsys):
    write(file, "plain = true\n")
    monkeypatch.setenv("ANTIPHON_THINKING", "on")

    main(["config"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(file)
    assert "plain         true" in lines
    assert "thinking      true  (from ANTIPHON_THINKING)" in lines


def test_a_form_that_cannot_be_changed_is_left_to_the_editor(file, capsys):
    text = 'alias = { fast = "scripted:chat" }\n'
    write(file, text)

    assert main(["config", "set", "alias.slow", "scripted:demo"]) == 2

    assert "use: antiphon config edit" in capsys.readouterr().err
    assert file.read_text() == text


def test_the_editor_opens_the_file_which_is_checked_afterwards(file, monkeypatch, capsys):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i -e '$aplane = 1'")

    assert main(["config", "edit"]) == 2

    assert "did you mean plain?" in capsys.readouterr().err


@pytest.mark.parametrize(("editor", "message"), [("'", "cannot start"), ("false", "false has failed with 1")])
def test_an_editor_that_fails_is_an_error(file, monkeypatch, capsys, editor, message):
    monkeypatch.setenv("VISUAL", editor)

    assert main(["config", "edit"]) == 2
    assert message in capsys.readouterr().err


def test_an_editor_that_cannot_be_started_is_an_error(file, monkeypatch, capsys):
    monkeypatch.setenv("VISUAL", "/no/such/editor")

    assert main(["config", "edit"]) == 2
    assert "cannot start '/no/such/editor'" in capsys.readouterr().err
