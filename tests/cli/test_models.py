"""`antiphon models` says what can be used here and why the rest cannot, and looks after the embedded model."""

import json
import re

import pytest

from antiphon.cli import models
from antiphon.cli.main import main
from antiphon.providers.local import weights as known
from tests.fixtures.command import parser_of
from tests.paths import DOCS
from tests.providers.local.tiny import CONTENT, weights, wheel

VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY")
NOTE = "a demonstration voice, 135M parameters: fluent, not knowledgeable"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A machine with nothing but the library that runs the embedded model."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTIPHON_KEYS", str(tmp_path / "keys.toml"))
    monkeypatch.setenv("ANTIPHON_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setattr(models, "library_problem", lambda: None)
    return tmp_path / "models"


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A wheel with tiny weights that are known as local:tiny."""
    path = wheel(tmp_path)
    monkeypatch.setattr(known, "WEIGHTS", {"tiny": weights(path)})
    return path


def test_what_is_usable_comes_first_and_the_rest_says_why(capsys):
    code = main(["models"])

    usable, _, others = capsys.readouterr().out.partition("not usable\n")
    assert code == 0
    assert "scripted:demo" in usable
    assert re.search(r"anthropic:\* +no key for 'anthropic': set ANTHROPIC_API_KEY", others)
    assert re.search(r"local:smollm2 +.*antiphon(\[local\]| models install)", others)


def test_of_a_provider_with_many_models_the_newest_are_shown_with_prices(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    main(["models", "list"])
    few = capsys.readouterr().out
    main(["models", "list", "--all"])
    every = capsys.readouterr().out

    listed = re.findall(r"openai:(\S+) +([\d.]+) / ([\d.]+)", few)
    assert len(listed) == 5
    assert listed[0][0].startswith("gpt-6.1")
    assert "more; list them with: antiphon models list --all" in few
    assert every.count("openai:") > 20
    assert "more:" not in every


def test_the_list_can_be_had_as_json(capsys):
    assert main(["models", "--json"]) == 0

    rows = {row["reference"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["scripted:demo"]["price"] == {"input": "0", "output": "0"}
    assert (rows["local:smollm2"]["usable"], rows["local:smollm2"]["note"]) == (False, NOTE)
    assert rows["openai:*"]["price"] is None


def test_weights_are_installed_found_and_removed(capsys, tiny, folder):
    said = []
    for words in (["install", "local:tiny", "--from", str(tiny)], ["install", "local:tiny"], ["remove", "local:tiny"]):
        assert main(["models", *words]) == 0
        said.append(capsys.readouterr().out)

    assert said[0].startswith("local:tiny: Tiny Voice (MIT)")
    assert f" s: {folder / 'tiny.gguf'}\n" in said[0]
    assert said[0].endswith("a tiny voice\n")
    assert "is already installed" in said[1]
    assert said[2] == "removed local:tiny, freed 12 bytes\n"
    assert main(["models", "remove", "local:tiny"]) == 0


def test_damaged_weights_are_fetched_again(capsys, tiny, folder):
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT[::-1])

    assert main(["models", "install", "local:tiny", "--from", str(tiny)]) == 0
    assert (folder / "tiny.gguf").read_bytes() == CONTENT


def test_quiet_says_nothing_when_there_is_nothing_to_do(capsys, tiny, folder):
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT)

    assert main(["models", "install", "local:tiny", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_without_the_library_nothing_is_fetched_and_one_is_told_why(capsys, tiny, folder, monkeypatch):
    monkeypatch.setattr(models, "library_problem", lambda: "it needs a library, which does not load here")

    assert main(["models", "install", "local:tiny", "--from", str(tiny)]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "antiphon models: local:tiny: it needs a library, which does not load here\n")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["install", "openai:gpt-5"], 2, "'openai:gpt-5' is not an embedded model"),
        (["install", "local:gpt"], 2, "there is no embedded model 'gpt'"),
        (["remove", "nonsense"], 2, "is not a model reference"),
        (["install", "local:tiny", "--from", "/nowhere/file"], 1, "No such file"),
    ],
)
def test_what_cannot_be_is_said_with_its_own_code(capsys, tiny, words, code, said):
    assert main(["models", *words]) == code
    assert said in capsys.readouterr().err


def test_an_unknown_word_is_misuse(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["models", "polish"])

    assert caught.value.code == 2


def test_an_interruption_is_said(capsys, tiny, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "install_from", interrupted)

    assert main(["models", "install", "local:tiny", "--from", str(tiny)]) == 130
    assert "nothing changed" in capsys.readouterr().err


def test_every_command_and_setting_has_its_line_in_the_docs():
    page = (DOCS / "local-model.md").read_text(encoding="utf-8")
    commands = re.findall(r"\n    (\w+) ", parser_of("models").format_help())

    assert commands == ["list", "install", "remove"]
    for word in (*commands, "--all", "--json", "--from", "--quiet", "ANTIPHON_MODELS", NOTE):
        assert word in page
