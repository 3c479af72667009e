"""Names, docstrings and messages are plain; and the rules notice when they are not."""

from pathlib import Path

import pytest

from tests.architecture import words
from tests.paths import PACKAGE

# Modules whose messages have other words, each with the reason.
OTHER_WORDS = {
    "agents/arbiter_request.py": "a prompt to a model",
    "agents/machine/agent.py": "a prompt that recorded walks hold",
    "agents/machine/reports.py": "an event that recorded walks hold",
    "chat/summaries.py": "a prompt to a model",
    "cli/play/demo.py": "the reply of a demonstration",
}


def test_local_names_say_what_they_hold():
    empty, total = words.local_names(PACKAGE)

    assert len(empty) <= total / 100, empty


def test_docstrings_are_imperatives_or_noun_phrases():
    riddles, total = words.riddles(PACKAGE)

    assert len(riddles) <= total / 50, riddles


def test_values_are_assigned_one_by_one():
    pairs, total = words.paired_assignments(PACKAGE)

    assert len(pairs) <= 3 * total / 1000, pairs


def test_functions_are_verbs_or_nouns():
    participles = words.participles(PACKAGE)

    assert len(participles) <= 10, participles


def test_a_public_class_name_stands_in_one_module():
    assert words.twins(PACKAGE) == {}


def test_messages_use_plain_words():
    wordy = words.wordy_messages(PACKAGE)

    assert [message for message in wordy if message.partition(":")[0] not in OTHER_WORDS] == []
    assert {message.partition(":")[0] for message in wordy} >= set(OTHER_WORDS), "an exception is not needed any more"


def package_with(folder: Path, source: str) -> Path:
    """A package with one module."""
    (folder / "module.py").write_text(source)
    (folder / "other.py").write_text("class Twin: ...\n")
    return folder


@pytest.mark.parametrize(
    ("source", "finds"),
    [
        ("found = 1\n", lambda package: words.local_names(package)[0]),
        ('"""Whether it rains."""\n', lambda package: words.riddles(package)[0]),
        ("a, b = 1, 2\n", lambda package: words.paired_assignments(package)[0]),
        ("def checked(): ...\n", words.participles),
        ("class Twin: ...\n", words.twins),
        ("raise ValueError(f'nobody answers {x}')\n", words.wordy_messages),
        ("parser.add_argument('--all', help='whoever asks')\n", words.wordy_messages),
    ],
)
def test_a_breach_of_each_rule_is_noticed(tmp_path, source, finds):
    assert not finds(package_with(tmp_path, "value = 1\n"))
    assert finds(package_with(tmp_path, source))
