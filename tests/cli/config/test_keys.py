"""`antiphon keys` stores keys that are never shown, and a file of keys that is refused is never passed over."""

import io

import pytest

from antiphon.cli.default_model import choose_model
from antiphon.cli.frame import UsageError
from antiphon.cli.main import main
from antiphon.providers.keys import OPTIONAL_VARIABLES, VARIABLES, Keys
from tests.fixtures.screen import Screen

KEY = "sk-test-0123456789-abcdef"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of the keys, which does not exist yet, on a machine without keys and models."""
    path = tmp_path / "config" / "keys.toml"
    monkeypatch.setenv("ANTIPHON_KEYS", str(path))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.delenv("ANTIPHON_MODEL", raising=False)
    for names in (*VARIABLES.values(), *OPTIONAL_VARIABLES.values()):
        for name in names:
            monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def typed(monkeypatch):
    """Return a function that pipes a text into the command."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_key_is_stored_for_its_owner_alone_and_found(file, typed, capsys):
    typed(f"{KEY}\n")

    assert main(["keys", "set", "anthropic"]) == 0

    assert Keys().find("anthropic").reveal() == KEY
    assert file.stat().st_mode & 0o777 == 0o600
    assert KEY not in "".join(capsys.readouterr())


def test_keys_are_listed_by_their_end_and_their_place(file, typed, capsys, monkeypatch):
    typed(KEY)
    main(["keys", "set", "anthropic"])
    monkeypatch.setenv("OPENAI_API_KEY", "short")
    capsys.readouterr()

    main(["keys"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["anthropic", "…cdef", str(file)]
    assert lines[1].split() == ["openai", "set", "OPENAI_API_KEY"]
    assert lines[2].endswith("not set; run: antiphon keys set google")


def test_the_key_of_a_server_is_stored_by_its_address_and_removed(file, typed, capsys):
    typed(KEY)

    assert main(["keys", "set", "http://127.0.0.1:8000/v1"]) == 0
    assert Keys().find("http://127.0.0.1:8000/v1").reveal() == KEY
    assert main(["keys", "remove", "http://127.0.0.1:8000/v1"]) == 0

    assert Keys().find("http://127.0.0.1:8000/v1") is None
    assert main(["keys", "remove", "http://127.0.0.1:8000/v1"]) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("antropic", KEY, "did you mean anthropic?"),
        ("https://me:pass@host/v1", KEY, "has neither a password nor a query"),
        ("anthropic", "", "empty or contains invalid characters"),
        ("anthropic", "two words", "empty or contains invalid characters"),
        ("anthropic", "sk-ключ", "empty or contains invalid characters"),
    ],
)
def test_a_wrong_name_or_key_is_refused_and_not_repeated(file, typed, name, text, message, capsys):
    typed(text)

    assert main(["keys", "set", name]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert not text or text not in error
    assert not file.exists()


def test_a_key_that_is_typed_is_not_shown(file):
    with Screen("keys", "set", "anthropic") as screen:
        screen.until("Key of anthropic (not shown): ")
        screen.type(KEY)
        _, code = screen.end()

    assert (code, Keys().find("anthropic").reveal()) == (0, KEY)
    assert KEY not in screen.raw


def test_a_key_is_no_argument(file, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["keys", "set", "anthropic", KEY])

    assert ended.value.code == 2


@pytest.fixture(params=["mode", "broken"])
def refused(request, file):
    """A file of keys that cannot be used."""
    file.parent.mkdir()
    file.write_text(f'anthropic = "{KEY}"\n' if request.param == "mode" else f'anthropic = "{KEY}\n')
    file.chmod(0o644 if request.param == "mode" else 0o600)
    return file


def test_a_refused_file_is_never_replaced_by_a_script(refused, tmp_path, monkeypatch, typed, capsys):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    typed("")

    assert main(["chat", "Hello"]) == 2

    output = capsys.readouterr()
    assert str(refused) in output.err
    assert KEY not in output.err
    assert output.out == ""


def test_a_key_of_the_environment_makes_up_for_a_refused_file(refused, monkeypatch):
    with pytest.raises(UsageError, match="name a model with -m"):
        choose_model()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    assert choose_model().reference.startswith("openai:")


@pytest.mark.parametrize("words", [["list"], ["set", "openai"], ["remove", "anthropic"]])
def test_a_refused_file_is_not_changed(refused, words, typed, capsys):
    before = refused.read_text()
    typed(KEY)

    assert main(["keys", *words]) == 2

    assert refused.read_text() == before
    assert KEY not in "".join(capsys.readouterr())
