"""Reading, writing, editing, listing and searching the files of a workspace."""

import asyncio
import json

import pytest

from antiphon.messages import ToolCall
from antiphon.tools.files import FileLimits
from antiphon.tools.finding import FindLimits, matches_glob
from tests.fixtures.workspace_tools import Workbench

SMALL = FileLimits(most_file_bytes=1_000, most_characters=100, most_lines=5, most_written_bytes=1_000)


@pytest.fixture
def bench(tmp_path):
    with Workbench(tmp_path) as bench:
        yield bench


@pytest.fixture
def small(tmp_path):
    finding = FindLimits(most_listed=3, most_matches=3, most_line_characters=20, search_ms=700)
    with Workbench(tmp_path, files=SMALL, finding=finding) as bench:
        yield bench


def test_a_file_is_read_as_it_is(bench, tmp_path):
    (tmp_path / "a").write_bytes("Grüezi\r\n\tx\n".encode())

    assert bench("read_file", path="a") == "Grüezi\r\n\tx\n"


def test_some_lines_are_read_and_the_rest_is_told(bench, tmp_path):
    (tmp_path / "a").write_text("1\n2\n3\n4\n")

    assert bench("read_file", path="a", start_line=2, lines=2) == "2\n3\n[lines 2 to 3 of 4]"
    assert bench("read_file", path="a", start_line=4) == "4\n"
    assert "has 4 lines" in bench.refused("read_file", path="a", start_line=5)


def test_an_empty_file_is_told(bench, tmp_path):
    (tmp_path / "a").write_text("")

    assert bench("read_file", path="a") == "[the file is empty]"


@pytest.mark.parametrize("data", [b"\x89PNG\0\0", b"\xff\xfe\xfa"])
def test_what_is_no_text_is_refused_politely(bench, tmp_path, data):
    (tmp_path / "a").write_bytes(data)

    assert "is not a text file" in bench.refused("read_file", path="a")


def test_long_files_are_cut_and_huge_ones_refused(small, tmp_path):
    (tmp_path / "lines").write_text("x\n" * 20)
    (tmp_path / "wide").write_text("y" * 500)
    (tmp_path / "huge").write_text("z" * 1_001)

    assert small("read_file", path="lines") == "x\n" * 5 + "[lines 1 to 5 of 20]"
    assert small("read_file", path="wide") == "y" * 100 + "\n[truncated after 100 characters, in line 1 of 1]"
    assert "1,001 bytes" in small.refused("read_file", path="huge")


def test_a_file_is_written_and_replaced(bench, tmp_path):
    assert bench("write_file", path="x/a", content="ü") == "Created x/a (2 bytes)."
    assert bench("write_file", path="x/a", content="") == "Replaced x/a (0 bytes)."
    assert (tmp_path / "x" / "a").read_text() == ""


def test_too_much_is_not_written(small, tmp_path):
    assert "the limit is 1,000" in small.refused("write_file", path="a", content="x" * 1_001)
    assert not (tmp_path / "a").exists()


def test_half_a_character_is_not_written(bench):
    assert "surrogate" in bench.refused("write_file", path="a", content="\ud800")


def test_a_piece_that_occurs_once_is_replaced(bench, tmp_path):
    (tmp_path / "a").write_text("one\ntwo\nthree\n")

    assert bench("edit_file", path="a", old="two", new="2") == "Changed a in line 2."
    assert (tmp_path / "a").read_text() == "one\n2\nthree\n"


def test_a_piece_that_occurs_twice_is_replaced_only_if_all_are_meant(bench, tmp_path):
    (tmp_path / "a").write_text("x x")

    assert "occurs 2 times" in bench.refused("edit_file", path="a", old="x", new="y")
    assert (tmp_path / "a").read_text() == "x x"
    assert bench("edit_file", path="a", old="x", new="y", all=True) == "Changed a in 2 places, the first in line 1."


@pytest.mark.parametrize(
    ("text", "old", "expected_text"),
    [
        ("a  b", "a b", "different white space"),
        ("a\r\nb", "a\nb", r"end in \r\n"),
        ("a", "b", "does not occur"),
        ("a", "a", "nothing was changed"),
    ],
)
def test_a_piece_that_is_not_there_is_explained(bench, tmp_path, text, old, expected_text):
    (tmp_path / "a").write_bytes(text.encode())

    assert expected_text in bench.refused("edit_file", path="a", old=old, new="a")
    assert (tmp_path / "a").read_bytes() == text.encode()


def test_edits_at_the_same_time_lose_nothing(bench, tmp_path):
    (tmp_path / "a").write_text(" ".join(f"<{number}>" for number in range(20)))

    async def edit_all():
        calls = [json.dumps({"path": "a", "old": f"<{n}>", "new": f"[{n}]"}) for n in range(20)]
        return await asyncio.gather(*(bench.box.call(ToolCall("1", "edit_file", one)) for one in calls))

    assert not any(result.is_error for result in asyncio.run(edit_all()))
    assert (tmp_path / "a").read_text() == " ".join(f"[{number}]" for number in range(20))


@pytest.mark.parametrize(
    ("arguments", "expected_text"),
    [
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{}", "path is missing"),
        ('{"path": 1}', "path must be of type string"),
        ('{"path": "a", "mode": 1}', "mode is unknown; known: path, start_line, lines"),
        ('{"path": "a", "start_line": 0}', "at least 1"),
        ('{"path": "a", "start_line": true}', "must be of type integer"),
        ('{"path": ""}', "at least 1"),
        ("[" * 100_000, "not a JSON object"),
    ],
)
def test_arguments_that_do_not_fit_are_explained(bench, arguments, expected_text):
    result = asyncio.run(bench.box.call(ToolCall("1", "read_file", arguments)))

    assert result.is_error
    assert expected_text in result.parts[0].text


def test_a_tool_that_nobody_has_is_an_error(bench):
    assert "'fly'" in bench.refused("fly")


def test_files_are_listed_without_hidden_ones_and_version_control(bench, tmp_path):
    for name in ("a.py", "src/b.py", "src/c.txt", ".env", ".git/config", "node_modules/x.js", "src/.x/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    assert bench("list_files") == "a.py\nsrc/b.py\nsrc/c.txt"
    assert bench("list_files", pattern="**/*.py") == "a.py\nsrc/b.py"
    assert bench("list_files", pattern="*.py", path="src") == "src/b.py"
    assert bench("list_files", hidden=True) == ".env\na.py\nsrc/.x/y\nsrc/b.py\nsrc/c.txt"
    assert bench("list_files", pattern="*.rs") == "[no file matches '*.rs']"


def test_a_long_list_is_cut(small, tmp_path):
    for number in range(5):
        (tmp_path / f"f{number}").write_text("")

    assert small("list_files") == "f0\nf1\nf2\n[there are more files; narrow the pattern]"


def test_symlinks_are_neither_listed_nor_searched(bench, tmp_path):
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "passwords").symlink_to("/etc/passwd")

    assert bench("list_files") == "[no file matches '**']"
    assert bench("search_files", query="root") == "[no matches]"


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b/c.py", "**/c.py", True),
        ("c.py", "**/c.py", True),
        ("a/b/c.py", "a/**", True),
        ("a", "a/**", False),
        ("a/b", "*", False),
        ("a/b/c", "a/*/c", True),
        ("a/b/b/c", "a/*/c", False),
        ("a/x/y/c", "a/**/c", True),
        ("a/c", "a/**/**/c", True),
        ("a.py", "[ab].p?", True),
        ("/".join("a" * 60), "/".join(["**", "a"] * 30) + "/b", False),
    ],
)
def test_a_glob_means_what_it_means_everywhere(path, pattern, expected):
    assert matches_glob(path, pattern) is expected


def test_lines_are_found_by_text_and_by_regular_expression(bench, tmp_path):
    (tmp_path / "a.py").write_text("x = f(1)\ny = g(2)\n")
    (tmp_path / "b.txt").write_text("X = F(1)\r\n")
    (tmp_path / "c.bin").write_bytes(b"f(1)\0")

    assert bench("search_files", query="f(1)") == "a.py:1: x = f(1)"
    assert bench("search_files", query="f(1)", ignore_case=True) == "a.py:1: x = f(1)\nb.txt:1: X = F(1)"
    assert bench("search_files", query=r"^\w = [fg]", regex=True) == "a.py:1: x = f(1)\na.py:2: y = g(2)"
    assert bench("search_files", query="(1)", ignore_case=True, pattern="*.txt") == "b.txt:1: X = F(1)"
    assert "not a valid regular expression" in bench.refused("search_files", query="(", regex=True)


def test_many_matches_and_long_lines_are_cut(small, tmp_path):
    (tmp_path / "a").write_text("\n".join(["z" * 40 + "needle" + "z" * 40] * 5))

    found = small("search_files", query="needle").split("\n")

    assert len(found) == 4
    assert found[0] == "a:1: …" + "z" * 5 + "needle" + "z" * 9 + "…"
    assert "there are more matches" in found[-1]


def test_a_regular_expression_that_never_ends_is_stopped(small, tmp_path):
    (tmp_path / "a").write_text("a" * 60 + "b")

    assert "took longer than 0.7 s" in small.refused("search_files", query="(a+)+$", regex=True)
