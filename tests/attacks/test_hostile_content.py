"""Attacks by content that is decoded and parsed in our process: encodings, nesting, numbers, halves of characters."""

import asyncio
import gzip
import json
import time

import pytest

from antiphon.agents.machine.tool_calls import _arguments
from antiphon.answers import json_values
from antiphon.messages import ToolCall
from antiphon.providers.errors import ProviderError
from antiphon.providers.wire import parse_frame
from antiphon.threads.reply import _parse_input
from antiphon.tools import FetchSettings
from antiphon.tools.errors import ToolCallError
from antiphon.tools.fetch import CHARSETS, PageResponse, _decode_body, page_text, split_url
from antiphon.tools.mcp.config import ConfigError, load_servers
from tests.attacks.attack import Attack
from tests.fixtures.workspace_tools import Workbench

MOST_S = 3.0
DEEP = "[" * 100_000
SLOW_CODECS = (
    "punycode",
    "idna",
    "utf-7",
    "unicode_escape",
    "raw_unicode_escape",
    "rot13",
    "hex",
    "zlib",
    "bz2",
    "mbcs",
)
ATTACKS = (
    *(Attack(f"a page in {name}", f"charset={name}", works_unprotected=name == "punycode") for name in SLOW_CODECS),
    Attack("JSON of 100,000 brackets as arguments", DEEP),
    Attack("JSON of 100,000 brackets in a reply", DEEP),
    Attack("a number of 100,000 digits", "9" * 100_000, works_unprotected=False),
    Attack("NaN as an argument", '{"timeout_ms": NaN}'),
    Attack("a number with a huge exponent", "1e999999999"),
    Attack("NUL in a command", "ls\0", works_unprotected=False),
    Attack("half of a character in a command", "echo \ud800", works_unprotected=False),
    Attack("NUL in a path", "a\0b", works_unprotected=False),
    Attack("half of a character in a path", "\udc80", works_unprotected=False),
    Attack("a host of 60,000 characters", "http://" + "ü" * 60_000, works_unprotected=False),
    Attack("HTML nested 100,000 levels deep", "<div>" * 100_000, works_unprotected=False),
    Attack("HTML whose links multiply", "<a href=x></a>" * 200_000, works_unprotected=False),
    Attack("HTML with an attribute of 3 MB", f"<a href='{'x' * 3_000_000}'>a</a>", works_unprotected=False),
    Attack("HTML of unclosed comments", "<!--" * 200_000, works_unprotected=False),
    Attack("a gzip body of 1 GB in 1 MB", "gzip", works_unprotected=False),
    Attack("TOML of 100,000 brackets as MCP file", f"a = {DEEP}", works_unprotected=False),
)


@pytest.fixture
def bench(tmp_path):
    with Workbench(tmp_path) as bench:
        yield bench


def seconds(function):
    """The time that a function takes."""
    start = time.process_time()
    function()
    return time.process_time() - start


def page(body, kind, parameters=""):
    """The text of a page, within limits."""
    response = PageResponse(200, {"content-type": f"{kind};{parameters}"}, body, is_truncated=False)
    return asyncio.run(page_text("https://example.com/", response, FetchSettings(page_ms=3_000)))


@pytest.mark.parametrize("name", SLOW_CODECS)
def test_a_page_is_decoded_as_utf_8_if_its_encoding_is_not_a_plain_one(name):
    body = b"x" * 500_000 + b"-" + b"99" * 500_000

    assert seconds(lambda: _decode_body(body, f" charset={name}")) < MOST_S
    assert _decode_body("é".encode(), f"charset={name}") == "é"


def test_punycode_takes_quadratic_time():
    def decode(count):
        return seconds(lambda: (b"x" * count + b"-" + b"99" * count).decode("punycode", "replace"))

    assert decode(40_000) > 2.5 * decode(20_000)


@pytest.mark.parametrize("name", sorted(CHARSETS))
def test_every_encoding_of_the_list_is_decoded_in_linear_time(name):
    body = bytes(range(256)) * 4_000

    assert seconds(lambda: _decode_body(body, f"charset={name}")) < MOST_S


@pytest.mark.parametrize(
    "arguments", [DEEP, '{"a": ' * 50_000, '{"a": NaN}', '{"a": -Infinity}', f'{{"a": {"9" * 100_000}}}']
)
def test_arguments_that_are_no_proper_json_are_a_value_error(arguments):
    with pytest.raises(ValueError, match=r"nested|not JSON|digits|Expecting"):
        ToolCall("1", "shell", arguments).input()


def test_deep_json_is_no_json_wherever_a_reply_is_read():
    assert list(json_values(DEEP)) == []
    assert _parse_input(DEEP) == {}
    assert _arguments({"id": "1", "name": "x", "arguments": DEEP, "risk": "read"}) == {}
    with pytest.raises(ProviderError, match="nested too deeply"):
        parse_frame(DEEP)


def test_plain_json_takes_nan_and_fails_on_brackets():
    assert json.loads("NaN") != json.loads("NaN")
    with pytest.raises(RecursionError):
        json.loads(DEEP)


def test_a_huge_exponent_is_only_infinite():
    assert json.loads("1e999999999") == float("inf")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell", {"command": "ls\0; true"}),
        ("shell", {"command": "echo \ud800"}),
        ("read_file", {"path": "a\0b"}),
        ("read_file", {"path": "\udc80"}),
        ("write_file", {"path": "a", "content": "\ud83d"}),
        ("list_files", {"pattern": "*\0"}),
        ("search_files", {"query": "\udfff"}),
    ],
)
def test_nul_and_halves_of_characters_are_errors_that_name_the_argument(bench, tool, arguments):
    refusal = bench.refused(tool, **arguments)

    assert refusal.startswith(f"The arguments of {tool} are not valid: $.")
    assert "NUL" in refusal or "lone surrogate" in refusal
    assert not any("\ud800" <= character <= "\udfff" for character in refusal)


def test_a_file_may_contain_nul(bench):
    assert "Created" in bench("write_file", path="a", content="x\0y")


@pytest.mark.parametrize("host", ["ü" * 60_000, ".".join(["ü" * 60] * 100)])
def test_a_long_host_is_refused_before_it_is_encoded(host):
    def split():
        with pytest.raises(ToolCallError):
            split_url(f"http://{host}/")

    assert seconds(split) < MOST_S


@pytest.mark.parametrize(
    "text",
    ["<div>" * 100_000, "<a href=x></a>" * 200_000, f"<a href='{'x' * 3_000_000}'>a</a>", "<!--" * 200_000],
    ids=["deep", "links", "attribute", "comments"],
)
def test_a_hostile_page_is_converted_in_bounded_time_and_size(text):
    start = time.monotonic()
    try:
        converted = page(text.encode(), "text/html")
    except ToolCallError as error:
        converted = str(error)

    assert len(converted) <= FetchSettings().most_characters + 200
    assert time.monotonic() - start < 12


def test_a_page_packed_twice_is_unpacked_once():
    inner = gzip.compress(b"hidden")

    assert "hidden" not in page(inner, "text/plain")


@pytest.mark.parametrize("text", [f"a = {DEEP}", "a" * 70_000, "\ud800", "[servers]\nx = 9" + "9" * 10_000])
def test_a_hostile_mcp_file_is_an_error_with_its_name(tmp_path, text):
    file = tmp_path / "mcp.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))

    with pytest.raises(ConfigError, match=r"mcp\.toml"):
        load_servers(file)


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty", "."])
def test_an_mcp_file_that_is_no_file_is_an_error(tmp_path, target):
    file = tmp_path / "mcp.toml"
    file.symlink_to(target)

    with pytest.raises(ConfigError, match=r"regular file|cannot be read"):
        load_servers(file)
