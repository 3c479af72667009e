"""Files that a message names as `@path` go with it; every other `@` stays text."""

import pytest

from antiphon.cli.chat.mentions import attach_mentions
from antiphon.threads.errors import Refused


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    (tmp_path / "my notes.md").write_text("Buy milk.\n")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "program").write_bytes(b"\x7fELF\0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_named_file_is_attached_and_its_name_stays_in_the_message():
    message = attach_mentions("What does @src/a.py do?")

    assert message.text == "What does @src/a.py do?"
    assert message.parts == ({"type": "text", "text": "src/a.py\n```\nx = 1\n```"},)
    assert message.names == ("src/a.py",)


def test_a_path_ends_before_the_end_of_the_sentence():
    assert attach_mentions("Read @src/a.py, then @paper.pdf!").names == ("src/a.py", "paper.pdf")


def test_a_path_with_blanks_stands_in_quotes():
    assert attach_mentions('Read @"my notes.md".').names == ("my notes.md",)


def test_a_file_that_is_named_twice_is_attached_once():
    assert attach_mentions("@src/a.py and @src/a.py").names == ("src/a.py",)


def test_a_pdf_is_attached_as_a_document():
    assert attach_mentions("@paper.pdf").parts[0]["type"] == "document"


@pytest.mark.parametrize(
    "text",
    ["me@example.com", "x@src/a.py", "@nobody", "@src", '@"no file"', "a @ b", "@", "@\0", "@~nobody/a", "\\@you"],
)
def test_what_names_no_file_stays_text(text):
    assert attach_mentions(text) == (text, (), ())


def test_a_backslash_leaves_the_name_as_text():
    assert attach_mentions("\\@src/a.py and \\@src/a.py.") == ("@src/a.py and @src/a.py.", (), ())


def test_a_file_that_cannot_be_sent_is_refused():
    with pytest.raises(Refused, match=r"program is neither a text .* write \\@ to send the name alone"):
        attach_mentions("Run @program")
