"""The pages on the sandbox name every readable place, every tool chain, every layer and every option."""

import re

import pytest

from antiphon.cli.doctor import ADVICE
from antiphon.tools.sandbox.policy import SYSTEM, TOOL_CHAINS
from antiphon.tools.sandbox.probes import ATTEMPTS
from tests.fixtures.command import options_of, parser_of
from tests.paths import DOCS, ROOT

SECURITY = (DOCS / "security.md").read_text(encoding="utf-8")
OPERATIONS = (DOCS / "operations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TOOL_CHAINS)
def test_every_tool_chain_is_named(name):
    assert f"`{name}`" in SECURITY


@pytest.mark.parametrize("path", [path for path in SYSTEM if not path.startswith(("/lib", "/var", "/run"))])
def test_every_readable_folder_of_the_system_is_named(path):
    assert f"`{path}`" in SECURITY


def test_every_option_of_doctor_has_its_line():
    section = re.search(r"^## Doctor$.*?^## ", OPERATIONS, re.MULTILINE | re.DOTALL)

    assert section
    assert [
        option for option in options_of(parser_of("doctor")) - {"-h", "--help"} if f"`{option}" not in section[0]
    ] == []
    assert f"all {len(ATTEMPTS)} attempts were refused" in section[0]


def test_the_page_to_which_doctor_refers_exists():
    assert "SECURITY.md" in ADVICE
    assert (ROOT / "SECURITY.md").is_file()
