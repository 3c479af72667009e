"""Settings of `antiphon serve`: where they come from, and how wrong ones are refused."""

from pathlib import Path
from typing import Any

import pytest

from antiphon.server.configuration import BY_NAME, SETTINGS, Setting, load_settings
from antiphon.settings import SettingError

NUMBERS = [setting for setting in SETTINGS if setting.kind in ("whole", "number")]


def file_with(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_an_option_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path) -> None:
    file = file_with(tmp_path, 'port = 1\nhost = "::1"\nbody_s = 3\n')
    environment = {"ANTIPHON_SERVER_PORT": "2", "ANTIPHON_SERVER_HOST": "localhost"}
    settings = load_settings({"port": "3"}, environment, file)

    values = {name: (settings[name].value, settings[name].source) for name in ("port", "host", "body_s", "stall_s")}
    assert values == {
        "port": (3, "--port"),
        "host": ("localhost", "ANTIPHON_SERVER_HOST"),
        "body_s": (3, str(file)),
        "stall_s": (60.0, "default"),
    }


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_has_a_variable_and_a_key(setting: Setting, tmp_path: Path) -> None:
    text = (
        str(int(setting.low) + 2) if setting.kind in ("whole", "number") else {"choice": "json"}.get(setting.kind, "on")
    )
    in_file = text if setting.kind in ("whole", "number") else '["on"]' if setting.kind == "texts" else f'"{text}"'
    by_variable = load_settings({}, {setting.variable: text}, None)[setting.name]
    by_key = load_settings({}, {}, file_with(tmp_path, f"{setting.name} = {in_file}\n"))[setting.name]

    assert by_variable.value == by_key.value != setting.default
    assert by_variable.source == setting.variable


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.name)
def test_numbers_have_bounds(setting: Setting) -> None:
    for value in (setting.low, setting.high):
        text = str(int(value)) if setting.kind == "whole" else repr(value)
        assert load_settings({setting.name: text}, {}, None)[setting.name].value == value
    for text in (str(int(setting.high) + 1), str(int(setting.low) - 1), "many", "nan", "inf", "true"):
        with pytest.raises(SettingError, match="must be a"):
            load_settings({setting.name: text}, {}, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prot = 1", "did you mean port"),
        ("zzzzzz = 1", "known: host"),
        ("port = true", "whole number from 0 to 65,535"),
        ("port = 1.5", "whole number"),
        ("port = '1x'", "whole number"),
        ("host = 5", "must be a text"),
        ("host = ''", "must be a text"),
        ("allow_host = [5]", "list of names"),
        ("log_format = 'xml'", "one of text, json"),
        ("behind_proxy = 'maybe'", "true or false"),
        ("[server]\nport = 1", "there is no setting 'server'"),
        ("port = ", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path, text: str, problem: str) -> None:
    file = file_with(tmp_path, text)

    with pytest.raises(SettingError, match=problem) as caught:
        load_settings({}, {}, file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_missing_or_shows_its_token_is_refused(tmp_path: Path) -> None:
    file = file_with(tmp_path, f"token = '{'t' * 40}'")
    assert load_settings({}, {}, file)["token"].value == "t" * 40

    file.chmod(0o644)
    with pytest.raises(SettingError, match="chmod 600"):
        load_settings({}, {}, file)
    with pytest.raises(SettingError, match="cannot be read"):
        load_settings({}, {}, tmp_path / "nothing.toml")


def test_an_unknown_variable_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingError, match="did you mean ANTIPHON_SERVER_PORT"):
        load_settings({}, {"ANTIPHON_SERVER_PROT": "1"}, None)
    assert load_settings({}, {"ANTIPHON_SERVER_CONFIG": "x", "ANTIPHON_SERVER_PORT": ""}, None)["port"].value == 8787


def test_secrets_are_hidden_and_have_no_option() -> None:
    secret: Any = load_settings({}, {"ANTIPHON_SERVER_TOKEN": "t" * 40}, None)["token"]

    assert (secret.shown, BY_NAME["token"].option) == ("hidden", None)
