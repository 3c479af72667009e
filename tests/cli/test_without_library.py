"""Where the library of the embedded model does not load, commands say so in one line and a script answers."""

import os
import re

import pytest

from antiphon.cli.debate.options import debate_settings
from tests.fixtures.command import antiphon, parser_of
from tests.fixtures.debate_scripts import TOPIC

HOSTED = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY")
REASON = r"local:smollm2\b.*it needs xllamacpp, which (does not load here|needs a processor with AVX2)"
NOTE = rf"\(a script, because {REASON}"


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine with a library that misses another one, and no other model."""
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    for name, value in {
        "PYTHONPATH": path,
        "ANTIPHON_STORE": tmp_path / "store.db",
        "ANTIPHON_KEYS": tmp_path / "keys.toml",
        "ANTIPHON_MODELS": tmp_path / "models",
        "OLLAMA_HOST": "127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, str(value))
    for name in (*HOSTED, "ANTIPHON_MODEL"):
        monkeypatch.delenv(name, raising=False)


def test_the_list_of_models_says_why_and_what_to_do():
    listed = antiphon("models")

    usable, _, others = listed.stdout.partition("not usable\n")
    (line,) = re.findall(r"local:smollm2.*", others)
    assert re.match(REASON, line)
    assert line.endswith("use another model")
    assert "local:smollm2" not in usable


@pytest.mark.parametrize("words", [["chat"], ["run", "--mode", "plan", "--max-iterations", "1"]], ids=["chat", "run"])
def test_a_script_answers_and_one_line_says_why(tmp_path, words):
    answered = antiphon(*words, "Hello", cwd=tmp_path)

    said = [line for line in answered.stderr.splitlines() if "local:smollm2" in line]
    assert len(said) == 1
    assert re.match(rf"model: scripted:\w+ {NOTE}", said[0])
    assert "Traceback" not in answered.stderr


def test_a_script_debates_and_says_why(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    config, choice = debate_settings(parser_of("debate").parse_args([TOPIC]))

    assert config["models"] == [choice.reference] == ["scripted:debate"]
    assert re.match(NOTE, f"({choice.note})")


def test_the_embedded_model_when_it_is_named_fails_with_one_line():
    failed = antiphon("chat", "-m", "local:smollm2", "Hello")

    assert (failed.returncode, failed.stdout) == (1, "")
    (line,) = [line for line in failed.stderr.splitlines() if "local:smollm2" in line]
    assert re.match(rf"antiphon chat: {REASON}", line)
    assert "Traceback" not in failed.stderr


def test_no_weights_are_fetched_for_a_library_that_does_not_load(tmp_path):
    refused = antiphon("models", "install", "local:smollm2")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(rf"antiphon models: {REASON}.*\n", refused.stderr)
    assert not (tmp_path / "models").exists()
