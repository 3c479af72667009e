"""Names, docstrings and messages are plain; and the rules notice when they are not."""

from pathlib import Path

import pytest

from tests.architecture import words
from tests.paths import PACKAGE

# Good names that break a rule, each with its reason.
NAMED_LIKE_PARTICIPLES = {
    "done": "the status of XState's snapshots",
}
SAME_NAMES: dict[str, str] = {}


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
    participles = [name for name in words.participles(PACKAGE) if name.split()[-1] not in NAMED_LIKE_PARTICIPLES]

    assert len(participles) <= 10, participles


def test_a_public_class_name_stands_in_one_module():
    assert {name: places for name, places in words.twins(PACKAGE).items() if name not in SAME_NAMES} == {}


def test_messages_use_plain_words():
    assert words.wordy_messages(PACKAGE) == []


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
