"""The page on threads names all that there is."""

from typing import get_args

import pytest

from antiphon.chat.activity import Kind
from antiphon.chat.service import Threads
from antiphon.threads import errors
from tests.paths import DOCS

PAGE = (DOCS / "threads.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_of_happening_is_named(kind: str) -> None:
    assert f"`{kind}`" in PAGE.partition("## What happens")[2]


@pytest.mark.parametrize("name", [name for name in vars(Threads) if not name.startswith("_")])
def test_every_method_is_named(name: str) -> None:
    assert f"`{name}(" in PAGE


@pytest.mark.parametrize("name", [errors.Busy.__name__, errors.Refused.__name__, errors.UnknownThread.__name__])
def test_every_error_is_named(name: str) -> None:
    assert f"`{name}`" in PAGE
