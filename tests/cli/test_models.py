"""`antiphon models` says what can be used here and why the rest cannot, and looks after the embedded model."""

import json
import re

import pytest

from antiphon.cli import local_models
from antiphon.cli.main import main
from antiphon.providers.local import weights as known
from antiphon.providers.local.settings import CONTEXT, THREADS
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.paths import DOCS
from tests.providers.local.gguf_files import write_gguf
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
    monkeypatch.setattr(local_models, "library_problem", lambda: None)
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
    monkeypatch.setattr(local_models, "library_problem", lambda: "it needs a library, which does not load here")

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
        (["remove", "local:gpt"], 2, "there is no local model 'gpt'"),
        (["install", "local:tiny", "--from", "/nowhere/file"], 1, "No such file"),
    ],
)
def test_what_cannot_be_is_said_with_its_own_code(capsys, tiny, words, code, said):
    assert main(["models", *words]) == code
    assert said in capsys.readouterr().err


def test_a_file_is_added_listed_and_removed_and_stays_where_it_is(capsys, tmp_path, monkeypatch):
    path = write_gguf(tmp_path / "my model.gguf")
    monkeypatch.chdir(tmp_path)
    said = []
    for words in (["add", "mine", "my model.gguf", "--threads", "1"], ["list"], ["remove", "local:mine"]):
        assert main(["models", *words]) == 0
        said.append(capsys.readouterr().out)

    assert said[0].splitlines()[0] == f"added local:mine: Tiny Voice, {path}"
    assert "it needs about 80 MB of memory (0 MB for the weights, 0 MB for a context of 4,096 tokens)" in said[0]
    assert re.search(r"local:mine +.*context of 4,096 tokens|local:mine +.*it needs xllamacpp", said[1])
    assert said[2] == f"removed local:mine; its file is still there: {path}\n"
    assert path.is_file()


def test_what_was_added_can_be_had_as_json(capsys, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")

    assert main(["models", "add", "mine", str(path), "--context", "1000", "--threads", "1", "--json"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert (added["reference"], added["path"], added["context"], added["threads"]) == ("local:mine", str(path), 1000, 1)
    assert (added["usable"], added["memoryBytes"] > 80_000_000) == (True, True)
    assert main(["models", "remove", "local:mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"reference": "local:mine", "removed": True, "freedBytes": 0}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["mine", "none.gguf"], 2, "there is no file"),
        (["mine", "text.gguf"], 1, "is not a GGUF file: it begins with b'Once'"),
        (["mine", "."], 1, "is not a file"),
        (["smollm2", "tiny.gguf"], 2, "'smollm2' is the name of an embedded model"),
        (["my voice", "tiny.gguf"], 2, "'my voice' cannot be the name of a model"),
        (["mine", "tiny.gguf", "--context", "9999"], 2, "more than the 4,096 it was trained for"),
        (["mine", "tiny.gguf", "--context", "12"], 2, "use 256 to"),
    ],
)
def test_what_cannot_be_added_is_said_and_nothing_is_stored(capsys, tmp_path, monkeypatch, folder, words, code, said):
    write_gguf(tmp_path / "tiny.gguf")
    (tmp_path / "text.gguf").write_text("Once upon a time")
    monkeypatch.chdir(tmp_path)

    assert main(["models", "add", *words]) == code
    assert said in capsys.readouterr().err
    assert not folder.exists()


def test_a_file_without_a_name_is_not_removed(capsys, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")

    assert main(["models", "remove", f"local:{path}"]) == 2
    assert "is a file of yours; delete it yourself" in capsys.readouterr().err
    assert path.is_file()


def test_an_unknown_word_is_misuse(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["models", "polish"])

    assert caught.value.code == 2


def test_an_interruption_is_said(capsys, tiny, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(local_models, "install_from", interrupted)

    assert main(["models", "install", "local:tiny", "--from", str(tiny)]) == 130
    assert "nothing changed" in capsys.readouterr().err


def test_every_command_and_setting_has_its_line_in_the_docs():
    page = (DOCS / "local-model.md").read_text(encoding="utf-8")
    commands = re.findall(r"\n    (\w+) ", parser_of("models").format_help())

    assert commands == ["list", "install", "add", "remove"]
    options = {option for sub in subparsers(parser_of("models")).values() for option in options_of(sub)}
    for word in (*commands, *options - {"-h", "--help"}, "ANTIPHON_MODELS", CONTEXT, THREADS, NOTE):
        assert word in page


def test_models_are_found_by_texts_in_their_names(monkeypatch, capsys):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert main(["models", "list", "-q", "CLAUDE", "-q", "sonnet", "--json"]) == 0
    names = [row["reference"] for row in json.loads(capsys.readouterr().out)]
    assert names
    assert all("claude" in name and "sonnet" in name for name in names)

    assert main(["models", "list", "-q", "claude", "-q", "gpt-"]) == 1
    assert "no model has 'claude' and 'gpt-' in its name" in capsys.readouterr().err
