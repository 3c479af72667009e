"""The page on the server has every option, route, field, code, limit and event."""

import dataclasses
import re

import pytest

from antiphon.server.configuration import BY_NAME, LIMITS
from antiphon.server.problems import CODES
from antiphon.server.settings import ServerSettings
from antiphon.threads.following import ChangeKind
from tests.docs.server_page import PAGE, rewrite
from tests.fixtures.command import options_of, parser_of, subparsers

TEXT = PAGE.read_text(encoding="utf-8")
FIRST_CELLS = {
    code for row in re.findall(r"^\| (.*?) \|", TEXT, re.MULTILINE) for code in re.findall(r"`([^`]+)`", row)
}


def test_the_tables_are_those_of_the_code() -> None:
    assert rewrite(TEXT) == TEXT, "run: python -m tests.docs.server_page"


def test_every_option_has_its_line() -> None:
    assert options_of(parser_of("serve")) - FIRST_CELLS == set()


def test_every_option_of_tokens_is_named() -> None:
    for name, parser in subparsers(parser_of("tokens")).items():
        assert f"| `{name}" in TEXT
        assert [option for option in options_of(parser) - {"-h", "--help"} if f"`{option}" not in TEXT] == []


def test_the_settings_are_those_of_the_server() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(ServerSettings)}
    own = {"token", "hosts", "is_secure", "folder"}

    assert {name: BY_NAME[name].default for name in LIMITS if name != "token"} == {
        name: default for name, default in fields.items() if name not in own
    }


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_its_line(code: str) -> None:
    assert f"| `{code}` | {CODES[code].status} |" in TEXT


def test_the_limits_are_those_of_the_settings() -> None:
    settings = ServerSettings()

    assert f"{settings.most_body_bytes // 2**20} MiB, {settings.deepest_json} levels deep" in TEXT
    assert f"within {settings.body_s:g} seconds" in TEXT
    assert f"{settings.most_header_bytes // 2**10} KiB, within {settings.header_s:g} seconds" in TEXT
    assert f"{settings.most_requests}, and {settings.most_streams:,} streams" in TEXT
    assert f"{settings.most_user_requests}, and {settings.most_user_streams} streams |" in TEXT
    assert f"| {settings.token_requests_per_minute:,} a minute |" in TEXT
    assert f"| {settings.failed_logins_per_minute} a minute;" in TEXT
    assert f"| threads on one stream | {settings.most_followed} |" in TEXT
    assert f"after {settings.stall_s:g} seconds" in TEXT
    assert f"after {settings.heartbeat_s:g} quiet seconds" in TEXT


@pytest.mark.parametrize("kind", ChangeKind.__args__)  # type: ignore[attr-defined]
def test_every_change_is_named(kind: str) -> None:
    assert f"`{kind}`" in TEXT
