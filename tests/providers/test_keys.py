"""Keys come from the environment or a private file, and never show themselves."""

import copy
import json
import pickle

import pytest

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys, Secret
from tests.fixtures.providers import CANARY, NOWHERE


def keys_file(folder, text, mode=0o600):
    path = folder / "keys.toml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_environment_comes_first(tmp_path):
    path = keys_file(tmp_path, 'anthropic = "from-file"')

    assert Keys({"ANTHROPIC_API_KEY": " from-environment \n"}, path).find("anthropic").reveal() == "from-environment"
    assert Keys({}, path).find("anthropic").reveal() == "from-file"
    assert Keys({"GOOGLE_API_KEY": "second"}, NOWHERE).find("google").reveal() == "second"


def test_a_server_of_ones_own_has_its_key_under_its_address(tmp_path):
    path = keys_file(tmp_path, '"http://127.0.0.1:8000/v1" = "local"')

    assert Keys({}, path).find("http://127.0.0.1:8000/v1").reveal() == "local"


def test_no_key_is_no_error_and_there_is_advice():
    keys = Keys({}, NOWHERE)

    assert keys.find("mistral") is None
    assert "MISTRAL_API_KEY" in keys.advice("mistral")
    assert str(NOWHERE) in keys.advice("http://host/v1")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o666])
def test_a_file_that_others_can_read_is_not_used(tmp_path, mode):
    path = keys_file(tmp_path, f'anthropic = "{CANARY}"', mode)

    with pytest.raises(ProviderError, match="chmod 600") as caught:
        Keys({}, path).find("anthropic")
    assert CANARY not in str(caught.value)
    assert caught.value.code == Code.UNAUTHENTICATED


@pytest.mark.parametrize(
    "text", [f'anthropic = "{CANARY}', f'anthropic = ["{CANARY}"]', f'anthropic = "{CANARY}\\u0000"', 'anthropic = ""']
)
def test_a_broken_key_or_file_is_an_error_that_does_not_quote_it(tmp_path, text):
    path = keys_file(tmp_path, text)

    with pytest.raises(ProviderError) as caught:
        Keys({}, path).find("anthropic")
    assert CANARY not in repr(caught.value) + repr(caught.value.__cause__)


def test_a_key_that_no_header_can_carry_is_refused_without_quoting_it():
    with pytest.raises(ProviderError) as caught:
        Keys({"OPENAI_API_KEY": f"{CANARY}\nx"}, NOWHERE).find("openai")

    assert CANARY not in repr(caught.value)


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path):
    with pytest.raises(ProviderError, match="cannot read"):
        Keys({}, tmp_path).find("openai")


def test_the_place_of_the_file_can_be_chosen(tmp_path):
    path = keys_file(tmp_path, 'openai = "k"')

    assert Keys({"ANTIPHON_KEYS": str(path)}).find("openai").reveal() == "k"
    assert repr(Keys({"XDG_CONFIG_HOME": "/etc/x"})) == "Keys(path='/etc/x/antiphon/keys.toml')"


def test_a_secret_shows_itself_only_when_asked():
    secret = Secret(CANARY)

    assert CANARY not in f"{secret} {secret!r} {[secret]} {vars(type(secret))}"
    assert secret.hide(f"wrong key {CANARY}!") == "wrong key [key]!"
    assert secret.reveal() == CANARY
    assert not hasattr(secret, "__dict__")
    for write in (pickle.dumps, json.dumps, copy.deepcopy):
        with pytest.raises(TypeError) as caught:
            write(secret)
        assert CANARY not in str(caught.value)
