"""`antiphon help`: a page for every command and subcommand, as text and for `man`."""

import shutil
import subprocess

import pytest

from antiphon.cli.help.command import find_page, show_lines
from antiphon.cli.help.formats import to_roff, to_text
from antiphon.cli.help.page import Definition, Page, PageSection, Verbatim
from antiphon.cli.help.parsers import parser_of, subparsers
from antiphon.cli.main import COMMANDS, main
from tests.fixtures.command import options_of

TOPICS = [[], *([name] for name in COMMANDS)]


def titles(page):
    return [section.title for section in page.sections]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic[0] if topic else "antiphon")
def test_every_command_has_a_page_with_all_its_options(topic):
    page = find_page(topic)
    terms = [block.term for section in page.sections for block in section.blocks if isinstance(block, Definition)]

    assert titles(page)[:2] == ["SYNOPSIS", "DESCRIPTION"]
    assert titles(page)[-3:] == ["EXIT CODES", "ENVIRONMENT", "FILES"]
    if topic:
        words = {word.rstrip(",") for term in terms for word in term.split()}
        assert options_of(parser_of(topic[0])) - words == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_subcommand_has_a_page(name):
    for subcommand in subparsers(parser_of(name)):
        assert find_page([name, subcommand]).name == f"antiphon-{name}-{subcommand}"


def test_options_are_in_groups_and_examples_are_kept(capsys):
    assert main(["help", "chat"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["NAME", "    antiphon-chat - chat with a model; fork, rewind and merge conversations"]
    assert [line for line in lines if line in ("QUESTION", "ANSWER", "TOOLS AND LIMITS", "STORE AND SERVER")] == [
        "QUESTION",
        "ANSWER",
        "TOOLS AND LIMITS",
        "STORE AND SERVER",
    ]
    assert '    antiphon chat "Why is the sky blue?"             ask one question' in lines


@pytest.mark.parametrize("columns", [40, 80, 110, 200])
def test_prose_is_wrapped(columns):
    page = Page("x", "y", (PageSection("DESCRIPTION", ("word " * 100,)),))

    assert max(map(len, to_text(page, columns))) <= min(columns, 100)


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        (["cat"], "there is no command 'cat'; did you mean chat?"),
        (["config", "sett"], "antiphon config has no subcommand 'sett'; did you mean set?"),
        (["chat", "x"], "antiphon chat has no subcommand 'x'; it has none"),
        (["config", "set", "x"], "has no subcommand 'set x'"),
    ],
)
def test_an_unknown_topic_is_refused(topic, message, capsys):
    assert main(["help", *topic]) == 2
    assert message in capsys.readouterr().err


def test_nothing_in_a_text_is_an_instruction_of_roff():
    section = PageSection("S", (".so /etc/passwd", "a\\fBb", Verbatim((".x", "'y"))))

    lines = to_roff(Page("x", "y", (section,)), "1")

    assert lines[-8:] == [".PP", "\\&.so /etc/passwd", ".PP", "a\\efBb", ".nf", "\\&.x", "\\(aqy", ".fi"]


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_reads_the_pages_without_a_warning(tmp_path, capsys):
    main(["help", "--man", "chat"])
    file = tmp_path / "antiphon-chat.1"
    file.write_text(capsys.readouterr().out)

    process = subprocess.run(
        ["man", "--warnings", "-l", str(file)], capture_output=True, text=True, timeout=60, check=False
    )

    assert process.stderr == ""
    assert "antiphon-chat - chat with a model" in process.stdout


def test_the_pager_of_the_user_shows_the_page(monkeypatch, tmp_path):
    monkeypatch.setenv("PAGER", f"dd status=none of={tmp_path / 'shown'}")

    assert show_lines(["NAME", "x"]) == 0
    assert (tmp_path / "shown").read_text() == "NAME\nx\n"


def test_without_a_pager_the_page_is_printed(monkeypatch, capsys):
    monkeypatch.setenv("PAGER", "/no/such/pager")

    assert show_lines(["NAME", "x"]) == 0
    assert capsys.readouterr().out == "NAME\nx\n"
