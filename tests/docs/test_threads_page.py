"""The page on threads names all that there is."""

import pytest

from antiphon.chat.service import Chats
from antiphon.threads.service import ThreadService
from antiphon.threads.threads import Threads
from tests.paths import DOCS

PAGE = (DOCS / "threads.md").read_text(encoding="utf-8")


METHODS = {
    name: member
    for service in (ThreadService, Threads, Chats)
    for name, member in vars(service).items()
    if callable(member)
}


@pytest.mark.parametrize("name", [name for name in METHODS if not name.startswith("_")])
def test_every_method_is_named(name: str) -> None:
    assert f"`{name}(" in PAGE


@pytest.mark.parametrize("name", ["Busy", "Refused", "UnknownThread", "WrongKind"])
def test_every_error_is_named(name: str) -> None:
    assert f"`{name}`" in PAGE
